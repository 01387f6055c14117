"""The connection to a Qdrant server: addresses in turn, failed calls repeated, failures explained.

Several addresses belong to the nodes of one cluster. Calls go to one node; if it is away, they go
to the next one, and stay there.
"""

import asyncio
import random
import re
import ssl
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlsplit

import grpc
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException

from memory_store.errors import MemoryStoreError, StoreDenied, StoreMismatch, StoreUnavailable

_OLDEST = (1, 16)
_Code = grpc.StatusCode
_PASSING = {
    _Code.UNAVAILABLE,
    _Code.DEADLINE_EXCEEDED,
    _Code.RESOURCE_EXHAUSTED,
    _Code.ABORTED,
    _Code.CANCELLED,
    _Code.INTERNAL,
    _Code.UNKNOWN,
}
_DENIED = {_Code.UNAUTHENTICATED, _Code.PERMISSION_DENIED}


@dataclass(frozen=True, slots=True)
class Address:
    """The address of the server."""

    url: str
    grpc_port: int

    def __post_init__(self) -> None:
        """Raise `StoreUnavailable` if the URL is not an address."""
        try:
            parts = urlsplit(self.url)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname)
        except ValueError:
            usable = False
        if not usable:
            raise StoreUnavailable(f"qdrant_url must be like http://127.0.0.1:6333, not {self}")

    @property
    def trust(self) -> ssl.SSLContext | bool:
        """How HTTP verifies the server. Plain http needs no certificate authorities, and reading
        them takes longer than the rest of connecting, so it gets a context that trusts nobody."""
        is_plain = urlsplit(self.url).scheme == "http"
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if is_plain else True

    def __str__(self) -> str:
        """The address for messages: no user, password or query, which may be secrets."""
        return f"{_shown(self.url)} (gRPC port {self.grpc_port})"


def addresses_of(urls: str, grpc_port: int) -> list[Address]:
    """The addresses in a text of one or several, with commas between them."""
    return [Address(url.strip(), grpc_port) for url in urls.split(",")]


def _shown(url: str) -> str:
    """The text of an address, valid or not, without user, password and query."""
    scheme, slashes, rest = re.split(r"[?#]", url)[0].rpartition("//")
    return f"{scheme}{slashes}{rest.rpartition('@')[2]}"


def passing(error: Exception) -> bool:
    """Whether the call may succeed if repeated, because the server is away, busy or late."""
    if isinstance(error, grpc.RpcError):
        return _code(error) in _PASSING
    # The server asked to wait some seconds, or its reply could not be read.
    return isinstance(error, QdrantException) or _is_unreadable(error)


def _is_unreadable(error: Exception) -> bool:
    """Whether gRPC could not decode a reply. Its asyncio client then logs this and returns None,
    and the Qdrant client fails to read fields of None (grpc/grpc issue 32257)."""
    return isinstance(error, AttributeError) and error.obj is None and bool(error.name)


def is_gone(error: Exception) -> bool:
    """Whether the server says that a point to be changed does not exist."""
    is_call = isinstance(error, grpc.RpcError) and _code(error) is _Code.NOT_FOUND
    return is_call and "No point with id" in _details(error)


def lacks_replicas(error: Exception) -> bool:
    """Whether the server has too few active replicas for the consistency that was asked for."""
    is_call = isinstance(error, grpc.RpcError) and _code(error) is _Code.INTERNAL
    return is_call and "enough active replicas" in _details(error)


def explained(error: Exception, address: str) -> MemoryStoreError:
    """Turn a failure of a call into an error that says what the operator can do."""
    if isinstance(error, MemoryStoreError):
        return error
    if _is_unreadable(error):
        return StoreUnavailable(f"Qdrant at {address} sent a reply that cannot be read")
    if not isinstance(error, grpc.RpcError):
        return StoreUnavailable(f"Qdrant at {address} failed: {error!r}")
    code, details = _code(error), _details(error)
    if code in _DENIED:
        return StoreDenied(
            f"Qdrant at {address} refuses the API key: {details}. "
            "Set qdrant_api_key to one that may read and write"
        )
    if code is _Code.NOT_FOUND:
        return StoreUnavailable(
            f"Qdrant at {address} has lost the memory: {details}. "
            "If it was indexed anew, restart the assistant with the new settings. Otherwise "
            "restore it from a snapshot, or start the assistant anew with an empty one"
        )
    if code is _Code.INVALID_ARGUMENT:
        return StoreMismatch(f"Qdrant at {address} does not take our data: {details}")
    return StoreUnavailable(
        f"cannot use Qdrant at {address}: {details}. Check that it runs there and is not overloaded"
    )


