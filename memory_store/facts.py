"""Facts without a model: the first-person statements in what the user said.

"By the way, I adopted a cat last week. Can you suggest a name?" holds one fact worth finding on its
own; the round's raw key would drown it in the request around it.
"""

import re
from dataclasses import replace

from memory_store.lengths import LONGEST_READ
from memory_store.time import event_dates_of
from memory_store.types import Fact, Round, Speaker
from memory_store.updates import AMONG_PEOPLE, RULE, Authorship, authorship, stated

# What stands before a name or an example; its full stop ends nothing.
_ABBREVIATIONS = (
    *("Dr", "Mr", "Mrs", "Ms", "Prof", "Rev", "Hon", "Lt", "Capt", "Sgt", "Gen", "Sen"),
    *("St", "Mt", "Ft", "vs", "e.g", "i.e", "approx"),
)
_NO_ABBREVIATION = "".join(rf"(?<!\b{re.escape(word)}\.)" for word in _ABBREVIATIONS)
# A long line that goes on in lower case was wrapped, as e-mails are. Short ones are lists, or the
# statements of somebody who writes no capitals, not even "I".
_WRAPPED = r"(?<=[^\n]{39}[\w,]\n)(?!i\b)[a-z]"
# A sentence ends with closing punctuation followed by space, or at the end of a line. Written to
# begin with the characters it can begin with, which are looked for fast.
_SENTENCE_END = re.compile(rf"[.!?\n](?:(?<=\n)(?!{_WRAPPED})\n*|{_NO_ABBREVIATION}[\"')\]]*\s+)")
_FIRST_PERSON = re.compile(r"\b(?:i|i['’](?:m|ve|d|ll)|my|me|mine|myself|we|us|our|ours)\b", re.I)
# Many type a question without its mark.
_ASKS = re.compile(
    r"(?:what|who|whom|whose|where|when|why|how)(?:['’]?s|\s+(?:is|are|am|was|were|do|does|did|have"
    r"|has|had|can|could|should|would|will|many|much|long|often|old))\b",
    re.I,
)
# "What's new: I moved to Ghent".
_TELLS = re.compile(r"[,:]\s+(?:i|my|we|our)\b", re.I)
_AND_I = re.compile(r",?(?<!\s)\s+and\s+(?=(?:i|we|my|our)\b)", re.I)
_SHORTEST, _LONGEST = 15, 400
# A pasted document must not turn one round into hundreds of keys.
_MOST_FACTS = 32


def sentences(text: str) -> list[str]:
    """Split text into trimmed, non-empty sentences."""
    ends = list(_SENTENCE_END.finditer(text))
    starts = [0, *(end.end() for end in ends)]
    stops = [*(end.start() + 1 for end in ends), len(text)]
    parts = (text[start:stop].strip() for start, stop in zip(starts, stops, strict=True))
    return [part for part in parts if part]


def read_sentences(text: str) -> list[str]:
    """The sentences of as much of a text as is read, without one that goes on beyond that."""
    parts = sentences(text[:LONGEST_READ])
    return parts if len(text) <= LONGEST_READ else parts[:-1]


def rule_facts(round: Round) -> tuple[Fact, ...]:
    """The first-person statements in what the user said, each once, in order. Those of quoted
    passages are facts, too, and say so. Questions state nothing."""
    texts = _stated_in(round.user_text)
    words = words_of(round) if texts else None
    return tuple(
        said_by(
            Fact(
                text, event_dates=event_dates_of(text, round.session_date), slot=own_slot_of(text)
            ),
            words,
        )
        for text in texts
        if words
    )


def words_of(round: Round) -> Authorship:
    """Whose words the user's side of a round is."""
    return authorship(round.user_text, AMONG_PEOPLE if round.user_name else RULE)


def said_by(fact: Fact, words: Authorship) -> Fact:
    """A fact in words of the user's side, with who said it as far as the message tells."""
    is_own = fact.text in words.own
    return replace(
        fact,
        speaker=Speaker.USER if is_own else Speaker.QUOTED,
        in_doubt=not (is_own and words.is_sure),
    )


def _stated_in(user_text: str) -> dict[str, None]:
    """The first statements, each once and together with those it is made of."""
    found: dict[str, None] = {}
    for sentence in read_sentences(user_text):
        if sentence not in found and _is_fact(sentence):
            more = found | dict.fromkeys((sentence, *stated_apart(sentence)))
            if len(more) > _MOST_FACTS:
                break
            found = more
    return found


def stated_apart(sentence: str) -> list[str]:
    """The statements in "My name is Sofia and I live in Lyon.", of which one may be replaced while
    the other goes on to hold; none where all is about one thing."""
    parts = _AND_I.split(sentence)
    if len(parts) == 1:
        return []
    known = [(part, one.slot) for part in parts if (one := stated(part))]
    return [part for part, _ in known] if len({slot for _, slot in known}) > 1 else []


def slot_of(statement: str, user_text: str) -> str | None:
    """What a statement gives a value for, if the user's side has it word for word."""
    return own_slot_of(statement) if statement in user_text else None


def own_slot_of(statement: str) -> str | None:
    """What a statement gives a value for; None where rules cannot tell, or where it gives several
    values."""
    known = None if stated_apart(statement) else stated(statement)
    return known.slot if known else None


def is_question(sentence: str) -> bool:
    """Whether a sentence asks and states nothing: by its mark, or without any by how it begins."""
    if sentence.endswith("?"):
        return True
    asks = _ASKS.match(sentence) is not None and _TELLS.search(sentence) is None
    return asks and not sentence.endswith((".", "!"))


def _is_fact(sentence: str) -> bool:
    return (
        _SHORTEST <= len(sentence) <= _LONGEST
        and not is_question(sentence)
        and _FIRST_PERSON.search(sentence) is not None
    )
