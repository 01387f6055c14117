"""An authorization server before `/mcp`: found by the server's metadata, and used by the SDK's own
client, which begins without a key."""

import secrets
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from calls import record
from pydantic import AnyUrl, SecretStr, ValidationError
from qdrant_binary import free_port
from served import served
from starlette.applications import Starlette

from assistant import Settings, create_app
from assistant.access.keys import KeyFile, new_key
from assistant.settings.groups import OauthSettings

mcp = pytest.importorskip("mcp", reason="needs the extra: pip install 'aide-memoire[mcp]'")
httpx2 = pytest.importorskip("httpx2")
from mcp.client.auth import OAuthClientProvider, TokenStorage  # noqa: E402
from mcp.client.streamable_http import streamable_http_client  # noqa: E402
from mcp.server.auth import provider  # noqa: E402
from mcp.server.auth.routes import create_auth_routes  # noqa: E402
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions  # noqa: E402
from mcp.shared.auth import (  # noqa: E402
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)

METADATA = "/.well-known/oauth-protected-resource"
ISSUER = "https://login.example.org"
BACK = "http://localhost:3030/back"


class AnnsLogin:
    """An authorization server whose one user is Ann; its access tokens are her API key."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._clients: dict[str, OAuthClientInformationFull] = {}
        self._codes: dict[str, provider.AuthorizationCode] = {}
        self.resources: list[str | None] = []

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self._clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        assert client_info.client_id
        self._clients[client_info.client_id] = client_info

    async def authorize(
        self, client: OAuthClientInformationFull, params: provider.AuthorizationParams
    ) -> str:
        code = provider.AuthorizationCode(
            code=secrets.token_urlsafe(24),
            scopes=[],
            expires_at=time.time() + 60,
            client_id=str(client.client_id),
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        self._codes[code.code] = code
        self.resources.append(params.resource)
        return provider.construct_redirect_uri(
            str(params.redirect_uri), code=code.code, state=params.state
        )

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> provider.AuthorizationCode | None:
        return self._codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: provider.AuthorizationCode
    ) -> OAuthToken:
        del self._codes[authorization_code.code]
        return OAuthToken(access_token=self._key)


@dataclass
class Kept(TokenStorage):
    """What a client keeps of its logins."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


