"""The parts of a running assistant, put together from its settings."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import get_args

from assistant.answering.model_reader import ModelReader
from assistant.answering.plan import (
    AUTO,
    LookAgain,
    LookLimits,
    Preset,
    ReadingPlan,
    preset_named,
    preset_of,
)
from assistant.answering.quoting import QuotingReader
from assistant.answering.reader import Reader
from assistant.chat.acts import Acts
from assistant.chat.chat import Chat
from assistant.chat.forgetting import Forgetting, PendingHere, PendingShared
from assistant.chat.recalling import Loops
from assistant.chat.recorder import Recorder
from assistant.chat.retriever import Retriever, Searchable
from assistant.clock import wall_clock
from assistant.designs.control_points import AIDE_MEMOIRE
from assistant.designs.design import Design, Tools
from assistant.designs.registry import class_of
from assistant.designs.summaries import Summariser
from assistant.designs.views import Views
from assistant.enrichment.costs import CostsBefore, DailyCap
from assistant.enrichment.enricher import Claims, Enricher
from assistant.enrichment.extraction import ExtractionWanted
from assistant.enrichment.worker import EnrichmentWorker
from assistant.errors import ConfigError
from assistant.idle_moments import QuietMoments, Scrubbing
from assistant.models.chat_model import RoleCounts, UsageCounts
from assistant.models.gateway import Gateway, gateway, gateway_to, reply_cache
from assistant.models.token_counter import Prices, RememberedCounts, input_limit, tokenizer_counter
from assistant.observing.metrics import Metrics
from assistant.receipts import ReceiptOffice, key_among, key_in
from assistant.reindexing import Reindexing
from assistant.services.locality import reach_of_model
from assistant.services.memory import chosen_of, make_documents, make_embedder, open_store
from assistant.settings import (
    LITELLM_EMBEDDER,
    WITH_MEMORY,
    WITHOUT_MEMORY,
    ProfileModel,
    Role,
    Settings,
)
from assistant.surroundings import SurroundingsKept
from assistant.worker_messages import ERASED, Notices
from memory_store import MemoryReader, MemoryStore, Reach
from memory_store.embedding import Embedder


def reader_of(settings: Settings, memory: MemoryReader, model: Gateway | None) -> Reader:
    """The reader that asks the `chat_model`; without a model, the reader that quotes."""
    if model is None:
        return QuotingReader(memory, floor=settings.quote_floor)
    wanted = settings.reading.preset
    preset = preset_of(model.name) if wanted == AUTO else preset_named(wanted)
    return _model_reader(settings, memory, model, preset, settings.recall.context_tokens)


def profile_reader(
    settings: Settings,
    name: str,
    how: ProfileModel,
    memory: MemoryReader,
    usage: UsageCounts,
    opened: AsyncExitStack,
) -> Reader:
    """The reader of a profile; its calls are counted apart."""
    model = gateway_to(how, settings, usage.of(f"profile:{name}"))
    opened.push_async_callback(model.close)
    preset = preset_of(how.name) if how.preset == AUTO else preset_named(how.preset)
    tokens = how.context_tokens or settings.recall.context_tokens
    return _model_reader(settings, memory, model, preset, tokens)


def _model_reader(
    settings: Settings, memory: MemoryReader, model: Gateway, preset: Preset, tokens: int
) -> Reader:
    count = RememberedCounts(tokenizer_counter(preset.margin))
    plan = _plan(settings, preset, model.name, tokens)
    return ModelReader(model, memory, plan, count)


def _plan(settings: Settings, preset: Preset, model: str, tokens: int) -> ReadingPlan:
    """The preset's plan, but what the settings choose instead. Memory gets at most half of what the
    model can read, because the conversation and the answer need room, too."""
    wanted, plan = settings.reading, preset.plan
    is_own = settings.design == AIDE_MEMOIRE
    if not is_own:
        chosen = chosen_of(settings)
        plan = replace(plan, mode=chosen.mode, layout=chosen.layout)
    tokens = tokens or plan.context_tokens
    limit = input_limit(model)
    return ReadingPlan(
        mode=wanted.mode or plan.mode,
        layout=wanted.layout or plan.layout,
        unit=wanted.unit or plan.unit,
        context_tokens=min(tokens, limit // 2) if limit else tokens,
        computed_help=is_own if wanted.computed_help is None else wanted.computed_help,
        near=settings.quote_floor,
        # A published design is read as published.
        look_again=(wanted.look_again or plan.look_again) if is_own else LookAgain.OFF,
        looks=LookLimits(wanted.look_calls, wanted.look_tokens, wanted.look_seconds),
    )


@dataclass(frozen=True, slots=True)
class Services:
    """The services that routes use."""

    settings: Settings
    store: MemoryStore
    recorder: Recorder
    retriever: Retriever
    """Finds memories of every reach, for the user who searches."""
    design: Design | None
    """The design that the memory is viewed by; None for the product's own."""
    chats: Mapping[str, Chat]
    """The chat of each profile, all over one memory."""
    reader: Reader
    """The reader of the profile with memory that every server has."""
    usage: UsageCounts
    metrics: Metrics
    reindexing: Reindexing
    receipts: ReceiptOffice
    surroundings: SurroundingsKept
    costs: CostsBefore
    enrichment: EnrichmentWorker | None = None
    """Absent without an `extract_model`."""
    notices: Notices | None = None
    """Tells what other assistants on the same Qdrant server have changed; absent with an embedded
    memory, which belongs to one assistant."""

    @property
    def embedder(self) -> Embedder:
        """The embedder that the memory is searched by now; it may change when a reindex is done."""
        return self.store.embedder


