"""One connection of the HTTP server: uvicorn's own, within bounds that uvicorn does not have.

uvicorn waits for ever for the rest of a head, reads heads of any length, answers broken requests
itself in plain text, and takes the host from the Host header even for `GET http://host/`.
"""

import logging
import uuid
from asyncio import TimerHandle, Transport
from collections.abc import Callable
from functools import partial
from typing import Any

import httptools
import uvicorn
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from assistant.access.limits import ClientPatience
from assistant.api.browsers import add_safe_headers
from assistant.api.errors import error_response
from assistant.errors import (
    AssistantError,
    HeadTooLarge,
    InvalidRequest,
    RequestTimeout,
    TooManyConnections,
)
from assistant.observing.logs import with_fields

_log = logging.getLogger(__name__)


class ConnectionConfig(uvicorn.Config):
    """How uvicorn serves: with `BoundedConnection`s, as many at once as `connections` says; 0 is no
    limit. `refused` is called with the error code of a refusal that the application never sees."""

    def __init__(
        self,
        app: Any,
        *,
        connections: int,
        patience: ClientPatience,
        refused: Callable[[str], None] = lambda code: None,
        **more: Any,
    ) -> None:
        super().__init__(
            app,
            http=BoundedConnection,
            # No route speaks WebSocket.
            ws="none",
            log_config=None,
            access_log=False,
            timeout_keep_alive=patience.idle_seconds,
            **more,
        )
        self.connections = connections
        self.patience = patience
        self.refused = refused


