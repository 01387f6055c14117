"""The memory of the settings: its engine, its embedder, its keys, and how it is searched."""

import logging
import os
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

from assistant.access.keys import ApiKey, SharedKeys
from assistant.designs.control_points import Choices, Retrieval
from assistant.designs.registry import choices_of
from assistant.errors import ConfigError
from assistant.models.chat_model import UsageCounts
from assistant.services.locality import embeds_here, reach_rules
from assistant.settings import HASH_EMBEDDER, LITELLM_EMBEDDER, PACKAGED_EMBEDDER, Settings
from memory_store import (
    Documents,
    KeyDesign,
    KeyKind,
    MemoryStore,
    RecallSettings,
    Weights,
    engines,
)
from memory_store.embedding import (
    BATCH_SIZE,
    ENCODERS,
    DiskCache,
    Embedder,
    Encoder,
    HashEncoder,
    ModelEncoder,
    ModelOptions,
)
from memory_store.engines import EdgeEngine, Engine
from memory_store.errors import MemoryStoreError, StoreMismatch
from memory_store.language import LANGUAGES

_log = logging.getLogger(__name__)


async def open_store(settings: Settings, usage: UsageCounts, opened: AsyncExitStack) -> MemoryStore:
    """The memory, open until the stack is closed. A memory that an older packaged encoder wrote
    goes on with that encoder."""
    try:
        return await _open_store(settings, usage, opened)
    except StoreMismatch as error:
        if settings.embedder != PACKAGED_EMBEDDER or error.embedder not in ENCODERS:
            raise
        written_by = error.embedder
    _log.warning(
        "this memory was written with %s and goes on with it; %s finds more: `assistant reindex` "
        "changes it over, while the assistant runs with --assistant and its address "
        "(POST /v1/reindex)",
        *(written_by, ENCODERS[0]),
    )
    return await _open_store(settings.model_copy(update={"embedder": written_by}), usage, opened)


async def _open_store(
    settings: Settings, usage: UsageCounts, opened: AsyncExitStack
) -> MemoryStore:
    embedder = make_embedder(settings, usage)
    store = MemoryStore(
        _engine(settings),
        embedder,
        _recall(settings),
        key_design(settings),
        forget_vectors=settings.forget_caches,
        reach_rules=reach_rules(settings),
    )
    try:
        await store.open()
    except MemoryStoreError:
        await embedder.close()
        raise
    opened.push_async_callback(store.close)
    return store


def make_embedder(settings: Settings, usage: UsageCounts | None = None) -> Embedder:
    """The embedder of the settings, its weights loaded; `usage` counts the calls of a provider."""
    workers = settings.embedder_threads or os.cpu_count() or 1
    encoder = _encoder(settings, usage)
    usual = encoder.batch_size if isinstance(encoder, ModelEncoder) else BATCH_SIZE
    batch_size = settings.embedder_model.batch or usual
    return Embedder(
        encoder,
        workers=workers,
        batch_size=batch_size,
        disk_cache=_disk_cache(settings),
        is_local=embeds_here(settings),
    )


def key_design(settings: Settings) -> KeyDesign:
    """What the keys of the memory are made of. Raises `ConfigError` where nothing makes them."""
    how = settings.enrichment
    made = {kind for kind in KeyKind if not kind.is_extracted}
    if settings.extract_model.name:
        made |= {KeyKind.KEYPHRASES} if how.keyphrases else set()
        made |= {KeyKind.SUMMARY} if how.summaries else set()
    if made.isdisjoint(settings.keys.kinds):
        raise ConfigError(
            f"keys.kinds: nothing makes {' or '.join(settings.keys.kinds)} here. Set extract_model "
            "with enrichment.keyphrases or enrichment.summaries, add raw or fact, or choose a "
            "design that makes them by statistics: design=longmemeval, choices.keys",
            code="wrong_setting",
        )
    return KeyDesign(settings.keys.kinds, settings.keys.merged, LANGUAGES[settings.language])


def _recall(settings: Settings) -> RecallSettings:
    how, chosen = settings.recall, chosen_of(settings)
    weights = Weights(**how.weights.model_dump())
    if chosen.retrieval is Retrieval.DENSE:
        weights = replace(weights, words=0.0, session_words=0.0)
    elif chosen.retrieval is Retrieval.WORDS:
        weights = replace(weights, dense=0.0)
    return RecallSettings(weights=weights, statement=how.statement, time_use=chosen.time)


def _engine(settings: Settings) -> Engine:
    if not settings.qdrant_url:
        return EdgeEngine(settings.data_dir, durability=settings.durability)
    # Named through its package, so that its client is loaded only here.
    return engines.ServerEngine(settings.qdrant_url, **server_options(settings))


def _encoder(settings: Settings, usage: UsageCounts | None) -> Encoder:
    # Imported here, because an encoder in this process needs no client.
    if settings.embedder.startswith(LITELLM_EMBEDDER):
        from assistant.models.encoders import LitellmEncoder

        model = settings.embedder.removeprefix(LITELLM_EMBEDDER)
        counts = (usage or UsageCounts()).of("embed")
        return LitellmEncoder(model, settings.embedder_server, counts)
    if settings.embedder_server.base_url:
        from assistant.models.encoders import ServerEncoder

        return ServerEncoder(settings.embedder, settings.embedder_server)
    if settings.embedder == HASH_EMBEDDER:
        return HashEncoder()
    model = ENCODERS[0] if settings.embedder == PACKAGED_EMBEDDER else settings.embedder
    how = settings.embedder_model
    options = ModelOptions(how.device, how.query_prompt, how.document_prompt, how.remote_code)
    return ModelEncoder(model, options)


def _disk_cache(settings: Settings) -> DiskCache | None:
    # The hash embedder is faster than any disk.
    if settings.embedder == HASH_EMBEDDER or not settings.embedder_cache_mb:
        return None
    file = settings.data_dir / "vectors.sqlite"
    return DiskCache(file, max_bytes=settings.embedder_cache_mb * 1024 * 1024)


def server_options(settings: Settings) -> dict[str, Any]:
    """The arguments of an engine for the server at `qdrant_url`."""
    key = settings.qdrant_api_key
    return {"api_key": key.get_secret_value() if key else None, **settings.qdrant.model_dump()}


def make_documents(settings: Settings) -> Documents:
    """What assistants on one Qdrant server share beside its rounds."""
    # Named through its package, so that its client is loaded only here.
    return engines.ServerDocuments(settings.qdrant_url, **server_options(settings))


async def shared_keys(settings: Settings) -> tuple[ApiKey, ...]:
    """The keys on the Qdrant server, where nothing is created; none where keys are not shared.

    Raises `MemoryStoreError` and `ConfigError` when they cannot be read.
    """
    if not settings.shares_keys:
        return ()
    documents = make_documents(settings)
    try:
        there = await documents.open(make=False)
        return await SharedKeys(documents).keys() if there else ()
    finally:
        await documents.close()


def chosen_of(settings: Settings) -> Choices:
    """The choices at the control points: those of the settings, else those of the design."""
    reading = {"mode": settings.reading.mode, "layout": settings.reading.layout}
    return choices_of(settings.design, settings.choices.model_dump() | reading)
