"""What a design is: choices at the control points, and what it does in a way of its own.

To add one, write a class below `Design` in a module of its own and name it in the setting `design`
(`module:Class`). Most override one method: what the values are, what finds them, or how their
nearness counts.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import ClassVar, Protocol

from assistant.designs.control_points import Choices, KeySource, Retrieval, ValueKind
from assistant.designs.summaries import Summariser
from assistant.designs.value import (
    Value,
    by_session,
    of_facts,
    of_round,
    of_session,
    of_summary,
    spoken,
)
from assistant.models.gateway import Gateway
from memory_store import (
    Fact,
    Record,
    Speaker,
    TimeRange,
    windows,
)
from memory_store.embedding import Embedder
from memory_store.language import Language, Rarity, key_phrases
from memory_store.scheduler import aside

_MOST_PHRASES = 8
# Characters of texts that are taken apart while rules read one.
_READ_FAST = 16


@dataclass(frozen=True, slots=True)
class Tools:
    """What designs are built with. `guide` is a language model that chooses, where there is one.

    `fallbacks` counts values that lack what the design asks for, by what they lack.
    """

    embedder: Embedder
    language: Language
    summariser: Summariser
    guide: Gateway | None = None
    fallbacks: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class ViewQuestion:
    """What a view is asked: the question, its day, the days it asks about, how much is wanted."""

    text: str
    on: date | None
    range: TimeRange | None
    limit: int


@dataclass(frozen=True, slots=True)
class Ranked:
    """A value that was found; higher is nearer. `signals` are the parts of its similarity,
    `nearest` its rounds where the view knows which of them are nearer than others."""

    value: Value
    similarity: float
    signals: dict[str, float]
    nearest: Sequence[Record] = ()


@dataclass(frozen=True, slots=True)
class Ranking:
    """Values, best first; whether the time asked about had none, so that it cut nothing off; and
    what was done step by step, for designs that go a way."""

    values: Sequence[Ranked]
    fell_back: bool = False
    steps: tuple[str, ...] = ()


class View(Protocol):
    """The index of one user's rounds."""

    async def search(self, asked: ViewQuestion) -> Ranking:
        """The values for a question, best first."""


class Design:
    """A memory design: its name, where it was published, and its choices."""

    name: ClassVar[str] = ""
    paper: ClassVar[str] = ""
    choices: ClassVar[Choices] = Choices()
    retrievals: ClassVar[tuple[Retrieval, ...]] = (
        Retrieval.DENSE,
        Retrieval.WORDS,
        Retrieval.BOTH,
    )
    """Those that can be chosen for it."""

    def __init__(self, tools: Tools, chosen: Choices) -> None:
        self.tools = tools
        self.chosen = chosen

    async def view(self, records: Sequence[Record]) -> View:
        """The index of a user's rounds, oldest first."""
        from assistant.designs.flat import FlatView

        rarity = await rarity_of(records)
        return await FlatView.of(self, await self.values(records, rarity), rarity, self.weigh)

    async def values(self, records: Sequence[Record], rarity: Rarity) -> list[Value]:
        """What is ranked and read."""
        match self.chosen.value:
            case ValueKind.ROUND:
                return [of_round(record) for record in records]
            case ValueKind.SESSION:
                return [of_session(session) for session in by_session(records)]
            case ValueKind.SUMMARY:
                return [
                    of_summary(await self.tools.summariser.of_rounds(session, rarity), session)
                    for session in by_session(records)
                ]
            case ValueKind.FACT:
                stated = ((record, self.kept_facts(record)) for record in records)
                return [of_facts(record, facts) for record, facts in stated if facts]

    def kept_facts(self, record: Record) -> list[Fact]:
        """Those facts of a round that are values of their own."""
        return [fact for fact in record.facts if fact.speaker is Speaker.USER]

    async def keys(self, value: Value, rarity: Rarity) -> list[str]:
        """The texts that a value is found by; where there is nothing to make them of, its own."""
        texts = [
            text for source in self.chosen.keys for text in await self._of(value, source, rarity)
        ]
        if not texts:
            self.tools.fallbacks["key"] += 1
            texts = [value.said]
        if self.chosen.merged and len(texts) > 1:
            own = KeySource.VALUE in self.chosen.keys
            # An encoder reads only the beginning of a long text: what is short comes first.
            texts = ["\n".join([*texts[1:], texts[0]] if own else texts)]
        return [window for text in dict.fromkeys(texts) for window in windows(text)]

    async def _of(self, value: Value, source: KeySource, rarity: Rarity) -> list[str]:
        match source:
            case KeySource.VALUE:
                return [value.said] if value.said.strip() else []
            case KeySource.FACT:
                return list(dict.fromkeys(fact.text for fact in value.facts))
            case KeySource.KEYPHRASE:
                phrases = self.phrases(value, rarity)
                return ["; ".join(phrases)] if phrases else []
            case KeySource.SUMMARY:
                summary = await self.tools.summariser.of_rounds(value.sources, rarity)
                return [summary] if summary else []

    def phrases(self, value: Value, rarity: Rarity, most: int = _MOST_PHRASES) -> list[str]:
        """The key phrases of a value: the extraction model's, or so many by statistics."""
        given = [phrase for record in value.sources for phrase in record.keyphrases]
        return given or key_phrases(value.text, rarity, most)

    def weigh(self, value: Value, similarity: float, asked: ViewQuestion) -> float:
        """How near a value is, all told; by default as near as it was found."""
        return similarity


async def rarity_of(records: Sequence[Record]) -> Rarity:
    """How rare each word is among a user's rounds."""
    size = sum(record.round.size for record in records) // _READ_FAST
    return await aside(size, lambda: Rarity(spoken(record.round) for record in records))
