"""What other web pages may do: open ours, and nothing else; and what answers tell browsers."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx
import pytest
from calls import assert_error
from pydantic import SecretStr
from served import served

from assistant import Settings, create_app
from assistant.api.browsers import SAFE_HEADERS

NAMED = "https://chat.example"
TOKEN = "a key of these tests, long enough"
KEY = {"Authorization": f"Bearer {TOKEN}"}


def made_by(site: str, mode: str = "no-cors", dest: str = "empty", **more: str) -> dict[str, str]:
    """The headers of a browser's request; `Origin` among `more`."""
    return {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest} | more


@pytest.fixture(scope="module", params=["with keys", "without keys"])
def door(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    """An assistant that one other origin is named to; its client has the key, where there are
    any."""
    keyed = request.param == "with keys"
    settings = Settings(
        embedder="hash",
        data_dir=tmp_path_factory.mktemp("door"),
        allowed_origins=[NAMED],
        api_key=SecretStr(TOKEN) if keyed else None,
    )
    with (
        served(create_app(settings)) as url,
        httpx.Client(base_url=url, headers=KEY if keyed else {}) as client,
    ):
        yield client


@pytest.mark.parametrize(
    "headers",
    [
        {},
        made_by("same-origin", "cors"),
        made_by("same-origin", "no-cors", "script"),
        made_by("same-origin", "navigate", "document"),
        made_by("none", "navigate", "document"),
        made_by("cross-site", "cors", Origin=NAMED),
        made_by("same-site", "cors", Origin=NAMED),
    ],
)
@pytest.mark.parametrize("path", ["/", "/health", "/v1/models", "/web/app.js", "/v1/memories"])
def test_what_comes_in(door: httpx.Client, path: str, headers: dict[str, str]) -> None:
    assert door.get(path, headers=headers).status_code == 200


OPEN = ["/health", "/ready", "/openapi.json", "/web/app.js"]
KEYED = ["/v1/memories?text=x", "/v1/models", "/nowhere"]


@pytest.mark.parametrize("site", ["cross-site", "same-site", "something new", ""])
@pytest.mark.parametrize(
    ("mode", "dest"),
    [
        ("no-cors", "empty"),
        ("no-cors", "image"),
        ("no-cors", "script"),
        ("no-cors", "style"),
        ("cors", "empty"),
        ("cors", "font"),
        ("navigate", "document"),
        ("navigate", "iframe"),
        ("websocket", "websocket"),
    ],
)
def test_what_another_page_makes_stays_out(
    door: httpx.Client, site: str, mode: str, dest: str
) -> None:
    headers = made_by(site, mode, dest)
    for path in OPEN:
        reply = door.get(path, headers=headers)
        assert_error(reply, 403, "permission_error", "origin_not_allowed")
    for path in KEYED:
        # A page has no key by itself.
        reply = httpx.get(door.base_url.join(path), headers=headers)
        keyed = "Authorization" in door.headers and dest != "iframe"
        assert reply.status_code == (401 if keyed else 403)


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_who_has_a_key_was_given_it(door: httpx.Client, site: str) -> None:
    """Such as an app of a desktop, which is a web page for its browser, and asks no CORS."""
    headers = made_by(site, "cors", Origin="app://chat")
    for path, status in (("/v1/models", 200), ("/nowhere", 404)):
        keyed = "Authorization" in door.headers
        assert door.get(path, headers=headers).status_code == (status if keyed else 403)
    assert door.get("/v1/models", headers=made_by(site, "navigate", "iframe")).status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_page_may_open_ours_in_a_window_of_its_own(door: httpx.Client, site: str) -> None:
    opened = door.get("/", headers=made_by(site, "navigate", "document"))
    assert opened.status_code == 200
    assert "frame-ancestors 'none'" in opened.headers["content-security-policy"]
    for headers in (
        made_by(site, "navigate", "iframe"),
        made_by(site, "no-cors", "document"),
        made_by(site, "no-cors", "empty"),
    ):
        assert door.get("/", headers=headers).status_code == 403
    assert door.post("/", headers=made_by(site, "navigate", "document")).status_code == 403


@pytest.mark.parametrize("site", ["same-origin", "none", "cross-site"])
@pytest.mark.parametrize("dest", ["iframe", "frame", "fencedframe", "embed", "object"])
def test_nothing_stands_in_another_page(door: httpx.Client, site: str, dest: str) -> None:
    for path in ("/", "/v1/memories"):
        headers = made_by(site, "navigate", dest, Origin=NAMED)
        assert door.get(path, headers=headers).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        [("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Site", "cross-site")],
        [("Sec-Fetch-Site", "same-origin, cross-site")],
        [("Sec-Fetch-Site", "cross-site"), ("Origin", NAMED), ("Origin", "https://evil.example")],
        [("Sec-Fetch-Site", "cross-site"), ("Origin", NAMED.upper())],
        [("Sec-Fetch-Site", "cross-site"), ("Origin", f"{NAMED}.evil.example")],
    ],
)
def test_two_minds_are_refused(door: httpx.Client, headers: list[tuple[str, str]]) -> None:
    assert door.get("/health", headers=headers).status_code == 403


