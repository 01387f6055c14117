"""Many keys, one value: the texts under which a round can be found by meaning."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from memory_store.facts import goes_on_to_ask
from memory_store.language import ENGLISH, Language
from memory_store.types import Record


class KeyKind(StrEnum):
    """What a key was made from."""

    RAW = "raw"
    FACT = "fact"
    KEYPHRASES = "keyphrases"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True)
class Key:
    """One text to embed for a round."""

    kind: KeyKind
    text: str


@dataclass(frozen=True, slots=True)
class KeyDesign:
    """What the keys of a memory are made of: control point 2 of LongMemEval, section 4.

    It belongs to a memory: another design is another index, which `reindex` makes.
    """

    kinds: tuple[KeyKind, ...] = tuple(KeyKind)
    merged: bool = False
    """One key of all texts of a round (the paper's key expansion) in place of one for each."""
    language: Language = ENGLISH
    """By whose rules the facts of a round are found, and questions are read."""

    def __str__(self) -> str:
        """The design's name in the identity of a memory: `raw+fact`, `raw+fact merged`, or
        `raw+fact plain`."""
        names = "+".join(kind for kind in KeyKind if kind in self.kinds)
        words = [names, *["merged"] * self.merged]
        return " ".join(words if self.language == ENGLISH else [*words, self.language.name])


# About what the default encoder reads of a text (256 word pieces); the rest gets keys of its own.
_WINDOW = 1000
_MOST_WINDOWS = 8
# So many facts have a key each, which no message alone comes near; of more, several share one.
_MOST_FACT_KEYS = 256


def keys_of(record: Record, design: KeyDesign | None = None) -> list[Key]:
    """The raw key (several for a text beyond the encoder's window), one key for each fact, and
    the key phrases and the summary where the record has them; of these, what the design takes.

    The user's side makes the keys; a round without one is found by what the assistant said. A
    round that has nothing the design takes keeps its raw key: every round can be found.
    """
    has_raw = design is None or KeyKind.RAW in design.kinds
    every = _every_key(record, has_raw)
    if design is None:
        return list(_distinct(every))
    chosen = [key for key in every if key.kind in design.kinds]
    chosen = list(_distinct(chosen or [key for key in every if key.kind is KeyKind.RAW]))
    return _merged(chosen) if design.merged else chosen


def _merged(keys: list[Key]) -> list[Key]:
    """One text of all, facts first: an encoder reads only the beginning of a long one."""
    ordered = sorted(keys, key=lambda key: key.kind is KeyKind.RAW)
    return [Key(keys[0].kind, "\n".join(key.text for key in ordered))] if keys else []


def _every_key(record: Record, has_raw: bool) -> list[Key]:
    round = record.round
    # What a question begins with is near the whole of it: a key of its own gains nothing.
    stated = [
        fact.text
        for fact in record.facts
        if not (has_raw and goes_on_to_ask(fact.text, round.user_text))
    ]
    raw = [Key(KeyKind.RAW, text) for text in windows(round.user_text or round.assistant_text)]
    facts = [Key(KeyKind.FACT, text) for text in _of_facts(stated)]
    more = [
        Key(KeyKind.KEYPHRASES, "; ".join(record.keyphrases)),
        Key(KeyKind.SUMMARY, record.summary),
    ]
    return [*raw, *facts, *(key for key in more if key.text)]


def _of_facts(texts: list[str]) -> Iterable[str]:
    """The first facts one by one, the others as many together as are read."""
    yield from texts[:_MOST_FACT_KEYS]
    together: list[str] = []
    size = 0
    for text in texts[_MOST_FACT_KEYS:]:
        if together and size + len(text) > _WINDOW:
            yield "\n".join(together)
            together, size = [], 0
        together.append(text)
        size += len(text) + 1
    if together:
        yield "\n".join(together)


def windows(text: str) -> list[str]:
    """Pieces of a text that an encoder reads whole, cut at white space where there is some; of a
    very long text only the first."""
    pieces: list[str] = []
    while text and len(pieces) < _MOST_WINDOWS:
        cut = len(text)
        if cut > _WINDOW:
            space = text.rfind(" ", _WINDOW // 2, _WINDOW)
            cut = space if space > 0 else _WINDOW
        pieces.append(text[:cut])
        text = text[cut:].lstrip()
    return pieces


def _distinct(keys: Iterable[Key]) -> Iterable[Key]:
    seen: set[str] = set()
    for key in keys:
        if key.text not in seen:
            seen.add(key.text)
            yield key
