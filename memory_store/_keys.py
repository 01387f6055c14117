"""Many keys, one value: the texts under which a round can be found by meaning, and its point."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self

from memory_store._facts import goes_on_to_ask
from memory_store._identity import to_identity
from memory_store._owners import is_beside
from memory_store._points import to_point
from memory_store._types import Record
from memory_store.embedding.embedder import Embedder
from memory_store.embedding.encoder import TextKind
from memory_store.engines._engine import Payload, Point
from memory_store.language import ENGLISH, Language
from memory_store.scheduler import aside

TextsOf = Callable[[Record, "KeyDesign"], Iterable[str]]
"""A function that makes the texts of one kind of key for a record; it may make none."""
# In characters, about as much of a text as the default encoder reads (256 word pieces). The rest
# of a text gets keys of its own.
_WINDOW = 1000
_MOST_WINDOWS = 8
# Up to this many facts have a key each, more than any message states; further ones share keys.
_MOST_FACT_KEYS = 256


def windows(text: str) -> list[str]:
    """Cut a text into pieces that an encoder reads whole, at white space where possible. Of a very
    long text only the first pieces are returned."""
    pieces: list[str] = []
    while text and len(pieces) < _MOST_WINDOWS:
        cut = len(text)
        if cut > _WINDOW:
            space = text.rfind(" ", _WINDOW // 2, _WINDOW)
            cut = space if space > 0 else _WINDOW
        pieces.append(text[:cut])
        text = text[cut:].lstrip()
    return pieces


def _said(record: Record, design: "KeyDesign") -> Iterable[str]:
    """The user's text, or the assistant's if the user's is empty, in pieces."""
    return windows(record.round.user_text or record.round.assistant_text)


def _facts(record: Record, design: "KeyDesign") -> Iterable[str]:
    # The beginning of a question is near the whole question: a key of its own gains nothing.
    asked = record.round.user_text if KeyKind.RAW in design.kinds else ""
    stated = [
        fact.text for fact in record.facts if not (asked and goes_on_to_ask(fact.text, asked))
    ]
    return _few_texts(stated)


def _few_texts(texts: Sequence[str]) -> Iterable[str]:
    """The first facts one by one, then the others joined, as many as an encoder reads at once."""
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


class KeyKind(StrEnum):
    """What keys are made from. A kind is declared only here: its name in settings and identities,
    the function that makes its texts, and whether a language model must read the round first."""

    texts: TextsOf
    is_extracted: bool

    def __new__(cls, name: str, texts: TextsOf, is_extracted: bool = False) -> Self:
        kind = str.__new__(cls, name)
        kind._value_, kind.texts, kind.is_extracted = name, texts, is_extracted
        return kind

    RAW = "raw", _said
    FACT = "fact", _facts
    KEYPHRASES = "keyphrases", lambda record, _: filter(None, ["; ".join(record.keyphrases)]), True
    SUMMARY = "summary", lambda record, _: filter(None, [record.summary]), True


@dataclass(frozen=True, slots=True)
class RoundKey:
    """One text to embed for a round."""

    kind: KeyKind
    text: str


# The kinds of a memory whose identity names none: it may be older than the choice of kinds.
_USUAL = (KeyKind.RAW, KeyKind.FACT, KeyKind.KEYPHRASES, KeyKind.SUMMARY)


@dataclass(frozen=True, slots=True)
class KeyDesign:
    """What the keys of a memory are made of: control point 2 of LongMemEval, section 4.

    A memory has one design. Another design needs another index, which `reindex` makes.
    """

    kinds: tuple[KeyKind, ...] = _USUAL
    merged: bool = False
    """One key of all texts of a round (the paper's key expansion) in place of one for each."""
    language: Language = ENGLISH
    """The language whose rules find the facts of a round and read questions."""

    def __str__(self) -> str:
        """The design's name in the identity of a memory: `raw+fact`, `raw+fact merged`, or
        `raw+fact plain`."""
        names = "+".join(kind for kind in KeyKind if kind in self.kinds)
        words = [names, *["merged"] * self.merged]
        return " ".join(words if self.language == ENGLISH else [*words, self.language.name])


def keys_of(record: Record, design: KeyDesign | None = None) -> list[RoundKey]:
    """The keys of a record that the design takes, kind by kind, each text once.

    A round for which the design gives no key keeps its raw key, so that every round can be found.
    """
    design = design or KeyDesign()
    chosen = _keys(record, design, design.kinds) or _keys(record, design, (KeyKind.RAW,))
    return _merged(chosen) if design.merged else chosen


def _keys(record: Record, design: KeyDesign, kinds: Sequence[KeyKind]) -> list[RoundKey]:
    first: dict[str, KeyKind] = {}
    for kind in (kind for kind in KeyKind if kind in kinds):
        for text in kind.texts(record, design):
            first.setdefault(text, kind)
    return [RoundKey(kind, text) for text, kind in first.items()]


def _merged(keys: list[RoundKey]) -> list[RoundKey]:
    """One key with all texts, the raw text last: an encoder reads only the start of a long text."""
    ordered = sorted(keys, key=lambda key: key.kind is KeyKind.RAW)
    return [RoundKey(keys[0].kind, "\n".join(key.text for key in ordered))] if keys else []


@dataclass(frozen=True, slots=True)
class Indexer:
    """An embedder and the design of the keys it is given: both determine the index of a memory."""

    embedder: Embedder
    design: KeyDesign = field(default_factory=KeyDesign)
    fallbacks: Counter[str] = field(default_factory=Counter)
    """How many rounds written since the start have no key of the design, and so are found by their
    raw key."""

    @property
    def identity(self) -> Payload:
        """The identity that is stored once, to refuse an index made otherwise."""
        identity = to_identity(self.embedder.identity)
        # Memories older than the choice of keys have every kind, and their identity names none.
        usual = self.design == KeyDesign()
        return identity if usual else {**identity, "keys": str(self.design)}

    def keys(self, record: Record) -> list[RoundKey]:
        """The texts under which the record is found by meaning."""
        return keys_of(record, self.design)

    def _written(self, record: Record) -> list[RoundKey]:
        keys = self.keys(record)
        found = any(key.kind in self.design.kinds for key in keys)
        if not found and not is_beside(record.round.user_id):
            self.fallbacks["key"] += 1
        return keys

    async def points(self, records: Sequence[Record]) -> list[Point]:
        """The points of the records, in order, their keys encoded. Raises `EmbeddingFailed`."""
        keys = [
            [key.text for key in await aside(_size(record), self._written, record)]
            if self.embedder.may_read(record.round.reach)
            else []  # found by its words alone
            for record in records
        ]
        texts = [text for of_record in keys for text in of_record]
        rows = await self.embedder.embed(texts, TextKind.DOCUMENT)
        points, start = [], 0
        for record, of_record in zip(records, keys, strict=True):
            own = rows[start : start + len(of_record)]
            points.append(await aside(_size(record), to_point, record, own))
            start += len(of_record)
        return points


def _size(record: Record) -> int:
    """The number of characters in a round and its facts."""
    return record.round.size + sum(len(fact.text) for fact in record.facts)
