"""How much one caller gets: requests a minute and answers at once, for each user apart; and how
long the server waits for a slow client.

Requests are counted over all assistants on one Qdrant server. Answers under way are counted in each
process, because they take its memory and its threads. A client that sends half of a request and
then nothing costs a connection for as long as the server waits for it.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple, Protocol

from assistant.access.doorkeeper import ANYBODY, Caller
from assistant.errors import InvalidRequest, TooManyRequests
from assistant.settings.groups import LimitSettings
from memory_store import Documents

Who = tuple[str, str]
"""The id of a key, and the user."""

_MOST_REMEMBERED = 10_000
_MINUTE = 60.0
# A worker takes several requests at once from a shared budget, and may use them for so long. It
# takes a 120th of those of a minute: at full speed it asks twice a second.
_HELD_SECONDS = 2.0
_TAKES_A_MINUTE = 120


class _Bucket(NamedTuple):
    """How many of a minute's requests were left at a time: a token bucket."""

    left: float
    since: float

    def at(self, now: float, per_minute: int, most: float) -> float:
        """The requests that are left by `now`. `since` may be later, by another machine's clock."""
        return min(most, self.left + max(0.0, now - self.since) * per_minute / _MINUTE)


def _wait(left: float, per_minute: int) -> float:
    """Seconds until there is one request more."""
    return (1 - left) * _MINUTE / per_minute


class Budgets(Protocol):
    """The budgets of requests, by user and key."""

    async def take(self, who: Who, per_minute: int) -> float:
        """Take one request. Return 0.0, or the seconds until there is one to take."""


class OwnBudgets:
    """Budgets of one process."""

    def __init__(self, seconds: Callable[[], float]) -> None:
        self._seconds = seconds
        self._buckets: dict[Who, _Bucket] = {}

    async def take(self, who: Who, per_minute: int) -> float:
        """See `Budgets.take`."""
        now = self._seconds()
        bucket = self._buckets.get(who, _Bucket(per_minute, now))
        left = bucket.at(now, per_minute, per_minute)
        if left < 1:
            return _wait(left, per_minute)
        self._buckets[who] = _Bucket(left - 1, now)
        if len(self._buckets) > _MOST_REMEMBERED:
            # After a minute without a request all is left again.
            self._buckets = {w: b for w, b in self._buckets.items() if now - b.since < _MINUTE}
        return 0.0


