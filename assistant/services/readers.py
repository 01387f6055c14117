"""The readers of the settings: with a language model, or quoting."""

from contextlib import AsyncExitStack
from dataclasses import replace

from assistant.answering.model_reader import ModelReader
from assistant.answering.plan import AUTO, Preset, ReadingPlan, preset_named, preset_of
from assistant.answering.quoting import QuotingReader
from assistant.answering.reader import Reader
from assistant.designs.choices import AIDE_MEMOIRE
from assistant.models.gateway import Gateway
from assistant.models.litellm_data import input_limit, tokenizer_counter
from assistant.models.roles import gateway_to
from assistant.models.token_counter import RememberedCounts
from assistant.models.usage import Usage
from assistant.services.memory import chosen_of
from assistant.settings import ProfileModel, Settings
from memory_store import MemoryStore


def reader_of(settings: Settings, store: MemoryStore, model: Gateway | None) -> Reader:
    """The reader of the `chat_model`; without one, quotes."""
    if model is None:
        return QuotingReader(store, floor=settings.quote_floor)
    wanted = settings.reading.preset
    preset = preset_of(model.name) if wanted == AUTO else preset_named(wanted)
    return _model_reader(settings, store, model, preset, settings.recall.context_tokens)


def profile_reader(
    settings: Settings,
    name: str,
    how: ProfileModel,
    store: MemoryStore,
    usage: Usage,
    opened: AsyncExitStack,
) -> Reader:
    """The reader of a profile; its calls are counted apart."""
    model = gateway_to(how, settings, usage.of(f"profile:{name}"))
    opened.push_async_callback(model.close)
    preset = preset_of(how.name) if how.preset == AUTO else preset_named(how.preset)
    tokens = how.context_tokens or settings.recall.context_tokens
    return _model_reader(settings, store, model, preset, tokens)


def _model_reader(
    settings: Settings, store: MemoryStore, model: Gateway, preset: Preset, tokens: int
) -> Reader:
    count = RememberedCounts(tokenizer_counter(preset.margin))
    plan = _plan(settings, preset, model.name, tokens)
    return ModelReader(model, store, plan, count)


def _plan(settings: Settings, preset: Preset, model: str, tokens: int) -> ReadingPlan:
    """The preset, with what the settings say instead; never more than half of what the model can
    read, which also has to hold the conversation and the answer."""
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
    )
