"""What a Qdrant server's failures mean: which pass by themselves, and what to do about others."""

import re
import ssl
from dataclasses import dataclass
from urllib.parse import urlsplit

import grpc
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
    """Where the server is."""

    url: str
    grpc_port: int

    def __post_init__(self) -> None:
        """Refuse what is no address (`StoreUnavailable`)."""
        try:
            parts = urlsplit(self.url)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname)
        except ValueError:
            usable = False
        if not usable:
            raise StoreUnavailable(f"qdrant_url must be like http://127.0.0.1:6333, not {self}")

    @property
    def trust(self) -> ssl.SSLContext | bool:
        """What HTTP verifies the server by. Plain http needs no certificate authorities, which
        take longer to read than the rest of connecting: it gets a context that trusts nobody."""
        is_plain = urlsplit(self.url).scheme == "http"
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if is_plain else True

    def __str__(self) -> str:
        """The address for messages: no user, password or query, which may be secrets."""
        return f"{_shown(self.url)} (gRPC port {self.grpc_port})"


def addresses_of(urls: str, grpc_port: int) -> list[Address]:
    """One address or several, with commas between them."""
    return [Address(url.strip(), grpc_port) for url in urls.split(",")]


def _shown(url: str) -> str:
    """What is left of an address, or of what was to be one, without user, password and query."""
    scheme, slashes, rest = re.split(r"[?#]", url)[0].rpartition("//")
    return f"{scheme}{slashes}{rest.rpartition('@')[2]}"


def passing(error: Exception) -> bool:
    """Whether the call may succeed when tried again: the server is away, busy or late."""
    if isinstance(error, grpc.RpcError):
        return _code(error) in _PASSING
    return isinstance(error, QdrantException)  # the server names the seconds to wait


def is_gone(error: Exception) -> bool:
    """Whether the server says that a point which was to be changed is not there."""
    is_call = isinstance(error, grpc.RpcError) and _code(error) is _Code.NOT_FOUND
    return is_call and "No point with id" in _details(error)


def lacks_replicas(error: Exception) -> bool:
    """Whether the server cannot ask as many replicas as it was to."""
    is_call = isinstance(error, grpc.RpcError) and _code(error) is _Code.INTERNAL
    return is_call and "enough active replicas" in _details(error)


def explained(error: Exception, address: str) -> MemoryStoreError:
    """Any failure of a call, turned into what the operator can do about it."""
    if isinstance(error, MemoryStoreError):
        return error
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
