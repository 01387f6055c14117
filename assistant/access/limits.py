"""How much one caller gets: requests a minute and answers at once, for each user apart.

Requests are counted over all assistants on one Qdrant server; answers under way, as the memory and
the threads that they take, in each process.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from assistant.access.budgets import Budgets, OwnBudgets, Who
from assistant.access.doorkeeper import ANYBODY, Caller
from assistant.errors import InvalidRequest, TooManyRequests
from assistant.settings.groups import LimitSettings

# What counts where the settings say nothing and there are keys; without keys nothing is limited.
REQUESTS_PER_MINUTE = 1200
ANSWERS_AT_ONCE = 32

# Against mistakes and floods, not for an operator to weigh: all of a request is bounded by
# `max_body_bytes`, and no encoder reads this far into a query.
MESSAGES = 10_000
QUERY_CHARACTERS = 32_768


class Limits:
    """The limits of one server. 0 is none."""

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
        """While an answer to a user is under way. Raises `TooManyRequests`."""
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
