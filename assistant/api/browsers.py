"""Our own web page, static files that may talk to their own origin only; and what keeps the pages
of others out: which requests are theirs, and which headers tell browsers about our answers.

Any page can make a browser send requests to this machine, and learns from the time they take even
where it may not read the answer. Browsers say of each request what made it (Fetch Metadata); a
client that says nothing of it is no browser of recent years.
"""

from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.responses import FileResponse
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Message, Receive, Scope, Send

from assistant.api.description import text_reply
from assistant.api.middleware import HttpMiddleware

PAGE = "/"
"""The one address that other pages may open, in a window of its own."""
_OURS = ("same-origin", "none")
"""`Sec-Fetch-Site` of requests by our own page, and of an address that was typed or bookmarked."""
_FRAMES = ("iframe", "frame", "fencedframe", "embed", "object")

SAFE_HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
"""Headers of every answer that has no other values for them: the answer is for our own page only,
is no script or style whatever it looks like, stands in no frame, and is not kept."""


_SAFE = [(name.lower().encode(), value.encode()) for name, value in SAFE_HEADERS.items()]


def is_for_a_frame(headers: Headers) -> bool:
    """Whether a browser says that the answer is to be shown inside a page."""
    return headers.get("sec-fetch-dest") in _FRAMES


def is_of_another_page(scope: Scope, headers: Headers) -> bool:
    """Whether a browser says that another page made the request, and not to open our page. It does
    not say so of WebSockets, but our page opens none, so all of these count."""
    if "sec-websocket-key" in headers:
        return True
    if all(site in _OURS for site in headers.getlist("sec-fetch-site")):
        return False
    opens_ours = (
        (scope["method"], scope["path"]) == ("GET", PAGE)
        and headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest") == "document"
    )
    return not opens_ours


class SafeHeaders(HttpMiddleware):
    """Puts `SAFE_HEADERS` on every answer."""

    async def around(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                add_safe_headers(message["headers"])
            await send(message)

        await self._app(scope, receive, headed)


def add_safe_headers(headers: list[tuple[bytes, bytes]]) -> None:
    """Add those of `SAFE_HEADERS` that an answer does not have yet."""
    said = {name for name, _ in headers}
    headers += [header for header in _SAFE if header[0] not in said]


FILES = Path(__file__).parents[1] / "web"
_POLICY = (
    "default-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; object-src 'none'"
)
_HEADERS = {"Content-Security-Policy": _POLICY, "Cache-Control": "no-cache"}

router = APIRouter(tags=["page"])


@router.get(
    PAGE,
    response_class=FileResponse,
    summary="The web page",
    responses=text_reply("The web page", "text/html", "<!doctype html>"),
)
async def read_page() -> FileResponse:
    """The web page."""
    return FileResponse(FILES / "index.html", headers=_HEADERS)


def mount_files(app: FastAPI) -> None:
    """Serve what the page consists of under `/web`."""
    app.mount("/web", _PageFiles(directory=FILES))


class _PageFiles(StaticFiles):
    async def get_response(self, path: str, scope: MutableMapping[str, Any]) -> Response:
        response = await super().get_response(path, scope)
        response.headers.update(_HEADERS)
        return response
