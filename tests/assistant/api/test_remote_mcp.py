"""`/mcp` as the SDK's own client uses it: the tools, whose memory they reach, and who is let in."""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from calls import record, rounds, sessions
from served import served

from assistant import Settings, create_app
from assistant.access.keys import KeyFile, KeyScope, new_key
from assistant.settings.groups import LimitSettings

mcp = pytest.importorskip("mcp", reason="needs the extra: pip install 'aide-memoire[mcp]'")
httpx2 = pytest.importorskip("httpx2")
MCPError = mcp.shared.exceptions.MCPError

NOW = datetime(2023, 6, 10, 9, tzinfo=UTC)
READING = {"recall", "facts", "list", "health", "verify"}
TOOLS = READING | {"remember", "settle", "pin", "forget"}
KEYS: Mapping[str, tuple[str | None, tuple[KeyScope, ...]]] = {
    "ann": ("ann", (KeyScope.SET_TIME,)),
    "eve": ("eve", ()),
    "front end": (None, (KeyScope.ACT_AS, KeyScope.SET_TIME)),
}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("remote")


@pytest.fixture(scope="module")
def keys(folder: Path) -> Mapping[str, str]:
    made = {label: new_key(label, *of, created_at="now") for label, of in KEYS.items()}
    for one in made.values():
        KeyFile(folder / "keys.json").add(one.key)
    return {label: one.token for label, one in made.items()}


@pytest.fixture(scope="module")
def url(folder: Path, keys: Mapping[str, str]) -> Iterator[str]:
    settings = Settings(embedder="hash", data_dir=folder)
    with served(create_app(settings, clock=lambda: NOW)) as url:
        yield url


@pytest.fixture
def operator(url: str, keys: Mapping[str, str]) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {keys['front end']}"}
    with httpx.Client(base_url=url, headers=headers, timeout=60) as client:
        yield client
        for user in ("ann", "eve"):
            client.delete(f"/v1/users/{user}/memories")


@asynccontextmanager
async def connected(url: str, key: str | None, *, mode: str = "auto", **headers: str) -> Any:
    """The SDK's client, connected with a key."""
    sent = headers | ({"Authorization": f"Bearer {key}"} if key else {})
    async with (
        httpx2.AsyncClient(headers=sent, timeout=60) as http,
        mcp.Client(
            mcp.client.streamable_http.streamable_http_client(f"{url}/mcp", http_client=http),
            mode=mode,
        ) as client,
    ):
        yield client


async def call(client: Any, tool: str, **arguments: Any) -> Any:
    """What a tool answers; it must not fail."""
    told = await client.call_tool(tool, arguments)
    assert not told.is_error, told.content
    return told.structured_content


async def refused(client: Any, tool: str, **arguments: Any) -> str:
    """Why a tool refuses."""
    told = await client.call_tool(tool, arguments)
    assert told.is_error
    return str(told.content[0].text)


