"""HTTP by the byte: what no client sends, and exactly what comes back."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

_SECONDS = 30.0


@dataclass(frozen=True)
class Answer:
    """One answer as it came over the line."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def error(self) -> dict[str, Any]:
        """The inside of a failure."""
        return dict(json.loads(self.body)["error"])


class Line:
    """A connection, written to and read from as it comes."""

    def __init__(self, url: str, buffer: int | None = None) -> None:
        """`buffer` is how many bytes the system takes in that are not read yet."""
        parts = urlsplit(url)
        self.host = parts.netloc
        self._socket = socket.socket()
        self._socket.settimeout(_SECONDS)
        if buffer:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self._socket.connect((parts.hostname, parts.port))
        self._read = self._socket.makefile("rb")

    def send(self, *pieces: str | bytes) -> None:
        """Send these; `HERE` stands for the server's host."""
        for piece in pieces:
            data = piece.encode("latin-1") if isinstance(piece, str) else piece
            self._socket.sendall(data.replace(b"HERE", self.host.encode()))

    def send_until_closed(self, piece: str, *, every: float = 0.02, most: int = 20_000) -> float:
        """Send this again and again; the seconds until the server has hung up."""
        started = time.monotonic()
        try:
            for _ in range(most):
                self.send(piece)
                time.sleep(every)
        except OSError:
            return time.monotonic() - started
        raise AssertionError("the server is still listening")

    def answer(self) -> Answer:
        """The next answer, whole; 100 Continue is one, too."""
        status_line = self._read.readline()
        if not status_line:
            raise EOFError("the server closed the connection")
        status = int(status_line.split()[1])
        headers: dict[str, str] = {}
        while (line := self._read.readline()) not in (b"\r\n", b""):
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        return Answer(status, headers, self._read.read(int(headers.get("content-length", 0))))

    def is_refused_or_closed(self) -> bool:
        """Whether the server ends it, with the reason or without a word; waits for that."""
        try:
            return self.answer().status == 408 and self.is_closed()
        except (EOFError, ConnectionError):
            return True

    def is_closed(self) -> bool:
        """Whether the server closes it without another word; waits for that."""
        try:
            return self._read.read(1) == b""
        except ConnectionError:
            return True

    def close(self) -> None:
        """Hang up."""
        self._read.close()
        self._socket.close()


@contextmanager
def line(url: str, buffer: int | None = None) -> Iterator[Line]:
    """A connection for a while."""
    opened = Line(url, buffer)
    try:
        yield opened
    finally:
        opened.close()


def asked(url: str, *pieces: str | bytes) -> Answer:
    """The answer to these bytes on a connection of their own."""
    with line(url) as connection:
        connection.send(*pieces)
        return connection.answer()
