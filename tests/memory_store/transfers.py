"""Moving and indexing anew, as the tests of both do it."""

from collections.abc import Callable
from typing import Any

from memories import Steps, WideEncoder, remember

from memory_store.embedding import Embedder, HashEncoder
from memory_store.engines import OperatorEngine
from memory_store.transfer import Reindexed, migrate, reindex

Make = Callable[[], OperatorEngine]
"""Makes operators of one place."""


async def moved_and_used(source: OperatorEngine, target: OperatorEngine) -> None:
    await migrate(source, target, Steps())
    await remember(target, [])  # used, so that it is no copy any more


async def reindexed(
    memory: OperatorEngine,
    encoder: HashEncoder | None = None,
    steps: Steps | None = None,
    **how: Any,
) -> Reindexed:
    encoder = encoder or WideEncoder()
    return await reindex(memory, lambda: Embedder(encoder, cached_texts=0), steps or Steps(), **how)