async def test_the_tools_say_what_they_do(url: str, keys: Mapping[str, str]) -> None:
    async with connected(url, keys["ann"]) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == TOOLS
    assert all(tool.title and tool.description for tool in tools.values())
    assert not any("    " in tool.description for tool in tools.values())
    hints = {name: tool.annotations for name, tool in tools.items()}
    assert {name for name in TOOLS if hints[name].read_only_hint} == READING
    assert {name for name in TOOLS if hints[name].destructive_hint} == {"forget"}
    assert {name for name in TOOLS if hints[name].idempotent_hint} == TOOLS - {"remember"}
    assert not any(hint.open_world_hint for hint in hints.values())
    named = {name for tool in tools.values() for name in tool.input_schema["properties"]}
    assert not {name for name in named if "user" in name or "context" in name}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_remember_recall_facts_list_forget(
    url: str, keys: Mapping[str, str], operator: httpx.Client, mode: str
) -> None:
    async with connected(url, keys["ann"], mode=mode) as client:
        for text, said_at in (
            ("I live in Ghent.", "2023-05-20T10:00:00Z"),
            ("I moved to Bruges yesterday.", "2023-05-27T10:00:00Z"),
            ("I adopted a cat called Miso.", "2023-06-01T10:00:00Z"),
        ):
            told = await call(client, "remember", text=text, said_at=said_at)
            assert (told["recorded"], told["known"]) == (1, 0)
        found = await call(client, "recall", query="What is my cat called?", limit=1)
        assert [one["user_text"] for one in found["memories"]] == ["I adopted a cat called Miso."]
        listed = await call(client, "list", limit=2)
        assert listed["total"] == 3
        rest = await call(client, "list", limit=2, after=listed["next"])
        assert [one["user_text"] for one in rest["memories"]] == ["I live in Ghent."]
        assert rest["next"] is None
        now = await call(client, "facts")
        assert [one["text"] for one in now["facts"]] == [
            "I adopted a cat called Miso.",
            "I moved to Bruges yesterday.",
        ]
        assert now["facts"][1]["replaces"] == ["I live in Ghent."]
        for asked in ({}, {"about": "Where do I live?"}):
            then = await call(client, "facts", as_of="2023-05-21", **asked)
            assert [one["text"] for one in then["facts"]] == ["I live in Ghent."]
        id = found["memories"][0]["id"]
        assert await call(client, "pin", id=id) == {"pinned": True}
        assert await call(client, "pin", id=id, pinned=False) == {"pinned": False}
        counted = await call(client, "forget", id=id)
        assert (counted["forgotten"], counted["rounds"], counted["facts"]) == (False, 1, 1)
        assert (await call(client, "list"))["total"] == 3
        gone = await call(client, "forget", id=id, confirm=counted["confirm"])
        assert (gone["forgotten"], gone["rounds"]) == (True, 1)
        assert "has no memory" in await refused(client, "forget", id=id)
        session_id = found["memories"][0]["session_id"]
        assert session_id == "mcp-2023-06-10"
        whole = await call(client, "forget", session_id=session_id)
        assert whole["rounds"] == 2
        await call(client, "remember", text="I have a bicycle.")
        changed = await refused(client, "forget", session_id=session_id, confirm=whole["confirm"])
        assert "count again" in changed
        again = await call(client, "forget", session_id=session_id)
        gone = await call(client, "forget", session_id=session_id, confirm=again["confirm"])
        assert (gone["forgotten"], gone["rounds"]) == (True, 3)
    assert sessions(operator, "ann") == {}


async def test_receipts(url: str, keys: Mapping[str, str], operator: httpx.Client) -> None:
    async with connected(url, keys["ann"]) as client:
        assert "receipt" not in await call(client, "remember", text="I have a bicycle.")
        told = await call(client, "remember", text="I adopted a cat.", receipt=True)
        kept = await call(client, "verify", receipt=told["receipt"])
        assert (kept["holds"], kept["action"], kept["there"]) == (True, "kept", 1)
        id = told["ids"][0]
        counted = await call(client, "forget", id=id, receipt=True)
        assert "receipt" not in counted
        gone = await call(client, "forget", id=id, confirm=counted["confirm"], receipt=True)
        removed = await call(client, "verify", receipt=gone["receipt"])
        assert (removed["holds"], removed["action"], removed["there"]) == (True, "removed", 0)
        assert (await call(client, "verify", receipt=told["receipt"]))["holds"] is False
        forged = told["receipt"] | {"rounds": 2}
        assert "receipt" in await refused(client, "verify", receipt=forged)
    async with connected(url, keys["eve"]) as client:
        assert await refused(client, "verify", receipt=told["receipt"])


async def test_facts_of_others_and_replaced_ones_are_left_out_page_by_page(
    url: str, keys: Mapping[str, str], operator: httpx.Client
) -> None:
    record(operator, "ann", "s", "My number is 555-0101.", "Noted.")
    pasted = "Please proofread my uncle's letter:\n\nMy number is 555-9999."
    record(operator, "ann", "s", pasted, "Fine.", timestamp="2023-05-21T10:00:00Z")
    tea = "I like green tea."
    record(operator, "ann", "s", tea, "Noted.", timestamp="2023-05-22T10:00:00Z")
    async with connected(url, keys["ann"]) as client:
        texts, after = [], None
        for _ in range(3):
            page = await call(client, "facts", limit=1, after=after)
            texts += [one["text"] for one in page["facts"]]
            after = page["next"]
        assert (texts, after) == ([tea, "My number is 555-0101."], None)


