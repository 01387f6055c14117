"""Calls tried again while that can help. Only for calls that may be repeated without harm."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

_FIRST_WAIT = 0.1
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a failed call is tried again, and how long after the first try it still may be."""

    retries: int
    seconds: float

    def wait_before(self, retry: int) -> float:
        """Seconds before the nth retry: doubling, of which a random half, so that crowds spread."""
        longest = _FIRST_WAIT * 2.0**retry
        return random.uniform(longest / 2, longest)


async def tried_again(
    call: Callable[[], Awaitable[_Result]],
    patience: Patience,
    passing: Callable[[Exception], bool],
) -> _Result:
    """The result of the call, or its last failure; only `passing` failures are tried again."""
    started = time.monotonic()
    for retry in range(patience.retries):
        try:
            return await call()
        except Exception as error:
            wait = patience.wait_before(retry)
            late = time.monotonic() + wait - started > patience.seconds
            if late or not passing(error):
                raise
        await asyncio.sleep(wait)
    return await call()