def test_with_keys_every_page_may_be_let_in_and_without_never(tmp_path: Path) -> None:
    for keyed, status in ((True, 200), (False, 403)):
        settings = Settings(
            embedder="hash",
            data_dir=tmp_path,
            allowed_origins=["*"],
            api_key=SecretStr(TOKEN) if keyed else None,
        )
        with served(create_app(settings)) as url:
            headers = KEY | made_by("cross-site", "cors", Origin="https://any.example")
            for path in ("/v1/models", "/health"):
                assert httpx.get(f"{url}{path}", headers=headers).status_code == status
            del headers["Origin"]
            assert httpx.get(f"{url}/health", headers=headers).status_code == 403


@pytest.mark.parametrize(
    "host", ["a@b", "localhost:80:90", "", "a b", "[::1", "evil.example/", "x" * 300]
)
def test_with_keys_any_host_will_do_but_it_must_be_one(door: httpx.Client, host: str) -> None:
    reply = door.get("/health", headers={"Host": host})
    if "Authorization" in door.headers:
        assert_error(reply, 400, "invalid_request_error", "invalid_host")
        assert door.get("/health", headers={"Host": "memory.example:443"}).status_code == 200
    else:
        assert_error(reply, 403, "permission_error", "host_not_allowed")


ANSWERS: Mapping[str, tuple[str, str, int]] = {
    "page": ("GET", "/", 200),
    "file": ("GET", "/web/app.js", 200),
    "no file": ("GET", "/web/nothing.js", 404),
    "probe": ("GET", "/health", 200),
    "head": ("HEAD", "/health", 200),
    "memories": ("GET", "/v1/memories", 200),
    "export": ("GET", "/v1/users/default/export", 200),
    "no route": ("GET", "/nowhere", 404),
    "no method": ("DELETE", "/health", 405),
    "no JSON": ("POST", "/v1/chat/completions", 400),
    "options": ("OPTIONS", "/v1/models", 405),
}


@pytest.mark.parametrize(("method", "path", "status"), ANSWERS.values(), ids=ANSWERS)
def test_every_answer_tells_browsers(
    door: httpx.Client, method: str, path: str, status: int
) -> None:
    reply = door.request(method, path)
    assert reply.status_code == status
    check_headers(reply)


def test_refusals_tell_browsers_too(door: httpx.Client) -> None:
    large = door.post("/v1/chat/completions", content=b"x" * 9_000_000)
    assert large.status_code == 413
    check_headers(large)
    check_headers(door.get("/health", headers=made_by("cross-site")))
    check_headers(door.get("/v1/models", headers={"Host": "a@b"}))
    check_headers(httpx.get(door.base_url.join("/v1/models")))
    etag = door.get("/web/app.js").headers["etag"]
    unchanged = door.get("/web/app.js", headers={"If-None-Match": etag})
    assert unchanged.status_code == 304
    check_headers(unchanged)
    body = {"messages": [{"role": "user", "content": "Hi"}], "stream": True}
    check_headers(door.post("/v1/chat/completions", json=body))


def check_headers(reply: httpx.Response) -> None:
    for name, value in SAFE_HEADERS.items():
        assert len(reply.headers.get_list(name)) == 1
        if name not in ("Content-Security-Policy", "Cache-Control"):
            assert reply.headers[name] == value
    assert "frame-ancestors 'none'" in reply.headers["Content-Security-Policy"]
    assert reply.headers["Cache-Control"] in ("no-store", "no-cache")
