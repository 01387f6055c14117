"""A page of somebody else in a real browser: whatever it tries, it may only open ours."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from calls import record
from served import served
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import HTMLResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant import Settings, create_app
from assistant.access.limits import ClientPatience
from assistant.serving.bounded_connection import ConnectionConfig

pytest.importorskip("playwright.sync_api", reason="pip install -e '.[browser]'")
pytestmark = pytest.mark.browser

# What tells nothing by what it says tells it by the time it takes.
PATHS = (
    "/v1/memories?user_id=ann&text=sauna",
    "/ready",
    "/web/app.js",
    "/v1/sessions/s/messages",
    "/v1/users/ann/memories",
)


@dataclass(frozen=True)
class Seen:
    """One request that reached the assistant, as the browser described it, and its answer."""

    method: str
    path: str
    site: str
    destination: str
    status: int


class Spy:
    """Notes every request and the status of its answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.seen: list[Seen] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = Headers(scope=scope)
                site = headers.get("sec-fetch-site", "")
                destination = headers.get("sec-fetch-dest", "")
                self.seen.append(
                    Seen(scope["method"], scope["path"], site, destination, message["status"])
                )
            await send(message)

        await self._app(scope, receive, noted)


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[str]:
    """Another page, on another port of this machine."""

    async def page(_: Any) -> HTMLResponse:
        return HTMLResponse("<!doctype html><title>Elsewhere</title><p>Hello.</p>")

    with served(Starlette(routes=[Route("/", page)]), lifespan=False) as url:
        yield url


@pytest.fixture(params=[False, True], ids=["no origin named", "another origin named"])
def spied(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Spy, str]]:
    """An assistant that knows what Ann likes, and the spy in front of it."""
    named = ["https://chat.example"] if request.param else []
    spy = Spy(create_app(Settings(embedder="hash", data_dir=tmp_path, allowed_origins=named)))
    config = ConnectionConfig(
        spy, connections=100, patience=ClientPatience(), timeout_graceful_shutdown=2
    )
    with served(spy, config=config) as url:
        with httpx.Client(base_url=url) as http:
            record(http, "ann", "s", "I like the sauna.", "Noted.")
        spy.seen.clear()
        yield spy, url


def _element(tag: str, attribute: str, more: str = "") -> str:
    return (
        f"url => new Promise(done => {{ const e = document.createElement('{tag}'); {more}"
        " e.onload = () => done(e.sheet ? 'styled' : 'loaded'); e.onerror = () => done('');"
        f" e.{attribute} = url; document.body.append(e); setTimeout(() => done(''), 700) }})"
    )


# Each takes an address, and ends with what it learned of the answer.
ATTEMPTS = {
    "fetch without CORS": "url => fetch(url, {mode: 'no-cors'}).then(r => r.text())",
    "fetch": "url => fetch(url).then(r => r.text())",
    "fetch, posted as text": (
        "url => fetch(url, {method: 'POST', mode: 'no-cors', body: BODY}).then(r => r.text())"
    ),
    "fetch, posted as JSON": (
        "url => fetch(url, {method: 'POST', body: BODY,"
        " headers: {'Content-Type': 'application/json'}}).then(r => r.text())"
    ),
    "fetch, deleting": "url => fetch(url, {method: 'DELETE'}).then(r => r.text())",
    "beacon": "url => { navigator.sendBeacon(url, BODY); return wait('') }",
    "event source": (
        "url => new Promise(done => { const s = new EventSource(url);"
        " s.onopen = () => done('open'); s.onerror = () => { s.close(); done('') } })"
    ),
    "WebSocket": (
        "url => new Promise(done => { const s = new WebSocket(url.replace('http', 'ws'));"
        " s.onopen = () => done('open'); s.onerror = () => done('') })"
    ),
    "image": _element("img", "src"),
    "script": _element("script", "src"),
    "module": _element("script", "src", "e.type = 'module';"),
    "style sheet": _element("link", "href", "e.rel = 'stylesheet';"),
    "prefetch": _element("link", "href", "e.rel = 'prefetch';"),
    "video": _element("video", "src"),
    "frame": _element("iframe", "src"),
    "embed": _element("embed", "src"),
    "object": _element("object", "data"),
    "form": (
        "url => { const f = document.createElement('form'); const i = document.createElement("
        "'iframe'); i.name = f.target = 'f' + Math.random(); f.method = 'POST';"
        " f.enctype = 'text/plain'; f.action = url; document.body.append(i, f); f.submit();"
        " return wait('') }"
    ),
    "window": "url => { window.open(url); return wait('') }",
}
HELP = (
    'const BODY = \'{"messages": [{"role": "user", "content": "I hate the sauna."}]}\';'
    "const wait = value => new Promise(done => setTimeout(() => done(value), 700));"
)
# An error page in a frame is "loaded", too.
FRAMES = ("frame", "embed", "object")


