"""A gate for those who may work side by side and for one who must be alone."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar


class Gate:
    """Lets many in side by side; and one who must be alone, once they have left."""

    def __init__(self) -> None:
        self._inside = 0
        self._turn = asyncio.Lock()
        self._left = asyncio.Event()
        self._left.set()

    @asynccontextmanager
    async def beside_others(self) -> AsyncIterator[None]:
        """Be one of many. Whoever is inside does not come in again: it might wait for itself."""
        async with self._turn:
            self._inside += 1
            self._left.clear()
        try:
            yield
        finally:
            self._inside -= 1
            if not self._inside:
                self._left.set()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Be the only one; who comes now waits."""
        async with self._turn:
            await self._left.wait()
            yield


class Gated(Protocol):
    """What has a gate for those who write."""

    writes: Gate


_Owner = TypeVar("_Owner", bound=Gated)
_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


def beside_others(
    method: Callable[Concatenate[_Owner, _Given], Coroutine[Any, Any, _Result]],
) -> Callable[Concatenate[_Owner, _Given], Coroutine[Any, Any, _Result]]:
    """A method that writes, and waits while one must be alone. It calls no other such method."""

    @wraps(method)
    async def gated(owner: _Owner, /, *given: _Given.args, **named: _Given.kwargs) -> _Result:
        async with owner.writes.beside_others():
            return await method(owner, *given, **named)

    return gated