@asynccontextmanager
async def open_services(settings: Settings) -> AsyncIterator[Services]:
    """Open the store and load the models; close them again at the end.

    Raises `MemoryStoreError` and `ConfigError` when something cannot be used.
    """
    async with AsyncExitStack() as opened:
        usage = UsageCounts()
        store = await open_store(settings, usage, opened)
        notices = await _open_notices(settings, opened)
        model = _model(settings, "chat", usage, opened)
        memory = store.seen_up_to(reach_of_model(settings, settings.chat_model))
        reader = reader_of(settings, memory, model)
        extractor = _model(settings, "extract", usage, opened)
        metrics = Metrics()
        scrubbing = Scrubbing(store, QuietMoments(metrics.activity))
        scrubbing.forgotten()
        opened.push_async_callback(scrubbing.close)
        reindexing = Reindexing(
            settings,
            store,
            partial(make_embedder, settings),
            # Requests that ask again and again how far it is must not put it off.
            QuietMoments(lambda: metrics.activity()._replace(begun=0)),
            done=scrubbing.forgotten,
        )
        opened.push_async_callback(reindexing.close)
        loops = Loops()

        def forgotten() -> None:
            loops.clear()
            scrubbing.forgotten()

        recorder = Recorder(
            store,
            enriched_later=extractor is not None,
            forget_replies=_forget_replies(settings),
            forgotten=forgotten,
            notices=notices,
        )
        if notices:
            erased = partial(_erased_elsewhere, settings, recorder, store, loops)
            notices.watch(ERASED, erased)
        worker: EnrichmentWorker | None = None
        if extractor:
            worker = _worker(settings, store, recorder, extractor, usage)
            recorder.watch(worker.recorded)
            worker.start()
            opened.push_async_callback(worker.close)
        query_model = _model(settings, "query", usage, opened)
        design = _design(settings, store, extractor, query_model or model)
        viewed = _viewed(settings, store, design)
        retriever = _retriever(settings, viewed or store, query_model)
        metrics.watch(store=store, usage=usage, recorder=recorder, enrichment=worker)
        readers = {WITH_MEMORY: (reader, memory), WITHOUT_MEMORY: (reader, memory)}
        for name, how in settings.profiles.items():
            seen = store.seen_up_to(reach_of_model(settings, how))
            one = profile_reader(settings, name, how, seen, usage, opened)
            readers[name] = (one, seen)
        forgetting = Forgetting(store, recorder, _pending(notices))

        def chat(
            one: Reader, seen: MemoryReader, beside: Chat | None = None, strict: bool | None = None
        ) -> Chat:
            return Chat(
                _retriever(settings, viewed or seen, query_model),
                recorder,
                one,
                _acts(settings, store, seen, forgetting, has_model=one.reads_conversation),
                loops,
                seen,
                beside=beside,
                strict=settings.reading.strict if strict is None else strict,
                recalled_rounds=settings.recall.rounds,
                kept_of_results=settings.remember_tool_results,
                observe=metrics.stage,
            )

        here = store.seen_up_to(Reach.THIS_COMPUTER)
        # Answers from memories that may go to no model are quotes.
        beside = chat(reader_of(settings, here, None), here)
        strict = {name: how.strict for name, how in settings.profiles.items()}
        chats = {name: chat(*one, beside, strict.get(name)) for name, one in readers.items()}
        yield Services(
            settings,
            store,
            recorder,
            retriever,
            design,
            chats,
            reader,
            usage,
            metrics,
            reindexing,
            _receipts(settings, notices),
            SurroundingsKept(store, recorder, notices),
            _costs(settings, usage),
            worker,
            notices,
        )