@pytest.mark.parametrize("place", ["header", "url"])
async def test_a_front_end_names_the_user(
    url: str, keys: Mapping[str, str], operator: httpx.Client, place: str
) -> None:
    headers = {"X-Memory-User": "ann"} if place == "header" else {}
    named = {"X-Memory-Session": "the kitchen"}
    at = f"{url}/mcp?user_id=ann" if place == "url" else f"{url}/mcp"
    sent = {"Authorization": f"Bearer {keys['front end']}"} | headers | named
    async with (
        httpx2.AsyncClient(headers=sent) as http,
        mcp.Client(mcp.client.streamable_http.streamable_http_client(at, http_client=http)) as c,
    ):
        await call(c, "remember", text="The oven is too hot.")
    assert rounds(operator, "ann", "the kitchen") == [("The oven is too hot.", "")]


async def test_no_tool_reaches_another_user(
    url: str, keys: Mapping[str, str], operator: httpx.Client
) -> None:
    """Tools × two users, each naming what is the other's by every argument there is."""
    secrets = {"ann": "My safe opens with 4711-mh.", "eve": "My safe opens with 1234-zz."}
    ids = {}
    for user, secret in secrets.items():
        kept = record(operator, user, f"{user}'s diary", secret, "Noted.").json()
        ids[user] = kept["rounds"][0]["id"]
    before = {user: operator.get(f"/v1/users/{user}/export").text for user in secrets}
    tried = leaks = 0
    for user, other in (("ann", "eve"), ("eve", "ann")):
        named = {"user_id": other, "user": other, "metadata": {"user_id": other}}
        asked = [
            ("recall", {"query": secrets[other], "limit": 200}),
            ("recall", {"query": "safe", "as_of": "2030-01-01"}),
            ("facts", {}),
            ("facts", {"about": secrets[other], "as_of": "2030-01-01", "limit": 200}),
            ("list", {"limit": 200}),
            ("list", {"text": "opens with"}),
            ("forget", {"id": ids[other]}),
            ("forget", {"session_id": f"{other}'s diary"}),
            ("forget", {"session_id": f"../users/{other}/memories"}),
            ("forget", {"id": ids[other], "confirm": "0" * 12}),
        ]
        headers = {"X-Memory-User": other, "X-OpenWebUI-User-Id": other}
        for more in ({}, headers):
            async with connected(url, keys[user], **more) as client:
                for tool, arguments in asked:
                    told = await client.call_tool(tool, arguments | named)
                    shown = f"{told.content} {told.structured_content}"
                    tried += 1
                    leaks += secrets[other][-8:-1] in shown
                    if tool != "forget":
                        assert not told.is_error
                        leaks += ids[other] in shown
                        assert secrets[user] in shown
                    else:
                        assert told.is_error
    assert (tried, leaks) == (40, 0)
    after = {user: operator.get(f"/v1/users/{user}/export").text for user in secrets}
    assert after == before


async def test_two_users_at_once_each_get_their_own(
    url: str, keys: Mapping[str, str], operator: httpx.Client
) -> None:
    for user in ("ann", "eve"):
        record(operator, user, "s", f"My name is {user}.", "Hello.")
    async with AsyncExitStack() as stack:
        clients = {
            user: await stack.enter_async_context(connected(url, keys[user]))
            for user in ("ann", "eve")
        }

        async def asks(user: str) -> None:
            found = await call(clients[user], "list")
            assert [one["user_text"] for one in found["memories"]] == [f"My name is {user}."]

        await asyncio.gather(*(asks(user) for _ in range(20) for user in clients))


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("remember", {}, "text"),
        ("remember", {"text": " \n"}, "empty"),
        ("remember", {"text": 1}, "text"),
        ("remember", {"text": "I see.", "said_at": "soon"}, "soon"),
        ("recall", {"query": ""}, "query"),
        ("recall", {"query": "cat", "limit": 0}, "limit"),
        ("recall", {"query": "cat", "limit": 201}, "limit"),
        ("recall", {"query": "cat", "as_of": "2023-02-30"}, "2023-02-30"),
        ("recall", {"query": "cat", "first_day": "2023-06-02", "last_day": "2023-06-01"}, "before"),
        ("facts", {"as_of": "x"}, "'x'"),
        ("list", {"after": "x"}, "after"),
        ("forget", {}, "either id or session_id"),
        ("forget", {"id": "x", "session_id": "y"}, "id"),
        ("forget", {"id": f"{'0' * 36}/updates"}, "id"),
        ("forget", {"session_id": ""}, "session_id"),
        ("forget", {"session_id": ".."}, "session"),
        ("forget", {"session_id": "nobody's"}, "nobody's"),
        ("nothing", {}, "nothing"),
    ],
)
async def test_what_cannot_be_done_is_said(
    url: str, keys: Mapping[str, str], tool: str, arguments: Any, told: str
) -> None:
    async with connected(url, keys["ann"]) as client:
        assert told in await refused(client, tool, **arguments)