@pytest.mark.parametrize(
    ("name", "site"), [("127.0.0.1", {"same-site"}), ("localhost", {"cross-site"})]
)
def test_nothing_that_another_page_tries_gets_further_than_the_door(
    chromium: Any, spied: tuple[Spy, str], elsewhere: str, name: str, site: set[str]
) -> None:
    spy, url = spied
    with httpx.Client(base_url=url) as http:
        before = http.get("/v1/users/ann/export").text
        for what, attempt in ATTEMPTS.items():
            spy.seen.clear()
            got = _tried(chromium, elsewhere.replace("127.0.0.1", name), attempt, url)
            assert set(got) <= ({"", "loaded"} if what in FRAMES else {""}), what
            assert spy.seen, what
            assert {one.site for one in spy.seen} <= ({""} if what == "WebSocket" else site), what
            assert {one.status for one in spy.seen} <= {400, 403}, what
        assert http.get("/v1/users/ann/export").text == before


def _tried(chromium: Any, page_url: str, attempt: str, url: str) -> list[str]:
    """What a page learned by one way to ask, of several addresses."""
    context = chromium.new_context()
    page = context.new_page()
    page.goto(page_url)
    script = (
        f"{HELP} Promise.all({[url + path for path in PATHS]}.map("
        f"url => Promise.resolve(({attempt})(url)).catch(() => '')))"
    )
    got: list[str] = page.evaluate(script)
    context.close()
    return got


def test_another_page_may_open_ours_but_has_no_hold_on_it(
    chromium: Any, spied: tuple[Spy, str], elsewhere: str
) -> None:
    spy, url = spied
    context = chromium.new_context()
    page = context.new_page()
    page.goto(elsewhere)
    with context.expect_page() as opening:
        page.evaluate(f"window.opened = window.open({url!r})")
    opened = opening.value
    opened.get_by_role("link", name="Memory").click()
    opened.wait_for_load_state("networkidle")
    assert opened.evaluate("window.opener") is None
    assert page.evaluate("window.opened.closed")
    context.close()
    [first, *others] = spy.seen
    assert (first.path, first.site, first.destination) == ("/", "same-site", "document")
    assert {one.site for one in others} == {"same-origin"}
    assert {one.status for one in spy.seen} <= {200, 304}  # some it has seen before


def test_an_origin_that_is_named_works_from_another_page(
    chromium: Any, elsewhere: str, tmp_path: Path
) -> None:
    settings = Settings(embedder="hash", data_dir=tmp_path, allowed_origins=[elsewhere])
    with served(create_app(settings)) as url:
        page = chromium.new_page()
        page.goto(elsewhere)
        told = page.evaluate(
            f"{HELP} fetch('{url}/v1/chat/completions', {{method: 'POST', body: BODY,"
            " headers: {'Content-Type': 'application/json'}}).then(r => r.json())"
        )
        assert told["choices"]
        listed = page.evaluate(f"fetch('{url}/v1/memories').then(r => r.json())")
        assert listed["data"][0]["user_text"] == "I hate the sauna."
        gone = page.evaluate(
            f"fetch('{url}/v1/users/default/memories', {{method: 'DELETE'}}).then(r => r.status)"
        )
        assert gone == 200
        page.close()
