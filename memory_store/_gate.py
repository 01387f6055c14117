"""A gate for tasks that may run side by side and for a task that must run alone."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar


class Gate:
    """Lets many tasks in side by side; a task that must be alone gets in once they have left."""

    def __init__(self) -> None:
        self._inside = 0
        self._turn = asyncio.Lock()
        self._left = asyncio.Event()
        self._left.set()

    @asynccontextmanager
    async def beside_others(self) -> AsyncIterator[None]:
        """Be one of many. A task inside must not enter again: it might wait for itself."""
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
        """Be the only one; tasks that come meanwhile wait."""
        async with self._turn:
            await self._left.wait()
            yield


class Gated(Protocol):
    """An object that has a gate for its writing methods."""

    writes: Gate


_Owner = TypeVar("_Owner", bound=Gated)
_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


def beside_others(
    method: Callable[Concatenate[_Owner, _Given], Coroutine[Any, Any, _Result]],
) -> Callable[Concatenate[_Owner, _Given], Coroutine[Any, Any, _Result]]:
    """Make a writing method wait while a task must be alone. It must call no other such method."""

    @wraps(method)
    async def gated(owner: _Owner, /, *given: _Given.args, **named: _Given.kwargs) -> _Result:
        async with owner.writes.beside_others():
            return await method(owner, *given, **named)

    return gated
