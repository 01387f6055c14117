"""Records made into points: the one way from a value to the keys under which it is found."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from memory_store.embedding.embedder import Embedder
from memory_store.embedding.encoder import TextKind
from memory_store.engines.engine import Payload, Point
from memory_store.keys import Key, KeyDesign, keys_of
from memory_store.points import to_identity, to_point
from memory_store.scheduler import aside
from memory_store.types import Record


@dataclass(frozen=True, slots=True)
class Indexer:
    """An embedder and what it is given: together they make the index of a memory."""

    embedder: Embedder
    design: KeyDesign = field(default_factory=KeyDesign)
    fallbacks: Counter[str] = field(default_factory=Counter)
    """How many of the rounds written since the start have nothing of what the design takes, and so
    are found by their raw key."""

    @property
    def identity(self) -> Payload:
        """What is stored once, to refuse an index made otherwise."""
        identity = to_identity(self.embedder.identity)
        # Memories older than the choice have every key and say nothing.
        usual = self.design == KeyDesign()
        return identity if usual else {**identity, "keys": str(self.design)}

    def keys(self, record: Record) -> list[Key]:
        """The texts under which the record is found by meaning."""
        return keys_of(record, self.design)

    def _written(self, record: Record) -> list[Key]:
        keys = self.keys(record)
        if not any(key.kind in self.design.kinds for key in keys):
            self.fallbacks["key"] += 1
        return keys

    async def points(self, records: Sequence[Record]) -> list[Point]:
        """The points of the records, in order, their keys encoded. Raises `EmbeddingFailed`."""
        keys = [
            [key.text for key in await aside(_size(record), self._written, record)]
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
    """Characters that it takes to say what is known of a round."""
    return record.round.size + sum(len(fact.text) for fact in record.facts)
