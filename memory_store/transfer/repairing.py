"""`assistant repair`: what can still be read of a damaged memory, and the rest from a backup."""

from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass

from memory_store.changes.linking import Linking
from memory_store.embedding.embedder import Embedder
from memory_store.engines.edge.operator import EdgeOperator, Repaired
from memory_store.identity import admit
from memory_store.indexing import Indexer
from memory_store.keys import KeyDesign
from memory_store.transfer.records import from_lines


@dataclass(frozen=True, slots=True)
class Mended:
    """What a repair found, and how many of the lost rounds a backup brought back."""

    found: Repaired
    brought_back: int = 0


async def repair(
    memory: EdgeOperator,
    make_embedder: Callable[[], Embedder],
    backup: Iterable[str] | None = None,
    design: KeyDesign | None = None,
) -> Mended:
    """Keep all rounds that are whole, and take those that are lost from a backup, if one is given.

    What was forgotten is not brought back. Raises `StoreMissing`, `StoreLocked`, `StoreDamaged`
    where nothing can be read, `StoreMismatch`, `InvalidRecord` and `EmbeddingFailed`.
    """
    async with AsyncExitStack() as opened:
        opened.push_async_callback(memory.close)
        found = await memory.repair()
        if backup is None or not found.lost:
            return Mended(found)
        lost = [record for record in from_lines(backup) if record.id in found.lost]
        embedder = make_embedder()
        opened.push_async_callback(embedder.close)
        indexer = Indexer(embedder, design or KeyDesign())
        admit(await memory.identity() or {}, indexer.identity)
        linked = await Linking(memory, indexer.design.language).before_writing(lost)
        await memory.upsert(await indexer.points(linked))
        return Mended(found, len(lost))
