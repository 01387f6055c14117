"""A product behind the chat API, with routes to record whole sessions and to forget a user.

`POST /v1/chat/completions` takes `user`, `session`, `when` (RFC 3339) and `store` beside the
messages; `memories` in its reply lists what was found. The first line printed is the address.
"""

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from benchmarks.rivals.reader import answered, prompt, quotes
from benchmarks.rivals.rounds import SOURCES, RivalMemory, new_rounds, recorded_rounds

_CHAT, _SESSIONS, _USERS = "/v1/chat/completions", "/v1/sessions/", "/v1/users/"


@dataclass(frozen=True, slots=True)
class Assistant:
    """A memory and its reader: a model at the address `reader`, or nobody."""

    memory: RivalMemory
    reader: str = ""
    reader_model: str = "reader"

    def chat(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The completion for a request."""
        user, when = body["user"], body["when"]
        question = body["messages"][-1]["content"]
        found = self.memory.search(user, question, SOURCES)
        if self.reader:
            text = answered(self.reader, self.reader_model, prompt(question, when, found))
        else:
            text = quotes(found)
        if body.get("store", True):
            self.memory.add(user, new_rounds(body["session"], body["messages"], when))
        message = {"role": "assistant", "content": text}
        return {
            "id": "chatcmpl-rival",
            "object": "chat.completion",
            "created": 0,
            "model": body.get("model", ""),
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "memories": [memory.source for memory in found],
        }

    def record(self, session: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Record a whole session, without an answer."""
        rounds = recorded_rounds(session, body["turns"])
        self.memory.add(body["user"], rounds)
        return {"rounds": len(rounds)}

    def forget(self, user: str) -> dict[str, Any]:
        """Forget a user."""
        self.memory.forget(user)
        return {"deleted": True}


class RivalServer(ThreadingHTTPServer):
    """An assistant on loopback; port 0 takes a free one."""

    daemon_threads = True

    def __init__(self, assistant: Assistant, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.assistant = assistant

    @property
    def url(self) -> str:
        """The server's base URL."""
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: RivalServer
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        if self.path == _CHAT:
            self._reply(lambda: self.server.assistant.chat(body))
        elif self.path.startswith(_SESSIONS):
            session = unquote(self.path.removeprefix(_SESSIONS))
            self._reply(lambda: self.server.assistant.record(session, body))
        else:
            self._send(404, {"error": {"message": "no such route"}})

    def do_DELETE(self) -> None:
        user = unquote(self.path.removeprefix(_USERS))
        self._reply(lambda: self.server.assistant.forget(user))

    def do_GET(self) -> None:
        self._send(404, {"error": {"message": "no such route"}})

    def _reply(self, work: Callable[[], dict[str, Any]]) -> None:
        try:
            status, body = 200, work()
        except Exception as error:  # of any library: the caller must see it
            status, body = 500, {"error": {"message": f"{type(error).__name__}: {error}"}}
        self._send(status, body)

    def _send(self, status: int, body: Mapping[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


def serve(make: Callable[[Path, str], RivalMemory]) -> None:
    """The command of every product: `--data FOLDER [--embeddings URL] [--reader URL]`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True, help="where the product keeps things")
    parser.add_argument("--embeddings", default="", help="base URL of the embedder")
    parser.add_argument("--reader", default="", help="base URL of the model that answers")
    parser.add_argument("--reader-model", default="reader", help="its name")
    given = parser.parse_args()
    given.data.mkdir(parents=True, exist_ok=True)
    # Libraries may print, and only the address may stand on standard output.
    told, sys.stdout = sys.stdout, sys.stderr
    memory = make(given.data, given.embeddings)
    server = RivalServer(Assistant(memory, given.reader, given.reader_model))
    print(server.url, flush=True, file=told)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)
