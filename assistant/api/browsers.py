"""Web pages of others: how their requests are told, and what answers tell browsers about ours.

Any page can make a browser send requests to this machine, and learns from the time they take even
where it may not read the answer. Browsers say of each request what made it (Fetch Metadata); who
says nothing of it is no browser of these years.
"""

from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PAGE = "/"
"""The one address that other pages may open, in a window of its own."""
_OURS = ("same-origin", "none")
"""Made by our own page; typed, or opened from a bookmark."""
_FRAMES = ("iframe", "frame", "fencedframe", "embed", "object")

SAFE_HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
"""What every answer says that says nothing else: it is for our own page only, is no script or
style whatever it looks like, stands in no frame, and is not kept."""


_SAFE = [(name.lower().encode(), value.encode()) for name, value in SAFE_HEADERS.items()]


def is_for_a_frame(headers: Headers) -> bool:
    """Whether a browser says that the answer is to be shown inside a page."""
    return headers.get("sec-fetch-dest") in _FRAMES


def is_of_another_page(scope: Scope, headers: Headers) -> bool:
    """Whether a browser says that another page made the request, and not to open ours. Of
    WebSockets it does not say so, but our page opens none."""
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


class SafeHeaders:
    """Puts `SAFE_HEADERS` on every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                add_safe_headers(message["headers"])
            await send(message)

        await self._app(scope, receive, headed if scope["type"] == "http" else send)


def add_safe_headers(headers: list[tuple[bytes, bytes]]) -> None:
    """Add `SAFE_HEADERS` to those of an answer, where it says nothing else of its own."""
    said = {name for name, _ in headers}
    headers += [header for header in _SAFE if header[0] not in said]