def refuse_old(version: str, address: str) -> None:
    """Raise `StoreUnavailable` for a server without the features used here."""
    numbers = re.match(r"(\d+)\.(\d+)", version)
    if numbers and tuple(map(int, numbers.groups())) < _OLDEST:
        raise StoreUnavailable(
            f"Qdrant at {address} is {version}: "
            f"upgrade it to {'.'.join(map(str, _OLDEST))} or newer"
        )


def _code(error: grpc.RpcError) -> grpc.StatusCode:
    return error.code() if isinstance(error, grpc.aio.AioRpcError) else _Code.UNKNOWN


def _details(error: grpc.RpcError) -> str:
    details = error.details() if isinstance(error, grpc.aio.AioRpcError) else ""
    return (details or _code(error).name).strip().rstrip(".")


_FIRST_WAIT = 0.1
_Tried = TypeVar("_Tried")


@dataclass(frozen=True, slots=True)
class RetryLimits:
    """How often a failed call is repeated, and until how many seconds after the first try."""

    retries: int
    seconds: float

    def wait_before(self, retry: int) -> float:
        """Seconds before the nth retry. They double each time; up to half is left out at random,
        so that many clients do not retry at once."""
        longest = _FIRST_WAIT * 2.0**retry
        return random.uniform(longest / 2, longest)


async def tried_again(
    call: Callable[[], Awaitable[_Tried]],
    patience: RetryLimits,
    passing: Callable[[Exception], bool],
) -> _Tried:
    """The result of the call, repeated after `passing` failures; the last failure is raised."""
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


# Seconds to wait for one call, and the number of retries while the server is away or busy. A
# healthy server answers in milliseconds. Together they bridge a restart of at most twice the
# timeout.
TIMEOUT_SECONDS = 10
RETRIES = 5
# By default gRPC waits up to two minutes before it looks again for a server that went away.
_CHANNEL = {
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.min_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 1000,
}
_Result = TypeVar("_Result")
Work = Callable[[AsyncQdrantClient], Awaitable[_Result]]
Consistency = models.ReadConsistencyType | None


class Connection:
    """Calls of one server, over gRPC. `url` may name several nodes, with commas between them."""

    def __init__(
        self, url: str, *, grpc_port: int, api_key: str | None, timeout: int, retries: int
    ) -> None:
        self._addresses = addresses_of(url, grpc_port)
        self._api_key = api_key
        self._timeout = timeout
        self._patience = RetryLimits(retries, seconds=2.0 * timeout)
        self._clients: list[AsyncQdrantClient] = []
        self._used = 0

    def __str__(self) -> str:
        """All addresses, for messages and identities: the same whichever node is used."""
        return ", ".join(map(str, self._addresses))

    async def open(self) -> None:
        """Connect. Raises `StoreUnavailable` for a server that is away or too old."""
        await self.close()
        self._clients = list(map(self._client, self._addresses))
        try:
            refuse_old((await self.call(lambda client: client.info())).version, str(self))
        except BaseException:
            await self.close()
            raise

    async def call(self, work: Work[_Result]) -> _Result:
        """Do the work; repeat it while the server is away or busy."""

        async def attempt() -> _Result:
            if not self._clients:
                raise StoreUnavailable("the store is closed")
            used = self._used
            try:
                return await work(self._clients[used])
            except Exception as error:
                # Another call may have moved on to the next node already.
                if passing(error) and used == self._used:
                    self._used = (used + 1) % len(self._addresses)
                raise

        try:
            return await tried_again(attempt, self._patience, passing)
        except Exception as error:
            raise explained(error, str(self)) from error

    async def agreed(
        self, work: Callable[[AsyncQdrantClient, Consistency], Awaitable[_Result]]
    ) -> _Result:
        """Read as most replicas have it, so that a write does not count as done if only one of them
        has it, whose node may then die. If most replicas are away, the others count.

        Only call it after a write, which lets the server notice replicas that are away; a read
        goes on asking these.
        """

        async def read(client: AsyncQdrantClient) -> _Result:
            try:
                return await work(client, models.ReadConsistencyType.QUORUM)
            except Exception as error:
                if not lacks_replicas(error):
                    raise
                return await work(client, None)

        return await self.call(read)

    async def close(self) -> None:
        """Close the connections."""
        clients, self._clients = self._clients, []
        for client in clients:
            await client.close()

    def _client(self, address: Address) -> AsyncQdrantClient:
        return AsyncQdrantClient(
            url=address.url,
            grpc_port=address.grpc_port,
            prefer_grpc=True,
            # As a header, because the client warns about any key over http, even to loopback.
            headers={"api-key": self._api_key} if self._api_key else None,
            timeout=self._timeout,
            verify=address.trust,
            check_compatibility=False,  # `refuse_old` checks the version, and stops the start
            grpc_options=dict(_CHANNEL),
        )
