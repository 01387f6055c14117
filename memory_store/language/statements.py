"""English statements: those that a user makes in the first person, and those about somebody else.

"By the way, I adopted a cat last week. Can you suggest a name?" holds one fact that should be found
on its own; in the round's raw key it would drown in the request around it.

"My favourite colour is green" gives the slot "favourite colour" the value "green". The frames are
few and narrow on purpose: a statement that rules do not surely understand replaces nothing.

Statements about other people make no facts. They are read as those people would put them: "Clara
moved to Lisbon" is "I moved to Lisbon", said of Clara.

Frames and turns of phrase are in the words of English (`[statements]`). So are ways of typing:
openings, names without capitals, statements without a subject.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from memory_store.language.kinds import TELLING, kinds_of, likeliest
from memory_store.language.languages import spelled, word_list, word_table, wording
from memory_store.language.reading import Sentence
from memory_store.language.sentences import read_sentences
from memory_store.language.words import stem

_SHORTEST, LONGEST_STATEMENT = 15, 400
MOST_STATEMENTS = 32
"""The most statements of one message: a pasted document must not make hundreds of keys."""
# A sentence is a question if its certainty of only asking is above this.
_SURELY = 0.4
# One of these completes a statement whose subject is left out.
_LEFT_OUT = ("i", "i am", "i was", "my")
# People who leave out the subject write briefly.
_LONGEST_WITHOUT = 160
# A capital letter that does not merely open a sentence, and an "i" in lower case.
_CAPITAL = re.compile(r"(?<![.!?]\s)(?<!\A)(?!I\b)\b[A-Z]")
_SMALL_I = re.compile(r"\bi(?:m|['’]m|['’]ve)?\b")
# Patterns of names in text that is written without capitals.
_SMALL = {"proper": "small", "titled": "titled_small"}
_OWN_VERBS = {"has": "have", "is": "am", "does": "do", "doesn't": "don't", "doesn’t": "don’t"}


@dataclass(frozen=True, slots=True)
class Stated:
    """The value a statement gives to a slot: "My favourite colour is green" gives the slot
    "favourite colour" the value "green".

    `replaces` says whether it may replace an earlier value: always if only one value can hold, else
    if the statement says that something changed ("now", "no longer"). `holds` is False for a
    statement that only ends an earlier one.
    """

    slot: str
    value: str
    replaces: bool
    holds: bool = True
    changed: bool = False
    """Whether it says that something changed."""


def replaces(newer: Stated, older: Stated) -> bool:
    """Whether a statement replaces an earlier one of the same slot."""
    return newer.replaces and (newer.value == older.value) is not newer.holds


def statements(user_text: str) -> list[str]:
    """The first statements of a text, each once, each followed by the statements it is made of."""
    found = dict[str, None]()
    for sentence in map(_stated_part, read_sentences(user_text)):
        if sentence not in found and _is_fact(sentence):
            more = found | dict.fromkeys((sentence, *stated_apart(sentence)))
            if len(more) > MOST_STATEMENTS:
                break
            found = more
    return list(found)


def stated_apart(sentence: str) -> list[str]:
    """The single statements in "My name is Sofia and I live in Lyon.", as one may be replaced while
    the other still holds; none if all of them are about one slot."""
    parts = wording("statements.and_i").split(sentence)
    if len(parts) == 1:
        return []
    known = [(part, one.slot) for part in parts if (one := stated(part))]
    return [part for part, _ in known] if len({slot for _, slot in known}) > 1 else []


def slot_of(statement: str) -> str | None:
    """The slot that a statement fills; None if rules cannot tell, or if it fills several."""
    known = None if stated_apart(statement) else stated(statement)
    return known.slot if known else None


def _stated_part(sentence: str) -> str:
    """The sentence without a question at its end, if a statement comes before that."""
    is_asked = sentence.endswith(("?", "？"))
    asks = wording("statements.then_asks").search(sentence) if is_asked else None
    if asks is None:
        return sentence
    before = sentence[: asks.start()]
    states = wording("statements.states").match(before)
    return before if states and not wording("statements.announces").search(before) else sentence


def _is_fact(sentence: str) -> bool:
    if not _SHORTEST <= len(sentence) <= LONGEST_STATEMENT or is_question(sentence):
        return False
    if wording("statements.first_person").search(sentence):
        return True
    # "Adopted a dog" and "rent is now 950", not "Avoid anything vegan".
    own = wording("statements.did").match(sentence) or stated(sentence)
    return own is not None and lacks_subject(sentence)


def is_question(sentence: str) -> bool:
    """Whether a sentence asks and states nothing: by its mark, or without a mark by its beginning.
    If it says nothing about the speaker, the model of kinds decides."""
    if sentence.endswith(("?", "？")):
        return True
    if sentence.endswith((".", "!")):
        return False
    if wording("questions.begins").match(sentence):
        return wording("questions.tells").search(sentence) is None
    is_of_oneself = wording("questions.of_oneself").search(sentence) is not None
    return not is_of_oneself and Sentence.read(sentence).only_asks > _SURELY


class _Frame(NamedTuple):
    """The name of a slot, as words or groups of the pattern, and two patterns: for text that writes
    names with capitals, and for text that does not."""

    slot: list[str]
    capitalised: re.Pattern[str]
    uncapitalised: re.Pattern[str]


@cache
def _frames(table: str) -> list[_Frame]:
    def compiled(pattern: str, **instead: str) -> re.Pattern[str]:
        return re.compile(spelled(f"{{opening}}{pattern}", "statements", instead=instead), re.I)

    return [
        _Frame(slot.split(), compiled(pattern), compiled(pattern, **_SMALL))
        for slot, patterns in word_table("english", "statements")[table].items()
        for pattern in patterns
    ]


def writes_capitals(text: str) -> bool:
    """Whether capitals show the names of a text; not if it has no capitals or writes "i"."""
    return _SMALL_I.search(text) is None and _CAPITAL.search(text) is not None


def lacks_subject(sentence: str) -> bool:
    """Whether a sentence tells something of its writer, but has no subject: "moved to Ghent"."""
    return (
        len(sentence) <= _LONGEST_WITHOUT
        and not sentence.endswith("?")
        and wording("statements.no_subject").match(sentence) is not None
        and likeliest(kinds_of(sentence)) in TELLING
    )


def stated(statement: str) -> Stated | None:
    """The slot and the value of a first-person statement; None if no frame surely fits.

    The value may be in a later clause: "The landlord called, my rent is now $1,100".
    """
    text = " ".join(statement.split())
    if wording("statements.speaks").match(text) or not lacks_subject(text):
        return _by_frames(text)
    opening = wording("statements.opening").match(text)
    cut = opening.end() if opening else 0
    completed = (f"{text[:cut]}{subject} {text[cut:]}" for subject in _LEFT_OUT)
    return next((known for known in map(_by_frames, completed) if known), None)


def _by_frames(text: str) -> Stated | None:
    capitals = writes_capitals(text)
    clauses = wording("statements.clause").finditer(text)
    starts = [0, *(boundary.end() for boundary in clauses)]
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        if not wording("statements.speaks").match(text, start):
            continue
        for table, holds in (("frames", True), ("ended", False)):
            for slot, capitalised, uncapitalised in _frames(table):
                if match := (capitalised if capitals else uncapitalised).match(text, start):
                    said = text[: max(end, match.end())]
                    return _checked(slot, match, said, holds)
    return None


def _checked(slot: list[str], match: re.Match[str], text: str, holds: bool) -> Stated | None:
    groups = match.groupdict("")
    name = " ".join(groups.get(word, word) for word in slot)
    counted = name.partition(" ")[0] in word_list("english", "statements.counted")
    if wording("statements.unreal").search(text):
        return None
    if counted and (
        wording("statements.no_thing").search(name)
        or wording("statements.rate").match(text, match.end())
    ):
        return None
    changed = wording("statements.changed").search(text) is not None
    replaces = changed or not holds or wording("statements.single").search(name) is not None
    return Stated(_normal_slot(name), _normal(groups["value"]), replaces, holds, changed)


def _normal_slot(slot: str) -> str:
    """The name of a slot, the same for its plurals and spellings."""
    return " ".join(map(stem, re.sub(r"\b(fav|col)o(?=r)", r"\1ou", slot.lower()).split()))


def _normal(value: str) -> str:
    lowered = value.lower().strip(" '\"’.")
    lowered = re.sub(r"^(?:the|an?|my)\s+", "", lowered)
    numbers = word_list("english", "numbers")
    return str(numbers.index(lowered) + 1) if lowered in numbers else lowered


def replacements(said: Sequence[str]) -> dict[int, int]:
    """Which of these statements, in the order they were said, are about other people and no longer
    hold: their indexes, each with the index of the one that replaced it."""
    replaced: dict[int, int] = {}
    standing: defaultdict[tuple[str, str], list[tuple[int, Stated]]] = defaultdict(list)
    for place, text in enumerate(said):
        found = stated_of_another(text)
        if found is None:
            continue
        who, newer = found
        slot = standing[who, newer.slot]
        gone = [one for one in slot if replaces(newer, one[1])]
        replaced |= {older: place for older, _ in gone}
        kept = [one for one in slot if one not in gone]
        standing[who, newer.slot] = [*kept, (place, newer)] if newer.holds else kept
    return replaced


def stated_of_another(statement: str) -> tuple[str, Stated] | None:
    """The person that a sentence is about, and what it states of them; None if no frame surely
    fits."""
    text = " ".join(statement.split())
    if text.endswith("?"):
        return None
    if match := wording("statements.has").match(text):
        own = stated(f"{match['opening']}my {match['rest']}")
    elif match := wording("statements.does").match(text):
        subject = "I" if writes_capitals(text) else "i"
        does = wording("statements.verb_of_another").sub(_in_first_person, match["rest"])
        own = stated(f"{match['opening']}{subject} {does}")
    else:
        return None
    return ((match["name"] or match["who"]).lower(), own) if own else None


def _in_first_person(match: re.Match[str]) -> str:
    verb = match["verb"]
    return match["before"] + _OWN_VERBS.get(verb.lower(), verb[:-1])