class BoundedConnection(HttpToolsProtocol):
    """A connection that is closed when its client keeps the server waiting."""

    def __init__(self, config: ConnectionConfig, *arguments: Any, **more: Any) -> None:
        super().__init__(config, *arguments, **more)
        self._most = config.connections
        self._patience = config.patience
        self._refused = config.refused
        self._timers: dict[str, TimerHandle] = {}
        # Whether a request has begun to arrive, and whether its head is still arriving.
        self._in_message = self._in_head = False
        self._head_bytes = 0
        self._refusal: AssistantError | None = None
        self._is_deaf = False
        # The request whose turn it is to be answered; those after it are in the pipeline.
        self._answered: RequestResponseCycle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if 0 < self._most < len(self.connections):
            self._say(TooManyConnections("too many connections are open", retry_after=1))
            transport.close()
        else:
            self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        for name in list(self._timers):
            self._stop(name)
        self.pipeline.clear()
        self._give_up_answering()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_deaf:
            return
        self._unset_keepalive_if_required()
        # A head that begins here may follow a long body.
        self._head_bytes += len(data) if self._in_head else 0
        self._parse(data)
        if self._in_head and self._head_bytes > self._patience.head_bytes:
            self._refuse(_head_too_large())
        if self._is_idle and not self._is_deaf:
            self._wait_for_head()

    @property
    def _is_idle(self) -> bool:
        """Whether nothing is under way but, perhaps, the head of the next request."""
        return not self._is_answering and (self._in_head or not self._in_message)

    @property
    def _is_answering(self) -> bool:
        return self._answered is not None and not self._answered.response_complete

    @property
    def _in_body(self) -> bool:
        return self._in_message and not self._in_head

    # Callbacks of the parser.

    def _parse(self, data: bytes) -> None:
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._stay_with_http(data[upgrade.args[0] :])
        except httptools.HttpParserError:
            self._refuse(
                self._refusal or InvalidRequest("not a valid HTTP/1.1 request", code="invalid_http")
            )

    def _stay_with_http(self, rest: bytes) -> None:
        """Ignore that a client would rather speak another protocol. This parser takes all that
        follows for the other protocol, so a new parser reads the request without the wish."""
        method, version = self.scope["method"].encode(), self.parser.get_http_version().encode()
        lines = [name + b": " + value for name, value in self.headers if name != b"upgrade"]
        head = b"\r\n".join([method + b" " + self.url + b" HTTP/" + version, *lines, b"", b""])
        self.parser = httptools.HttpRequestParser(self)
        self._parse(head + rest)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_message = self._in_head = True
        self._head_bytes = 0

    def on_headers_complete(self) -> None:
        self._stop("head")
        if _size(self.url, self.headers) > self._patience.head_bytes:
            raise self._refused_as(_head_too_large())
        if self.parser.get_method() == b"CONNECT":
            raise self._refused_as(
                InvalidRequest(
                    "CONNECT is not supported: this server is not a proxy", code="invalid_http"
                )
            )
        if self.parser.should_upgrade():
            self.scope["method"] = self.parser.get_method().decode("ascii")
            return
        self._in_head = False
        self.url = _origin_form(self.url, self.headers)
        super().on_headers_complete()
        self.cycle.transport = _AnswerTransport(self)
        if self.expect_100_continue:
            # If it is refused without its body, what comes next may be the body or a new request.
            self.cycle.keep_alive = False

    def _refused_as(self, error: AssistantError) -> AssistantError:
        """Note the error that a callback raises, because the parser tells only that one did."""
        self._refusal = error
        return error

    def on_message_complete(self) -> None:
        self._in_message = False
        self._stop("rest")
        if not self.parser.should_upgrade():
            super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._in_body and not self._is_answering:
            self._after("rest", self._patience.unread_seconds, self.transport.close)

    # Ends of the server's patience.

    def _wait_for_head(self) -> None:
        self._after("head", self._patience.head_seconds, self._head_is_late)

    def _head_is_late(self) -> None:
        if self._in_head and not self.transport.is_closing():
            self._refuse(RequestTimeout("the request headers were too slow"))
        else:
            self.transport.close()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._after("reading", self._patience.reading_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        self._stop("reading")
        super().resume_writing()

    def _after(self, name: str, seconds: float, do: Callable[[], None]) -> None:
        """Call `do` after these seconds, unless `_stop` is called before. A timer that runs already
        is left as it is, so that more data does not put it off."""
        if name not in self._timers:
            self._timers[name] = self.loop.call_later(seconds, partial(self._due, name, do))

    def _due(self, name: str, do: Callable[[], None]) -> None:
        self._stop(name)
        do()

    def _stop(self, name: str) -> None:
        if timer := self._timers.pop(name, None):
            timer.cancel()

    # Answers without the application.

    def _refuse(self, error: AssistantError) -> None:
        """Read no more, and close. Requests before this one are answered first; where none are left
        to answer, the client is told the error."""
        self._is_deaf = True
        if self._in_body and self.pipeline:
            self.pipeline.popleft()
        elif self._in_body or not self._is_answering:
            self._close_with(error)
            return
        last = self.pipeline[0][0] if self.pipeline else self._answered
        if last is not None:
            last.keep_alive = False

    def _close_with(self, error: AssistantError) -> None:
        if not (self._is_answering and self.cycle.response_started):
            self._say(error)
        self._give_up_answering()
        self.hang_up()

    def _say(self, error: AssistantError) -> None:
        _log.info(
            "connection refused before a request was read", extra=with_fields(error=error.code)
        )
        self._refused(error.code)
        self.transport.write(_answer(error, self.server_state.default_headers))

    def hang_up(self) -> None:
        """End the answer, and let the client close. If the server closed first, while the client
        still sends what nobody reads, the client would lose the answer."""
        self._is_deaf = True
        self.pipeline.clear()
        self._stop("head")
        if not self.transport.is_closing():
            self.transport.write_eof()
            self._after("rest", self._patience.unread_seconds, self.transport.close)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answered = cycle
        super()._start_asgi_task(cycle, app)

    def _give_up_answering(self) -> None:
        """Tell the application that the client has gone, and drop what it still sends."""
        if self._answered is not None and self._is_answering:
            self._answered.disconnected = True
            self._answered.message_event.set()


class _AnswerTransport(Transport):
    """The transport that an answer writes to: closing it calls `hang_up`."""

    def __init__(self, connection: BoundedConnection) -> None:
        self._connection = connection

    def write(self, data: Any) -> None:
        self._connection.transport.write(data)

    def is_closing(self) -> bool:
        return self._connection.transport.is_closing()

    def close(self) -> None:
        self._connection.hang_up()


def _answer(error: AssistantError, more: list[tuple[bytes, bytes]]) -> bytes:
    """The bytes of an answer that says what went wrong."""
    response = error_response(error)
    response.headers.update({"Connection": "close", "X-Request-Id": f"req_{uuid.uuid4().hex}"})
    add_safe_headers(response.raw_headers)
    lines = [name + b": " + value + b"\r\n" for name, value in [*more, *response.raw_headers]]
    return b"".join([STATUS_LINE[response.status_code], *lines, b"\r\n", bytes(response.body)])


def _head_too_large() -> HeadTooLarge:
    return HeadTooLarge("the request line and the headers are too large")


def _size(url: bytes, headers: list[tuple[bytes, bytes]]) -> int:
    return len(url) + sum(len(name) + len(value) + 4 for name, value in headers)


def _origin_form(url: bytes, headers: list[tuple[bytes, bytes]]) -> bytes:
    """The path of a request target. The host in a target of absolute form replaces the header Host
    (RFC 9112, 3.2.2)."""
    scheme, separator, rest = url.partition(b"://")
    if url.startswith(b"/") or not separator or b"/" in scheme:
        return url
    host, slash, path = rest.partition(b"/")
    headers[:] = [one for one in headers if one[0] != b"host"] + [(b"host", host)]
    return slash + path or b"/"
