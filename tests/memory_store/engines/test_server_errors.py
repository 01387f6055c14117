"""Every failure of a Qdrant server has its meaning, and only failures that pass are tried again."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
import pytest
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
from qdrant_client.grpc import HealthCheckReply

from memory_store.engines._server.connection import (
    Address,
    Connection,
    RetryLimits,
    addresses_of,
    explained,
    passing,
    refuse_old,
    tried_again,
)
from memory_store.errors import StoreDenied, StoreMismatch, StoreUnavailable

HERE = str(Address("http://127.0.0.1:6333", 6334))
EXACT = {
    grpc.StatusCode.UNAUTHENTICATED: StoreDenied,
    grpc.StatusCode.PERMISSION_DENIED: StoreDenied,
    grpc.StatusCode.INVALID_ARGUMENT: StoreMismatch,
}


def failure(code: grpc.StatusCode) -> grpc.aio.AioRpcError:
    empty = grpc.aio.Metadata()
    return grpc.aio.AioRpcError(code, empty, empty, details="as it is.")


@pytest.mark.parametrize("code", list(grpc.StatusCode))
def test_every_status_is_explained(code: grpc.StatusCode) -> None:
    error = explained(failure(code), HERE)
    assert type(error) is EXACT.get(code, StoreUnavailable)
    assert "http://127.0.0.1:6333" in str(error)
    assert "as it is" in str(error)


@pytest.mark.parametrize(
    "error", [QdrantException("full"), RuntimeError("closed"), ValueError("what"), OSError(5, "io")]
)
def test_any_other_failure_is_the_stores_too(error: Exception) -> None:
    assert isinstance(explained(error, HERE), StoreUnavailable)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://127.0.0.1:6333", "http://127.0.0.1:6333"),
        ("https://ann:hunter2@qdrant.test:6333/db", "https://qdrant.test:6333/db"),
        ("https://qdrant.test?api-key=hunter2#hunter2", "https://qdrant.test"),
    ],
)
def test_an_address_is_shown_without_secrets(url: str, shown: str) -> None:
    assert str(Address(url, 6334)) == f"{shown} (gRPC port 6334)"


def test_several_addresses_are_those_of_nodes() -> None:
    found = addresses_of("http://127.0.0.1:6333, http://127.0.0.2:6333", 6334)
    assert [one.url for one in found] == ["http://127.0.0.1:6333", "http://127.0.0.2:6333"]
    with pytest.raises(StoreUnavailable, match="qdrant_url"):
        addresses_of("http://127.0.0.1:6333,", 6334)


def test_certificates_are_read_for_https_alone() -> None:
    assert Address("https://qdrant.test:6333", 6334).trust is True
    nobody = Address("http://127.0.0.1:6333", 6334).trust
    assert isinstance(nobody, ssl.SSLContext)
    assert nobody.verify_mode is ssl.CERT_REQUIRED
    assert nobody.cert_store_stats()["x509_ca"] == 0


@pytest.mark.parametrize("url", ["http://[half", "hunter2@qdrant.test:6333", "ftp://a:hunter2@b"])
def test_what_is_no_address_is_refused_without_its_secrets(url: str) -> None:
    with pytest.raises(StoreUnavailable, match="must be like http") as refused:
        Address(url, 6334)
    assert "hunter2" not in str(refused.value)


def test_our_own_errors_stay_what_they_are() -> None:
    ours = StoreMismatch("other")
    assert explained(ours, HERE) is ours


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (failure(grpc.StatusCode.UNAVAILABLE), True),
        (failure(grpc.StatusCode.DEADLINE_EXCEEDED), True),
        (failure(grpc.StatusCode.INTERNAL), True),
        (ResourceExhaustedResponse("busy", 1), True),
        (failure(grpc.StatusCode.UNAUTHENTICATED), False),
        (failure(grpc.StatusCode.INVALID_ARGUMENT), False),
        (failure(grpc.StatusCode.NOT_FOUND), False),
        (ValueError("a fault of ours"), False),
    ],
)
def test_only_what_passes_is_tried_again(error: Exception, expected: bool) -> None:
    assert passing(error) is expected


def refusal(version: str) -> str | None:
    """What is said to a server of this version; None where it is taken."""
    try:
        refuse_old(version, HERE)
    except StoreUnavailable as refused:
        return str(refused)
    return None


@pytest.mark.parametrize("version", ["1.16.0", "1.16.3", "1.20.1-dev", "2.0.0", "unknown"])
def test_a_server_new_enough_is_taken(version: str) -> None:
    assert refusal(version) is None


@pytest.mark.parametrize("version", ["1.15.9", "1.9.0", "0.11.1"])
def test_a_server_too_old_is_refused(version: str) -> None:
    assert f"{version}: upgrade it to 1.16" in str(refusal(version))


class Flaky:
    """Fails so many times, then succeeds."""

    def __init__(self, failures: int, error: Exception) -> None:
        self.failures, self.error, self.calls = failures, error, 0

    async def __call__(self) -> str:
        self.calls += 1
        if self.calls <= self.failures:
            raise self.error
        return "done"


AWAY = failure(grpc.StatusCode.UNAVAILABLE)


async def test_a_call_is_tried_again_until_it_works() -> None:
    call = Flaky(2, AWAY)
    assert await tried_again(call, RetryLimits(2, seconds=10), passing) == "done"
    assert call.calls == 3


@pytest.mark.parametrize(
    ("error", "patience", "calls"),
    [
        (AWAY, RetryLimits(1, seconds=10), 2),
        (AWAY, RetryLimits(0, seconds=10), 1),
        (AWAY, RetryLimits(5, seconds=0.0), 1),
        (failure(grpc.StatusCode.UNAUTHENTICATED), RetryLimits(5, seconds=10), 1),
    ],
)
async def test_trying_again_ends(error: Exception, patience: RetryLimits, calls: int) -> None:
    call = Flaky(9, error)
    with pytest.raises(grpc.aio.AioRpcError):
        await tried_again(call, patience, passing)
    assert call.calls == calls


def test_waits_double_and_differ() -> None:
    patience = RetryLimits(5, seconds=10)
    for retry in range(5):
        waits = {patience.wait_before(retry) for _ in range(20)}
        assert len(waits) > 1
        assert all(0.05 * 2**retry <= wait <= 0.1 * 2**retry for wait in waits)


@asynccontextmanager
async def garbled(times: int) -> AsyncIterator[int]:
    """The port of a Qdrant server whose first so many health checks are no protocol buffers."""
    replies = [b"\xff"] * times

    async def health(_request: bytes, _context: grpc.aio.ServicerContext) -> bytes:
        return replies.pop() if replies else HEALTHY

    method = grpc.unary_unary_rpc_method_handler(health)
    server = grpc.aio.server()
    server.add_generic_rpc_handlers(
        [grpc.method_handlers_generic_handler("qdrant.Qdrant", {"HealthCheck": method})]
    )
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield port
    finally:
        await server.stop(0)


HEALTHY = HealthCheckReply(title="qdrant", version="1.20.0").SerializeToString()


def connection(port: int, retries: int) -> Connection:
    url = "http://127.0.0.1:6333"
    return Connection(url, grpc_port=port, api_key=None, timeout=5, retries=retries)


async def test_a_reply_that_cannot_be_read_is_asked_for_again() -> None:
    async with garbled(1) as port:
        opened = connection(port, retries=2)
        await opened.open()
        await opened.close()


async def test_replies_that_can_never_be_read_are_the_servers_fault() -> None:
    async with garbled(9) as port:
        with pytest.raises(StoreUnavailable, match="sent a reply that cannot be read"):
            await connection(port, retries=1).open()
