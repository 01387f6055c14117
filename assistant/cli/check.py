"""`assistant check`: opens everything as `serve` does and says what is wrong, if anything is.

Each language model that is set is asked one short question, which may cost a few tokens.
"""

import asyncio
from collections.abc import Mapping
from typing import NamedTuple, get_args

from assistant.access.doorkeeper import Doorkeeper, check_reachable
from assistant.cli.options import CommandResult
from assistant.errors import AssistantError
from assistant.models.chat_model import Message, RoleCounts
from assistant.models.gateway import gateway_to
from assistant.operations import memory_exists
from assistant.services import make_embedder, open_services, shared_keys
from assistant.serving.serve import check_workers
from assistant.settings import LanguageModel, Role, Settings
from memory_store import require_place
from memory_store.errors import EmbeddingFailed, MemoryStoreError

_ROLES: tuple[Role, ...] = get_args(Role)
_GREETING = "Say ok."


class PartOfSetUp(NamedTuple):
    """One part of the set-up, whether it can be used, and what there is to say about it."""

    part: str
    usable: bool
    text: str


def check_set_up(settings: Settings) -> CommandResult:
    """What was found; exit code 1 when something cannot be used. Writes to no memory."""
    findings = asyncio.run(_findings(settings))
    usable = all(finding.usable for finding in findings)
    parts = {f.part: {"usable": f.usable, "text": f.text} for f in findings}
    lines = [f"{f.part}: {'ok' if f.usable else 'PROBLEM'}: {f.text}" for f in findings]
    return CommandResult({"usable": usable, "parts": parts}, "\n".join(lines), 0 if usable else 1)


async def _findings(settings: Settings) -> list[PartOfSetUp]:
    named = {f"{role}_model": settings.model(role) for role in _ROLES} | {
        f"profiles.{name}": how for name, how in settings.profiles.items()
    }
    models = [await _model(settings, part, how) for part, how in named.items() if how.name]
    return [await _address(settings), *await _memory(settings), *models]


async def _address(settings: Settings) -> PartOfSetUp:
    """Whether the server may listen at the address of the settings, with as many workers."""
    address = f"{settings.host}:{settings.port}"
    try:
        shared = await shared_keys(settings)
        check_reachable(settings, shared)
        check_workers(settings)
        needs_key = Doorkeeper(settings).needs_key or bool(shared)
    except (MemoryStoreError, AssistantError) as error:
        return PartOfSetUp("address", False, str(error))
    return PartOfSetUp(
        "address", True, f"{address} ({'with' if needs_key else 'without'} API keys)"
    )


async def _model(settings: Settings, part: str, how: LanguageModel) -> PartOfSetUp:
    name = how.name
    try:
        model = gateway_to(how, settings, RoleCounts())
        try:
            await model.complete([Message("user", _GREETING)], {})
        finally:
            await model.close()
    except AssistantError as error:
        return PartOfSetUp(part, False, f"{name}: {error}")
    return PartOfSetUp(part, True, f"{name} answers")


async def _memory(settings: Settings) -> list[PartOfSetUp]:
    """The memory and the embedder; where there is none yet, whether one can be made."""
    where = str(settings.public()["qdrant_url"] or settings.data_dir)
    try:
        if not await memory_exists(settings):
            if not settings.qdrant_url:
                require_place(settings.data_dir)
            none_yet = PartOfSetUp("memory", True, f"none yet: the first start makes it in {where}")
            return [none_yet, await _embedder(settings)]
        async with open_services(settings) as services:
            await services.store.check()
            rounds, promise = await services.store.verify(), await services.store.promise()
            made_by: Mapping[str, object] = services.store.description
    except EmbeddingFailed as error:
        return [PartOfSetUp("embedder", False, str(error))]
    except (MemoryStoreError, AssistantError) as error:
        return [PartOfSetUp("memory", False, str(error))]
    known = ", ".join(f"{name} {value}" for name, value in made_by.items())
    return [
        PartOfSetUp("memory", True, f"{where} ({known}): all {rounds} memories read; {promise}"),
        PartOfSetUp("embedder", True, settings.embedder),
    ]


async def _embedder(settings: Settings) -> PartOfSetUp:
    try:
        await make_embedder(settings).close()
    except EmbeddingFailed as error:
        return PartOfSetUp("embedder", False, str(error))
    return PartOfSetUp("embedder", True, settings.embedder)
