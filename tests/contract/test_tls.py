"""Whom our HTTP clients trust: https is verified always, and plain http needs no certificates."""

import ssl
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
import trustme
from fastapi import FastAPI, Request, Response
from served import served

import assistant.tls
import harness.assistants.endpoint
from assistant.cli.connection import ServerConnection, ServerError
from assistant.errors import ModelUnavailable
from assistant.models.chat_model import Message
from assistant.models.server_model import ServerModel
from assistant.models.token_counter import Prices
from assistant.settings import LanguageModel
from harness.assistants.endpoint import Endpoint
from harness.assistants.transport import Transport


async def by_command(url: str) -> bool:
    """Whether the terminal commands reach an assistant."""
    try:
        with ServerConnection(url) as connection:
            connection.check()
    except ServerError:
        return False
    return True


async def by_model(url: str) -> bool:
    """Whether the assistant reaches a chat model."""
    model = ServerModel(
        LanguageModel(name="openai/fake", base_url=url, api_key="k", timeout=5), Prices()
    )
    try:
        return [piece.text async for piece in model.stream([Message("user", "hi")], {})] == []
    except ModelUnavailable:
        return False
    finally:
        await model.close()


async def by_harness(url: str) -> bool:
    """Whether the harness reaches an assistant."""
    async with Transport(Endpoint(url)) as transport:
        return await transport.is_alive()


Reaches = Callable[[str], Awaitable[bool]]
every_client = pytest.mark.parametrize("reaches", [by_command, by_model, by_harness])
every_trust = pytest.mark.parametrize(
    "trust_for",
    [assistant.tls.trust_for, harness.assistants.endpoint.trust_for],
    ids=["assistant", "harness"],
)


@dataclass
class Site:
    """A server that answers all alike, and the paths it was asked for."""

    url: str
    asked: list[str] = field(default_factory=list)


@contextmanager
def site(certificate: Path | None = None, moved_to: str | None = None) -> Iterator[Site]:
    """Over https where a certificate is given; it may send everybody elsewhere."""
    app, asked = FastAPI(), list[str]()

    @app.api_route("/{path:path}", methods=["GET", "POST"])
    def answer(request: Request) -> Response:
        asked.append(request.url.path)
        if moved_to:
            return Response(status_code=307, headers={"Location": moved_to})
        return Response("data: [DONE]\n\n", media_type="text/event-stream")

    with served(app, certificate=certificate) as url:
        yield Site(url, asked)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def trusted(
    authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """The one authority that this process trusts, as a file."""
    file = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(file)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    harness.assistants.endpoint.authorities.cache_clear()
    yield file
    harness.assistants.endpoint.authorities.cache_clear()


def issued(by: trustme.CA, folder: Path, name: str = "127.0.0.1") -> Path:
    """A certificate with its key, as a file."""
    file = folder / "server.pem"
    by.issue_cert(name).private_key_and_cert_chain_pem.write_to_path(file)
    return file


@every_client
async def test_a_server_is_trusted_by_its_authority(
    reaches: Reaches, authority: trustme.CA, trusted: Path, tmp_path: Path
) -> None:
    with site(issued(authority, tmp_path)) as server:
        assert server.url.startswith("https://")
        assert await reaches(server.url)
    assert server.asked


@every_client
@pytest.mark.usefixtures("trusted")
async def test_a_server_of_another_authority_is_told_nothing(
    reaches: Reaches, tmp_path: Path
) -> None:
    with site(issued(trustme.CA(), tmp_path)) as server:
        assert not await reaches(server.url)
    assert server.asked == []


@every_client
@pytest.mark.usefixtures("trusted")
async def test_a_server_of_another_name_is_told_nothing(
    reaches: Reaches, authority: trustme.CA, tmp_path: Path
) -> None:
    with site(issued(authority, tmp_path, "elsewhere.test")) as server:
        assert not await reaches(server.url)
    assert server.asked == []


@every_client
async def test_plain_http_reads_no_certificates(
    reaches: Reaches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/authorities.pem")
    with site() as server:
        assert await reaches(server.url)


@every_client
@pytest.mark.usefixtures("trusted")
async def test_nobody_is_followed_from_http_to_https(
    reaches: Reaches, authority: trustme.CA, tmp_path: Path
) -> None:
    with site(issued(authority, tmp_path)) as secure, site(moved_to=secure.url) as server:
        await reaches(server.url)
    assert server.asked
    assert secure.asked == []


@every_trust
@pytest.mark.usefixtures("trusted")
def test_an_http_client_that_did_follow_would_trust_nobody(
    trust_for: Callable[[str], ssl.SSLContext], authority: trustme.CA, tmp_path: Path
) -> None:
    with (
        site(issued(authority, tmp_path)) as secure,
        site(moved_to=secure.url) as server,
        httpx.Client(verify=trust_for(server.url), follow_redirects=True) as client,
        pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"),
    ):
        client.get(server.url)
    assert secure.asked == []


@every_trust
@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize(
    ("url", "authorities"),
    [
        ("http://127.0.0.1:8080", 0),
        ("HTTP://Example.test", 0),
        ("https://example.test", 1),
        ("HTTPS://example.test/v1", 1),
        ("example.test", 1),
        ("", 1),
    ],
)
def test_only_plain_http_goes_without(
    trust_for: Callable[[str], ssl.SSLContext], url: str, authorities: int
) -> None:
    trust = trust_for(url)
    assert trust.cert_store_stats()["x509_ca"] == authorities
    assert trust.verify_mode is ssl.CERT_REQUIRED
    assert trust.check_hostname
