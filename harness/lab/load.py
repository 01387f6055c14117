"""A store of the Add/Search convention under the load of a leaderboard: many writers at once, and
every request sent more than once under its id.

Each memory holds a code of its own. One memory in eight is sent only once; the number of times that
it is found shows how many copies this store keeps of any memory. A memory is lost if no search of
its user finds it, doubled if it is found more often than that number, and leaked if another user
finds it. A memory that the store never accepted counts as refused, not as lost.
"""

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from harness.assistants.add_search import AddSearchClient, BoardMessage, require_store
from harness.assistants.endpoint import Endpoint
from harness.assistants.transport import Transport
from harness.errors import AssistantError, UsageError, first_raised
from harness.replay.ingest import new_salt
from harness.report.table import Table, number

_TOLD_AT = datetime(2024, 3, 4, 9, tzinfo=UTC)
_ONCE = 8
"""One in this many memories is sent only once."""
MOST_FOR_A_USER = 90
"""A search returns up to a hundred texts, so it can return all memories of a user."""
_TOP_K = 100


@dataclass(frozen=True, slots=True)
class Load:
    """How many memories of how many users are sent, by how many writers; `times` is how often each
    request is sent."""

    memories: int = 640
    users: int = 8
    writers: int = 64
    times: int = 2


@dataclass(frozen=True, slots=True)
class CodedMemory:
    """Something that a user tells; its code identifies it."""

    number: int
    user: str
    stranger: str
    session: str
    request: str
    code: str
    times: int

    @property
    def messages(self) -> list[BoardMessage]:
        said_at = round(_TOLD_AT.timestamp() * 1000) + self.number * 60_000
        told = f"The code of my locker number {self.number} is {self.code}."
        return [
            {"role": "user", "content": told, "timestamp": said_at},
            {"role": "assistant", "content": "I will keep it in mind.", "timestamp": said_at + 500},
        ]

    @property
    def question(self) -> str:
        return f"What is the code of my locker number {self.number}?"


@dataclass(slots=True)
class StoreLoad:
    """The outcome over all memories; `problems` are the refusals' texts, each once."""

    memories: int
    requests: int
    written: int = 0
    lost: int = 0
    doubled: int = 0
    leaked: int = 0
    refused: int = 0
    seconds: float = 0.0
    add_ms: list[float] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def is_sound(self) -> bool:
        return not (self.lost or self.doubled or self.leaked or self.refused)

    def to_json(self) -> dict[str, Any]:
        took = sorted(self.add_ms)
        figures = asdict(self)
        del figures["add_ms"]
        return figures | {"add_p50_ms": _at(took, 0.5), "add_p95_ms": _at(took, 0.95)}


def try_store(endpoint: Endpoint, load: Load) -> StoreLoad:
    """Write and search all memories. Raises `UsageError` for a load that is too large or where no
    store is, and every error that makes going on useless."""
    with first_raised():
        return asyncio.run(_try_store(endpoint, load))


def outcome_table(outcome: StoreLoad) -> Table:
    rows = [(name, _shown(value)) for name, value in outcome.to_json().items()]
    return Table("Add/Search under load", ("", "value"), rows)


def _shown(value: Any) -> str:
    return ("; ".join(value) or "none") if isinstance(value, list) else number(value)


async def _try_store(endpoint: Endpoint, load: Load) -> StoreLoad:
    if load.memories > load.users * MOST_FOR_A_USER:
        raise UsageError(f"at most {MOST_FOR_A_USER} memories for each user: add --users")
    await require_store(endpoint)
    memories = _memories(load, new_salt())
    outcome = StoreLoad(len(memories), sum(one.times for one in memories))
    async with Transport(endpoint, concurrency=load.writers) as transport:
        store = AddSearchClient(transport)
        started = time.perf_counter()
        # The same request may be under way twice at once, as after a time-out.
        writes = [one for one in memories for _ in range(one.times)]
        taken: set[int] = set()
        await _each(writes, load.writers, lambda one: _write(store, one, taken, outcome))
        outcome.seconds = round(time.perf_counter() - started, 3)
        copies: dict[int, int] = {}
        await _each(memories, load.writers, lambda one: _look(store, one, copies, outcome))
    kept_of_one = max((copies[one.number] for one in memories if one.times == 1), default=1)
    outcome.written = len(taken)
    outcome.lost = sum(not copies[number] for number in taken)
    outcome.doubled = sum(copies[one.number] > max(1, kept_of_one) for one in memories)
    return outcome


def _memories(load: Load, salt: str) -> list[CodedMemory]:
    """The memories to write, under names of users and requests that no earlier trial used."""

    def named(*parts: object) -> str:
        return hashlib.sha256(repr((salt, *parts)).encode()).hexdigest()[:20]

    return [
        CodedMemory(
            number=place,
            user=named("user", place % load.users),
            stranger=named("user", (place + 1) % max(2, load.users)),
            session=named("session", place % (3 * load.users)),
            request=named("request", place),
            code=str(int(named("code", place), 16))[:12],
            times=1 if place % _ONCE == 0 else load.times,
        )
        for place in range(load.memories)
    ]


async def _each(
    memories: Sequence[CodedMemory], at_once: int, work: Callable[[CodedMemory], Awaitable[None]]
) -> None:
    room = asyncio.Semaphore(at_once)

    async def one(memory: CodedMemory) -> None:
        async with room:
            await work(memory)

    async with asyncio.TaskGroup() as group:
        for memory in memories:
            group.create_task(one(memory))


async def _write(
    store: AddSearchClient, memory: CodedMemory, taken: set[int], outcome: StoreLoad
) -> None:
    started = time.perf_counter()
    try:
        await store.add(memory.request, memory.user, memory.session, memory.messages)
        taken.add(memory.number)
    except AssistantError as error:
        _refused(outcome, error)
    outcome.add_ms.append(round((time.perf_counter() - started) * 1000, 2))


async def _look(
    store: AddSearchClient, memory: CodedMemory, copies: dict[int, int], outcome: StoreLoad
) -> None:
    """Search for a memory as its user, and as another one."""
    copies[memory.number] = await _copies(store, memory, memory.user, outcome)
    found_elsewhere = await _copies(store, memory, memory.stranger, outcome)
    outcome.leaked += bool(found_elsewhere)


async def _copies(
    store: AddSearchClient, memory: CodedMemory, user: str, outcome: StoreLoad
) -> int:
    try:
        found = await store.search(user, memory.question, _TOP_K)
    except AssistantError as error:
        _refused(outcome, error)
        return 0
    return sum(memory.code in text.content for text in found.texts)


def _refused(outcome: StoreLoad, error: AssistantError) -> None:
    outcome.refused += 1
    if str(error) not in outcome.problems:
        outcome.problems.append(str(error))


def _at(took: Sequence[float], share: float) -> float:
    return took[min(len(took) - 1, int(share * len(took)))] if took else 0.0