async def _open_notices(settings: Settings, opened: AsyncExitStack) -> Notices | None:
    if not settings.qdrant_url:
        return None
    documents = make_documents(settings)
    await documents.open()
    opened.push_async_callback(documents.close)
    notices = Notices(documents, wall_clock)
    opened.push_async_callback(notices.close)
    return notices


def _receipts(settings: Settings, notices: Notices | None) -> ReceiptOffice:
    return ReceiptOffice(
        partial(key_among, notices.documents) if notices else partial(key_in, settings.data_dir)
    )


async def _erased_elsewhere(
    settings: Settings, recorder: Recorder, store: MemoryStore, loops: Loops
) -> None:
    loops.clear()
    await recorder.erased_elsewhere()
    if settings.forget_caches:
        store.embedder.forget_memory()


def _pending(notices: Notices | None) -> PendingHere | PendingShared:
    return PendingShared(notices.documents, wall_clock) if notices else PendingHere()


def _acts(
    settings: Settings,
    store: MemoryStore,
    memory: MemoryReader,
    forgetting: Forgetting,
    *,
    has_model: bool,
) -> Acts:
    server = "in the Qdrant server that this assistant is set up with"
    folder = "in the data folder of the computer that this assistant runs on"
    where = server if settings.qdrant_url else folder
    return Acts(store, memory, forgetting, has_model=has_model, kept_where=where)


def _model(
    settings: Settings, role: Role, usage: UsageCounts, opened: AsyncExitStack
) -> Gateway | None:
    model = gateway(settings, role, usage)
    if model:
        opened.push_async_callback(model.close)
    return model


def _forget_replies(settings: Settings) -> Callable[[], None] | None:
    cache = reply_cache(settings)
    return cache.clear if cache and settings.forget_caches else None


def _design(
    settings: Settings,
    store: MemoryStore,
    extractor: Gateway | None,
    guide: Gateway | None,
) -> Design | None:
    if settings.design == AIDE_MEMOIRE:
        return None
    tools = Tools(store.embedder, store.language, Summariser(store.language, extractor), guide)
    return class_of(settings.design)(tools, chosen_of(settings))


def _costs(settings: Settings, usage: UsageCounts) -> CostsBefore:
    model, embedder = settings.extract_model.name, settings.embedder
    is_elsewhere = embedder.startswith(LITELLM_EMBEDDER) or settings.embedder_server.base_url
    encoding = _prices(settings, embedder.removeprefix(LITELLM_EMBEDDER)) if is_elsewhere else None
    return CostsBefore(
        _extraction(settings) if model else None,
        _prices(settings, model) if model else Prices(),
        encoding,
        usage.of("extract") if model else RoleCounts(),
    )


def _prices(settings: Settings, model: str) -> Prices:
    return Prices.of(model, settings.models.prices.get(model))


def _extraction(settings: Settings) -> ExtractionWanted:
    how = settings.enrichment
    return ExtractionWanted(settings.extract_model.name, how.keyphrases, how.summaries)


def _viewed(settings: Settings, store: MemoryStore, design: Design | None) -> Views | None:
    """The memory as a design views it, with only what every configured model may read; None for the
    product's own design."""
    if design is None:
        return None
    models = [settings.model(role) for role in get_args(Role)] + [*settings.profiles.values()]
    reaches = [reach_of_model(settings, model) for model in models]
    is_local = Reach.ANYWHERE not in reaches
    return Views(
        store.seen_up_to(Reach.THIS_COMPUTER if is_local else Reach.ANYWHERE),
        design,
    )


def _retriever(settings: Settings, memory: Searchable, query_model: Gateway | None) -> Retriever:
    return Retriever(memory, query_model, sub_queries=settings.understanding.sub_queries)


def _worker(
    settings: Settings, store: MemoryStore, recorder: Recorder, model: Gateway, usage: UsageCounts
) -> EnrichmentWorker:
    how = settings.enrichment
    wanted = _extraction(settings)
    if how.dollars_a_day and _prices(settings, model.name).cost(0, 0) is None:
        raise ConfigError(
            f"enrichment.dollars_a_day: the price of {model.name} is not known: set models.prices, "
            "or enrichment.tokens_a_day",
            code="wrong_setting",
        )
    cap = DailyCap(usage.of("extract"), wall_clock, how.tokens_a_day, how.dollars_a_day)
    enricher = Enricher(
        store,
        reach_of_model(settings, settings.extract_model),
        recorder,
        Claims(store, wall_clock, lease_seconds=how.lease_seconds),
        model,
        wanted,
        attempts=how.attempts,
        cap=cap,
    )
    return EnrichmentWorker(
        store,
        enricher,
        clock=wall_clock,
        idle_seconds=how.idle_seconds,
        lease_seconds=how.lease_seconds,
    )