async def test_a_key_that_cannot_set_the_time(url: str, keys: Mapping[str, str]) -> None:
    async with connected(url, keys["eve"]) as client:
        why = await refused(client, "remember", text="I see.", said_at="2020-01-01")
    assert "cannot set the time" in why


def assert_refused(reply: httpx.Response, status: int, code: str) -> str:
    """A refusal of the API in JSON-RPC's shape, exactly; what it tells."""
    assert reply.status_code == status, reply.text
    body = reply.json()
    assert set(body) == {"jsonrpc", "id", "error"}
    error = body["error"]
    assert error["code"] < 0
    assert set(error["data"]) == {"type", "param", "code"}
    assert error["data"]["code"] == code
    assert reply.headers["x-request-id"]
    return str(error["message"])


def posted(url: str, **sent: Any) -> httpx.Response:
    return httpx.post(f"{url}/mcp", **({"json": PING} | sent))


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        ({"content": b"{"}, 400, -32700),
        ({"json": [PING]}, 400, -32600),
        ({"content": b"[" * 50_000}, 400, -32700),
        ({"json": PING | {"pad": "x" * 9_000_000}}, 413, -32000),
        ({"json": {"jsonrpc": "2.0"}}, 400, -32602),
        ({"json": {"jsonrpc": "2.0", "id": 1, "method": "nothing"}}, 200, -32601),
        ({"headers": {"Accept": "text/html"}}, 406, -32600),
        ({"headers": {"MCP-Protocol-Version": "1999-01-01"}}, 400, -32602),
    ],
)
def test_what_is_no_message(
    url: str, keys: Mapping[str, str], sent: dict[str, Any], status: int, code: int
) -> None:
    headers = {"Authorization": f"Bearer {keys['ann']}"} | sent.pop("headers", {})
    content = {"json": None, **sent} if "content" in sent else sent
    reply = posted(url, headers=headers, **content)
    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_there_are_no_sessions(url: str, keys: Mapping[str, str], method: str) -> None:
    headers = {"Authorization": f"Bearer {keys['ann']}", "Mcp-Session-Id": "x"}
    reply = httpx.request(method, f"{url}/mcp", headers=headers)
    assert_refused(reply, 405, "method_not_allowed")
    assert reply.headers["allow"] == "POST"
    assert "mcp-session-id" not in posted(url, headers=headers).headers


@pytest.mark.parametrize("key", [None, "wrong"])
async def test_who_has_no_key(url: str, key: str | None) -> None:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    reply = posted(url, headers=headers)
    assert_refused(reply, 401, "invalid_api_key")
    # No authorization server is set: no client is sent to look for one.
    assert reply.headers["www-authenticate"] == "Bearer"
    with pytest.raises(ExceptionGroup) as failed:
        async with connected(url, key):
            pass
    assert failed.group_contains(MCPError, match="API key")


