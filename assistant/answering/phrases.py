"""The fixed phrases of answers without a model, and what became of a stored message.

The outcome of a message is stored with it. Rounds that earlier versions stored have none: for them
alone, and in this module alone, the beginning of the answer tells the outcome.
"""

from collections.abc import Mapping, Sequence

from assistant.answering.reader import Outcome
from memory_store import Round

NO_MEMORY = (
    "I have no language model to answer with (set chat_model), and memory is off for this message."
)
NOTED = "Noted."
ADMITTED = "I don't know:"
UNKNOWN = f"{ADMITTED} I found nothing about that in what we talked about."
NOTHING_THEN = f"{ADMITTED} I found nothing of that time in what we talked about."
OPENING = "From what we talked about:"
ONLY_ASKED = "You only asked about that:"
CLOSEST = "The closest that I find:"
UNSURE = "I am not sure. Closest:"
OVERVIEW = "What you told me, oldest first:"
PARTLY = "Some of what you told me, oldest first:"
KEPT = "Kept: "
PUT_RIGHT = "Put right: "
UNTIL_WHEN = "Until when does that hold: “{said}”?"
STILL_HOLDS = "You said on {day}: “{said}”. Does that still hold? If not, tell me what holds now."
HOW_TO_BEGIN = "Tell me what I should remember, or ask about what you told me."
HELLO = f"Hello! {HOW_TO_BEGIN}"
GOODBYE = "Goodbye! What you told me is kept."
WELCOME = "You're welcome."
NO_SMALL_TALK = (
    "I have no language model to chat with (set chat_model), but I remember what you tell me and "
    "answer questions about it."
)
NEEDS_MODEL = (
    "That needs a language model, and none is set up (set chat_model). I remember what you tell me "
    "and answer questions about it."
)
ABOUT = (
    "I am Aide-mémoire: I remember what you tell me and answer questions about it with dated "
    "quotes; no language model is set up (set chat_model). What you told me is kept {place}, until "
    "you delete it: say “forget that”, or “delete what I said about” something."
)
_BEGINNINGS = (
    ("Noted.", Outcome.KEPT),
    (HELLO, Outcome.POLITE),
    (WELCOME, Outcome.POLITE),
    (NO_SMALL_TALK, Outcome.POLITE),
    (ABOUT.partition(";")[0], Outcome.POLITE),
    (ADMITTED, Outcome.UNKNOWN),
)
_HOLDS = (OPENING, CLOSEST, OVERVIEW, PARTLY)


def outcome_of(round: Round) -> Outcome | None:
    """The outcome of a stored message; None if it is not known. In rounds of earlier versions the
    beginning of the answer tells it."""
    if round.outcome:
        return Outcome(round.outcome)
    for beginning, outcome in _BEGINNINGS:
        if round.assistant_text.startswith(beginning):
            return outcome
    return Outcome.QUOTED if any(one in round.assistant_text for one in _HOLDS) else None


_LEFT_OUT = {
    "replaced": "replaced since",
    "in_conflict": "in conflict",
    "at_odds": "at odds",
    "expired": "expired",
    "others": "not surely in your own words",
    "answers": "in answers",
}


def left_out(counts: Mapping[str, int]) -> str:
    """A line that says how much strict recall left out, by reason; empty if it left out nothing."""
    told = [f"{counts[why]} {words}" for why, words in _LEFT_OUT.items() if counts.get(why)]
    return f"(Left out: {', '.join(told)}.)" if told else ""


def never_came_up(names: Sequence[str]) -> str:
    """The answer that nobody mentioned these names."""
    return f"{ADMITTED} {' and '.join(names)} never came up in what we talked about."


def only_from_others(name: str) -> str:
    """The answer that only others said something of that, not this person."""
    return f"{ADMITTED} I find nothing of that from {name}, only from others."