@dataclass(slots=True)
class _Share:
    """What one process holds of a budget."""

    requests: int = 0
    until: float = 0.0
    """When the held requests expire; where there are none, when there will be one to take."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class SharedBudgets:
    """Budgets of all processes on one Qdrant server, each budget in a document. Where many requests
    are allowed, a process takes several of them at once.

    Taken requests count as used, so all processes together never get more than one alone would.
    """

    def __init__(self, documents: Documents, seconds: Callable[[], float]) -> None:
        """`seconds` are those of a clock that all machines agree about."""
        self._documents = documents
        self._seconds = seconds
        self._shares: dict[Who, _Share] = {}

    async def take(self, who: Who, per_minute: int) -> float:
        """See `Budgets.take`. Raises the errors of the store: without it no request is allowed."""
        self._forget_idle()
        share = self._shares.setdefault(who, _Share())
        async with share.lock:
            if self._seconds() >= share.until:
                await self._renew(share, who, per_minute)
            if not share.requests:
                return max(share.until - self._seconds(), 0.001)
            share.requests -= 1
            if not share.requests:
                share.until = 0.0
            return 0.0

    async def _renew(self, share: _Share, who: Who, per_minute: int) -> None:
        """Take requests out of the common budget, unless there are none."""
        name = f"requests:{who[0]}:{who[1]}"
        wanted = max(1, per_minute // _TAKES_A_MINUTE)
        # A worker may use what it holds later than others use theirs, so the bucket holds that much
        # less.
        held = _HELD_SECONDS if wanted > 1 else 0.0
        most = per_minute * (1 - held / _MINUTE)
        done, there = False, await self._documents.read(name)
        while not done:
            now = self._seconds()
            bucket = _Bucket(**there.body) if there.body else _Bucket(most, now)
            left = bucket.at(now, per_minute, most)
            if left < 1:
                share.requests, share.until = 0, now + _wait(left, per_minute)
                return
            taken = min(wanted, int(left))
            body = _Bucket(left - taken, max(now, bucket.since))._asdict()
            over = datetime.fromtimestamp(now + 2 * _MINUTE, UTC)
            done, there = await self._documents.write(name, body, there, until=over)
        share.requests, share.until = taken, now + _HELD_SECONDS

    def _forget_idle(self) -> None:
        if len(self._shares) > _MOST_REMEMBERED:
            now = self._seconds()
            self._shares = {
                who: share
                for who, share in self._shares.items()
                if share.lock.locked() or share.until > now
            }


# The limits of a server that has keys and whose settings give no limits.
REQUESTS_PER_MINUTE = 1200
ANSWERS_AT_ONCE = 32

# Bounds against mistakes and floods. They are no settings, because `max_body_bytes` bounds a whole
# request, and no encoder reads this far into a query.
MESSAGES = 10_000
QUERY_CHARACTERS = 32_768


class RequestLimits:
    """The limits of one server. 0 is no limit."""

    def __init__(
        self,
        settings: LimitSettings,
        *,
        messages: int = MESSAGES,
        query_characters: int = QUERY_CHARACTERS,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._messages = messages
        self._query_characters = query_characters
        self.budgets: Budgets = OwnBudgets(seconds)
        self._answering: Counter[Who] = Counter()

    async def count_request(self, caller: Caller, user_id: str) -> None:
        """Count a request of a user. Raises `TooManyRequests`."""
        per_minute = _limit(self._settings.requests_per_minute, REQUESTS_PER_MINUTE, caller)
        if not per_minute:
            return
        wait = await self.budgets.take((caller.key_id, user_id), per_minute)
        if wait:
            raise TooManyRequests(
                f"rate limit: {per_minute} requests per minute and user; retry later",
                retry_after=wait,
            )

    @contextmanager
    def answering(self, caller: Caller, user_id: str) -> Iterator[None]:
        """Count an answer to a user as under way within the block. Raises `TooManyRequests`."""
        at_once = _limit(self._settings.answers_at_once, ANSWERS_AT_ONCE, caller)
        who = (caller.key_id, user_id)
        if at_once and self._answering[who] >= at_once:
            raise TooManyRequests(
                f"limit of {at_once} concurrent answers per user reached; wait for one to finish",
                retry_after=1,
            )
        self._answering[who] += 1
        try:
            yield
        finally:
            self._answering[who] -= 1
            if not self._answering[who]:
                del self._answering[who]

    def check_messages(self, texts: Sequence[str], *, param: str = "messages") -> None:
        """Raises `InvalidRequest` for too many messages, or facts, in one request, or too long
        ones."""
        if 0 < self._messages < len(texts):
            raise InvalidRequest(
                f"more than {self._messages} {param} in one request",
                code=f"too_many_{param}",
                param=param,
            )
        for text in texts:
            _check_length(text, self._settings.message_characters, param)

    def check_query(self, text: str) -> None:
        """Raises `InvalidRequest` for a query that is too long."""
        _check_length(text, self._query_characters, "query")


def _limit(given: int | None, default: int, caller: Caller) -> int:
    if given is not None:
        return given
    return 0 if caller is ANYBODY else default


def _check_length(text: str, most: int, param: str) -> None:
    if 0 < most < len(text):
        raise InvalidRequest(f"text is longer than {most} characters", code="too_long", param=param)


@dataclass(frozen=True, slots=True)
class ClientPatience:
    """How long the server waits for a client, and how many bytes it takes. Tests wait less.

    These are no settings: what an honest client on a bad line needs is the same for every operator.
    """

    head_seconds: float = 20
    """For the whole head of a request, from when the connection is made or the last request is
    answered. A head is sent at once, in a packet or two."""
    head_bytes: int = 65_536
    """Most bytes of a head; clients and proxies keep to 8 to 32 KiB."""
    idle_seconds: int = 5
    """Between two requests. Clients that keep connections for longer try again on a new one."""
    body_seconds: float = 20
    """For a body of any length, in addition to the time that its bytes may take."""
    body_bytes_per_second: float = 1_000
    """The slowest sender that is waited for, as slow as a modem of 1993: 1 MiB may take 18
    minutes."""
    silence_seconds: float = 30
    """For the next bytes of a body, however many came before: a phone in a tunnel comes back."""
    unread_seconds: float = 20
    """For the rest of a body that was answered without being read. Many clients look at the answer
    only when they have sent everything."""
    reading_seconds: float = 300
    """For a client that has stopped reading an answer to read on."""

    def body_deadline(self, begun: float, heard: float, received: int) -> float:
        """When to give up a body that began at `begun`, of which `received` bytes have come, the
        last of them at `heard`."""
        slowest = begun + self.body_seconds + received / self.body_bytes_per_second
        return min(slowest, heard + self.silence_seconds)