@pytest.fixture(scope="module")
def open_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server without keys, which says who there is no user of."""
    settings = Settings(
        embedder="hash", data_dir=tmp_path_factory.mktemp("open"), require_user=True
    )
    with served(create_app(settings, clock=lambda: NOW)) as url:
        yield url


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"Host": "evil.example"}, "host_not_allowed"),
        ({"Host": "127.0.0.1.evil.example:80"}, "host_not_allowed"),
        ({"Origin": "http://evil.example"}, "origin_not_allowed"),
        ({"Origin": "null"}, "origin_not_allowed"),
        ({"Sec-Fetch-Site": "cross-site"}, "origin_not_allowed"),
    ],
)
def test_pages_of_others_do_not_get_in(open_url: str, headers: dict[str, str], code: str) -> None:
    assert posted(open_url).status_code == 200
    assert_refused(posted(open_url, headers=headers), 403, code)


async def test_without_keys_the_header_says_who_it_is(open_url: str) -> None:
    async with connected(open_url, None) as client:
        assert "user_id is required" in await refused(client, "list")
    async with connected(open_url, None, **{"X-Memory-User": "ann"}) as client:
        assert (await call(client, "list"))["total"] == 0


async def test_limits_are_those_of_the_api(tmp_path: Path) -> None:
    limits = LimitSettings(requests_per_minute=5, message_characters=100)
    settings = Settings(embedder="hash", data_dir=tmp_path, limits=limits)
    with served(create_app(settings)) as url:
        async with connected(url, None, **{"X-Memory-User": "ann"}) as client:
            assert "100" in await refused(client, "remember", text="x" * 101)
            for _ in range(4):
                await call(client, "list")
            assert "rate limit" in await refused(client, "list")
        made = new_key("ann", "ann", (), created_at="now")
        KeyFile(tmp_path / "keys.json").add(made.key)
        headers = {"Authorization": f"Bearer {made.token}"}
        replies = [posted(url, headers=headers) for _ in range(6)]
    assert [reply.status_code for reply in replies] == [200] * 5 + [429]
    assert_refused(replies[-1], 429, "rate_limit_exceeded")
    assert int(replies[-1].headers["retry-after"]) >= 1


async def test_facts_are_checked_and_settled(url: str, keys: Mapping[str, str]) -> None:
    text = "I rent a studio in Leuven."
    async with connected(url, keys["ann"]) as client:
        (id,) = (await call(client, "remember", text=text))["ids"]
        await call(client, "settle", id=id, fact=text, until="2031-05-01")
        held = (await call(client, "facts", about="studio in Leuven"))["facts"]
        assert [one["condition"] for one in held if one["text"] == text] == ["until 1 May 2031"]
        await call(client, "settle", id=id, fact=text, always=True, ask_on="2031-04-01")
        rows = (await call(client, "health", finding="expiring"))["facts"]
        assert [row["fact"] for row in rows if row["id"] == id] == [text]
        settled = await call(client, "settle", id=id, fact=text, confirmed=True)
        assert settled["facts"][0]["confirmed_at"]
        both = {"id": id, "fact": text, "until": "2031-05-01", "state": "I live in Leuven"}
        assert "one of until" in await refused(client, "settle", **both)


@pytest.mark.parametrize("tool", ["recall", "remember"])
async def test_a_failure_that_nothing_foresaw_tells_nothing(tmp_path: Path, tool: str) -> None:
    stands_still = True

    def stopped() -> datetime:
        if stands_still:
            raise RuntimeError("the clock of 4711-mh stands still")
        return datetime.now(UTC)

    app = create_app(Settings(embedder="hash", data_dir=tmp_path), clock=stopped)
    with served(app) as url:
        async with connected(url, None) as client:
            told = await refused(
                client, tool, **{"recall": {"query": "x"}}.get(tool, {"text": "x"})
            )
            assert f"Error executing tool {tool}" in told
            assert "4711" not in told
            stands_still = False
            assert (await call(client, "list"))["total"] == 0


def test_the_page_is_true(url: str, keys: Mapping[str, str], operator: httpx.Client) -> None:
    page = (Path(__file__).parents[3] / "docs/use-it-with/mcp.md").read_text()
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    environment = os.environ | {"ASSISTANT_URL": url, "ASSISTANT_API_KEY": keys["ann"]}
    ended = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )
    assert (ended.returncode, ended.stdout) == (0, "I adopted a cat called Miso.\n"), ended.stderr
    documented = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    assert documented == TOOLS


def test_without_the_extra_the_answer_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith(("assistant.mcp", "mcp."))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    with served(create_app(Settings(embedder="hash", data_dir=tmp_path))) as url:
        assert "aide-memoire[mcp]" in assert_refused(posted(url), 501, "extra_missing")
        assert httpx.get(f"{url}/ready").status_code == 200