@dataclass
class Browser:
    """Opens the login page for Ann, who agrees, and brings back where it sends her."""

    sent_to: Mapping[str, list[str]] = field(default_factory=dict)

    async def open(self, url: str) -> None:
        async with httpx.AsyncClient() as http:
            reply = await http.get(url)
        assert reply.status_code == 302
        self.sent_to = parse_qs(urlsplit(reply.headers["location"]).query)

    async def back(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult(**{name: values[0] for name, values in self.sent_to.items()})


@pytest.fixture
def anns_key(tmp_path: Path) -> str:
    made = new_key("ann", "ann", (), created_at="now")
    KeyFile(tmp_path / "keys.json").add(made.key)
    return made.token


@pytest.fixture
def login(anns_key: str) -> Iterator[tuple[str, AnnsLogin]]:
    """An authorization server and its URL."""
    port = free_port()
    issuer, server = f"http://127.0.0.1:{port}", AnnsLogin(anns_key)
    routes = create_auth_routes(
        server,
        # As a type of its own a URL without a path would get one, and be another issuer.
        AuthSettings(issuer_url=issuer, resource_server_url=None).issuer_url,
        client_registration_options=ClientRegistrationOptions(enabled=True),
    )
    with served(Starlette(routes=routes), port=port):
        yield issuer, server


async def test_a_client_without_a_key_logs_in(
    tmp_path: Path, login: tuple[str, AnnsLogin], anns_key: str
) -> None:
    issuer, server = login
    settings = Settings(
        embedder="hash",
        data_dir=tmp_path,
        api_key=SecretStr("the key of the operator"),
        oauth=OauthSettings(authorization_servers=[issuer]),
    )
    with served(create_app(settings)) as url:
        operator = {"Authorization": "Bearer the key of the operator"}
        with httpx.Client(base_url=url, headers=operator) as http:
            for user in ("ann", "eve"):
                record(http, user, "s", f"My name is {user}.", "Hello.")
        browser, kept = Browser(), Kept()
        auth = OAuthClientProvider(
            f"{url}/mcp",
            OAuthClientMetadata(client_name="a test", redirect_uris=[AnyUrl(BACK)]),
            kept,
            redirect_handler=browser.open,
            callback_handler=browser.back,
        )
        async with (
            httpx2.AsyncClient(auth=auth, timeout=60) as http2,
            mcp.Client(streamable_http_client(f"{url}/mcp", http_client=http2)) as client,
        ):
            told = await client.call_tool("list", {})
        said = [one["user_text"] for one in told.structured_content["memories"]]
        assert said == ["My name is ann."]
        assert kept.tokens is not None
        assert kept.tokens.access_token == anns_key
        # The token is asked for this server and no other.
        assert server.resources == [f"{url}/mcp"]


def served_with(tmp_path: Path, **oauth: Any) -> Any:
    settings = Settings(
        embedder="hash",
        data_dir=tmp_path,
        api_key=SecretStr("the key of the operator"),
        oauth=OauthSettings(**oauth),
    )
    return served(create_app(settings))


@pytest.mark.parametrize(
    ("resource", "metadata_at"),
    [
        ("", "{url}/.well-known/oauth-protected-resource/mcp"),
        (
            "https://memory.example.org/mcp",
            "https://memory.example.org/.well-known/oauth-protected-resource/mcp",
        ),
        (
            "https://example.org/memory/mcp",
            "https://example.org/.well-known/oauth-protected-resource/memory/mcp",
        ),
    ],
)
def test_a_refusal_says_where_to_get_access(
    tmp_path: Path, resource: str, metadata_at: str
) -> None:
    with served_with(tmp_path, authorization_servers=[ISSUER], resource=resource) as url:
        reply = httpx.post(f"{url}/mcp", json={})
        assert reply.status_code == 401
        at = metadata_at.format(url=url)
        assert reply.headers["www-authenticate"] == f'Bearer resource_metadata="{at}"'
        # OAuth is for MCP clients; whoever calls another route has a key.
        assert httpx.get(f"{url}/v1/models").headers["www-authenticate"] == "Bearer"
        for path in (METADATA, f"{METADATA}/mcp"):
            found = httpx.get(f"{url}{path}")
            assert found.status_code == 200
            assert found.json()["resource"] == (resource or f"{url}/mcp")
            assert found.json()["authorization_servers"] == [ISSUER]
        odd = httpx.post(f"{url}/mcp", json={}, headers={"Host": 'a"b'})
        assert odd.status_code == 400


def test_the_token_of_somebody_else_opens_nothing(tmp_path: Path) -> None:
    """Metadata only says where to go: what opens the server is a key of its own."""
    with served_with(tmp_path, authorization_servers=[ISSUER]) as url:
        unsigned = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm4ifQ."
        reply = httpx.post(f"{url}/mcp", headers={"Authorization": f"Bearer {unsigned}"})
        assert reply.status_code == 401
        assert METADATA in reply.headers["www-authenticate"]


def test_without_an_authorization_server_there_is_no_metadata(tmp_path: Path) -> None:
    with served_with(tmp_path) as url:
        reply = httpx.get(f"{url}{METADATA}")
        assert reply.status_code == 404
        assert reply.json()["error"]["code"] == "no_authorization_server"
        assert httpx.post(f"{url}/mcp").headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "wrong", ["login.example.org", "https://a b", 'https://a"b', "https://u:p@a", "https://a?b"]
)
def test_what_is_no_url_is_refused(wrong: str) -> None:
    with pytest.raises(ValidationError):
        OauthSettings(authorization_servers=[wrong])
    with pytest.raises(ValidationError):
        OauthSettings(resource=wrong)
