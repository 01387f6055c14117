"""Keys over HTTP: who is let in, as whom, and when."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import httpx
import openai
import pytest
from calls import assert_error, chat, rounds
from served import served

from assistant import Settings, create_app
from assistant.access.keys import KeyFile, KeyScope, NewKey, new_key
from assistant.answering.phrases import HELLO

NOW = datetime(2023, 6, 10, 9, tzinfo=UTC)
Clients = Mapping[str, httpx.Client]
KEYS: Mapping[str, tuple[str | None, tuple[KeyScope, ...]]] = {
    "ann": ("ann", ()),
    "eve": ("eve", ()),
    "dated": ("dan", (KeyScope.SET_TIME,)),
    "front-end": (None, (KeyScope.ACT_AS,)),
    "harness": (None, (KeyScope.ACT_AS, KeyScope.SET_TIME)),
    "admin": (None, (KeyScope.ADMIN,)),
}
ANOTHER_TIME = "2020-01-01T00:00:00Z"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("keyed")


@pytest.fixture(scope="module")
def keys(folder: Path) -> Mapping[str, NewKey]:
    file = KeyFile(folder / "keys.json")
    made = {
        label: new_key(label, user, scopes, created_at="now")
        for label, (user, scopes) in KEYS.items()
    }
    for one in made.values():
        file.add(one.key)
    return made


@pytest.fixture(scope="module")
def url(folder: Path, keys: Mapping[str, NewKey]) -> Iterator[str]:
    settings = Settings(embedder="hash", data_dir=folder, allowed_origins=["https://chat.example"])
    with served(create_app(settings, clock=lambda: NOW)) as url:
        yield url


@pytest.fixture(scope="module")
def clients(url: str, keys: Mapping[str, NewKey]) -> Iterator[Clients]:
    """A client with each of the keys, and one without."""
    with ExitStack() as stack:

        def client(token: str | None) -> httpx.Client:
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            return stack.enter_context(httpx.Client(base_url=url, headers=headers, timeout=60))

        yield {"none": client(None)} | {label: client(k.token) for label, k in keys.items()}


@pytest.mark.parametrize("path", ["/", "/web/app.js", "/health", "/ready", "/openapi.json"])
def test_what_tells_nothing_needs_no_key(clients: Clients, path: str) -> None:
    assert clients["none"].get(path).status_code == 200


@pytest.mark.parametrize(
    "path", ["/v1/models", "/v1/sessions", "/v1/usage", "/version", "/nowhere", "/docs", "/web"]
)
def test_everything_else_needs_one(clients: Clients, path: str) -> None:
    reply = clients["none"].get(path)
    error = assert_error(reply, 401, "authentication_error", "invalid_api_key")
    assert "Authorization: Bearer" in error["message"]
    assert reply.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "header", ["Bearer wrong", "Bearer", "Basic YTpi", "wrong", "bearer \x80", ""]
)
def test_a_wrong_key(url: str, header: str) -> None:
    reply = httpx.get(f"{url}/v1/models", headers={"Authorization": header.encode("latin-1")})
    error = assert_error(reply, 401, "authentication_error", "invalid_api_key")
    assert "wrong" not in error["message"]


def test_a_large_body_is_not_read_without_a_key(clients: Clients) -> None:
    reply = clients["none"].post("/v1/chat/completions", content=b"x" * 2_000_000)
    assert reply.status_code == 401


def test_a_bound_key_is_its_user(clients: Clients) -> None:
    ann = clients["ann"]
    body = {"messages": [{"role": "user", "content": "I moved to Bruges."}]}
    for more in ({}, {"user": "ann"}, {"metadata": {"user_id": "ann", "session_id": "s"}}):
        assert ann.post("/v1/chat/completions", json=body | more).status_code == 200
    assert rounds(ann, "ann", "s")
    assert ann.get("/v1/memories").json()["total"] >= 1
    assert clients["eve"].get("/v1/memories").json()["total"] == 0


def _chat(client: httpx.Client, **more: object) -> httpx.Response:
    body = {"messages": [{"role": "user", "content": "Hello"}]}
    return client.post("/v1/chat/completions", json=body | more)


NAMED: Mapping[str, Callable[[httpx.Client], httpx.Response]] = {
    "metadata": lambda c: _chat(c, metadata={"user_id": "ann"}),
    "user": lambda c: _chat(c, user="ann"),
    "safety_identifier": lambda c: _chat(c, safety_identifier="ann"),
    "second place": lambda c: _chat(c, metadata={"user_id": "eve"}, user="ann"),
    "header": lambda c: c.get("/v1/memories", headers={"X-Memory-User": "ann"}),
    "header behind the query": lambda c: c.get(
        "/v1/memories", params={"user_id": "eve"}, headers={"X-Memory-User": "ann"}
    ),
    "query": lambda c: c.get("/v1/memories", params={"user_id": "ann"}),
    "body": lambda c: c.post("/v1/memories/search", json={"user_id": "ann", "query": "q"}),
    "not even text": lambda c: _chat(c, metadata={"user_id": ["ann"]}),
    "nobody": lambda c: c.get("/v1/memories", params={"user_id": ""}),
}


@pytest.mark.parametrize("name", NAMED.values(), ids=NAMED)
def test_a_bound_key_is_its_user_whoever_is_named(
    clients: Clients, name: Callable[[httpx.Client], httpx.Response]
) -> None:
    before = clients["ann"].get("/v1/users/ann/export").text
    reply = name(clients["eve"])
    assert reply.status_code == 200
    if reply.request.method == "GET":
        assert reply.json()["total"] == clients["eve"].get("/v1/memories").json()["total"]
    assert clients["ann"].get("/v1/users/ann/export").text == before


def test_what_is_said_in_anothers_name_is_kept_as_ones_own(clients: Clients) -> None:
    metadata = {"user_id": "ann", "session_id": "misnamed"}
    assert _chat(clients["eve"], metadata=metadata).status_code == 200
    assert rounds(clients["eve"], "ann", "misnamed") == [("Hello", HELLO)]
    assert not rounds(clients["ann"], "ann", "misnamed")


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "export"), ("POST", "import"), ("DELETE", "memories")]
)
def test_a_bound_key_finds_no_other_user_in_a_path(
    clients: Clients, method: str, path: str
) -> None:
    for user in ("ann", "nobody at all"):
        reply = clients["eve"].request(method, f"/v1/users/{user}/{path}")
        error = assert_error(reply, 404, "not_found_error", "user_not_found")
        assert user not in error["message"]


@pytest.mark.parametrize("label", ["front-end", "harness", "admin"])
def test_act_as_and_admin_name_any_user(clients: Clients, label: str) -> None:
    assert chat(clients[label], f"someone of {label}", "Hello").status_code == 200
    assert clients[label].get("/v1/memories", params={"user_id": "ann"}).status_code == 200


def _record(client: httpx.Client, turn_time: str | None = None, **more: object) -> httpx.Response:
    turn = {"role": "user", "content": "Hi", "timestamp": turn_time}
    return client.post("/v1/sessions/timed/messages", json={"messages": [turn]} | more)


TIMED: Mapping[str, Callable[[httpx.Client, str], httpx.Response]] = {
    "message": lambda c, t: _chat(
        c, messages=[{"role": "user", "content": "Hi", "timestamp": t}], metadata={}
    ),
    "metadata": lambda c, t: _chat(c, metadata={"timestamp": t}),
    "recorded": lambda c, t: _record(c, timestamp=t),
    "recorded turn": lambda c, t: _record(c, t),
    "search": lambda c, t: c.post("/v1/memories/search", json={"query": "Hi", "now": t}),
    "session": lambda c, t: c.post("/v1/sessions", json={"started_at": t}),
    "header": lambda c, t: c.post(
        "/v1/memories/search", json={"query": "Hi"}, headers={"X-Memory-Timestamp": t}
    ),
}


@pytest.mark.parametrize("call", TIMED.values(), ids=TIMED)
def test_another_time_needs_its_scope(
    clients: Clients, call: Callable[[httpx.Client, str], httpx.Response]
) -> None:
    error = assert_error(
        call(clients["ann"], ANOTHER_TIME), 403, "permission_error", "set_time_required"
    )
    assert "set_time" in error["message"]
    assert call(clients["dated"], ANOTHER_TIME).status_code == 200
    assert call(clients["ann"], NOW.isoformat()).status_code == 200


def test_an_import_sets_times(clients: Clients) -> None:
    lines = clients["dated"].get("/v1/users/dan/export").text
    assert clients["dated"].post("/v1/users/dan/import", content=lines).status_code == 200
    reply = clients["ann"].post("/v1/users/ann/import", content=lines)
    assert_error(reply, 403, "permission_error", "set_time_required")


def test_what_concerns_the_server_is_for_the_admin(clients: Clients) -> None:
    own = (("GET", "usage"), ("GET", "backup"), ("POST", "scrub"), ("POST", "reindex"))
    for method, name in (*own, ("GET", "reindex")):
        path = f"/v1/{name}"
        assert clients["admin"].request(method, path).status_code == 200
        for label in ("ann", "harness"):
            reply = clients[label].request(method, path)
            assert_error(reply, 403, "permission_error", "admin_required")


def test_version_says_what_the_key_allows(clients: Clients, folder: Path) -> None:
    of_ann = clients["ann"].get("/version")
    assert of_ann.json()["caller"] == {"label": "ann", "user_id": "ann", "scopes": []}
    assert of_ann.json()["settings"] is None
    assert str(folder) not in of_ann.text
    of_harness = clients["harness"].get("/version").json()
    assert of_harness["caller"]["scopes"] == ["act_as", "set_time"]
    assert of_harness["settings"]["data_dir"] == str(folder)


def test_the_openai_client(url: str, keys: Mapping[str, NewKey]) -> None:
    def client(key: str) -> openai.OpenAI:
        return openai.OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0)

    with client(keys["ann"].token) as ours:
        assert ours.models.list().data[0].id == "aide-memoire"
        said = ours.chat.completions.create(
            model="aide-memoire", messages=[{"role": "user", "content": "Hi"}], user="eve"
        )
        assert said.choices[0].message.content
        with pytest.raises(openai.PermissionDeniedError):
            ours.chat.completions.create(
                model="aide-memoire",
                messages=[{"role": "user", "content": "Hi"}],
                metadata={"timestamp": ANOTHER_TIME},
            )
    with client("wrong") as theirs, pytest.raises(openai.AuthenticationError) as refused:
        theirs.models.list()
    assert refused.value.code == "invalid_api_key"


def test_other_pages_may_talk_to_it_where_the_setting_names_them(clients: Clients) -> None:
    asked = {"Access-Control-Request-Method": "POST", "Origin": "https://chat.example"}
    allowed = clients["none"].options("/v1/chat/completions", headers=asked)
    assert allowed.headers["access-control-allow-origin"] == "https://chat.example"
    others = asked | {"Origin": "https://evil.example"}
    refused = clients["none"].options("/v1/chat/completions", headers=others)
    assert "access-control-allow-origin" not in refused.headers
    reply = clients["none"].get("/v1/models", headers={"Origin": "https://chat.example"})
    assert reply.status_code == 401
    assert reply.headers["access-control-allow-origin"] == "https://chat.example"


class TestWithoutKeys:
    """A server without keys is reached from its own machine only, and by its own page."""

    @pytest.mark.parametrize(
        "host", ["localhost:{port}", "127.0.0.1:{port}", "[::1]:{port}", "localhost"]
    )
    def test_its_own_names(self, http: httpx.Client, host: str) -> None:
        headers = {"Host": host.format(port=http.base_url.port)}
        assert http.get("/v1/models", headers=headers).status_code == 200

    @pytest.mark.parametrize("path", ["/v1/models", "/", "/health", "/nowhere"])
    @pytest.mark.parametrize(
        "host", ["evil.example", "127.0.0.1.evil.example:80", "", "[", "a@127.0.0.1@b"]
    )
    def test_a_name_of_elsewhere(self, http: httpx.Client, host: str, path: str) -> None:
        reply = http.get(path, headers={"Host": host})
        assert_error(reply, 403, "permission_error", "host_not_allowed")

    @pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:1", ""])
    def test_a_page_of_elsewhere(self, http: httpx.Client, origin: str) -> None:
        reply = http.post(
            "/v1/chat/completions",
            content='{"messages": [{"role": "user", "content": "Forget me"}]}',
            headers={"Origin": origin, "Content-Type": "text/plain"},
        )
        assert_error(reply, 403, "permission_error", "origin_not_allowed")
        assert "access-control-allow-origin" not in reply.headers

    def test_its_own_page(self, http: httpx.Client) -> None:
        origin = str(http.base_url).rstrip("/")
        assert http.get("/v1/models", headers={"Origin": origin}).status_code == 200


def test_keys_that_become_unreadable_let_nobody_in(tmp_path: Path) -> None:
    made = new_key("laptop", "ann", (), created_at="now")
    file = KeyFile(tmp_path / "keys.json")
    file.add(made.key)
    headers = {"Authorization": f"Bearer {made.token}"}
    with (
        served(create_app(Settings(embedder="hash", data_dir=tmp_path))) as url,
        httpx.Client(base_url=url, headers=headers) as client,
    ):
        assert client.get("/v1/models").status_code == 200
        file.path.write_text("{")
        os.utime(file.path, ns=(1, 1))
        assert_error(client.get("/v1/models"), 500, "server_error", "keys_unreadable")
        ready = client.get("/ready")
        assert (ready.status_code, ready.json()["status"]) == (503, "not ready")
        assert "cannot read the keys" in ready.json()["checks"]["keys"]
        file.path.unlink()
        assert client.get("/v1/models").status_code == 401
