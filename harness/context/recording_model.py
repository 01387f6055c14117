"""A language model that only listens: it keeps every request it is sent and answers with one word.

An assistant that uses it as its chat model shows what its reader really gets to see. It speaks the
OpenAI chat protocol, streaming or not, on 127.0.0.1.
"""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from harness.errors import UsageError
from harness.handout.folder import message_text
from harness.records.schema import JsonObject
from harness.text import tokens_of

ANSWER = "Recorded."


class RecordingModel:
    """The requests received since they were last taken; `url` is the base URL of the API."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._requests: list[JsonObject] = []
        self._lock = threading.Lock()

    def take(self) -> list[JsonObject]:
        """The requests received since the last call, in order, each as it was sent."""
        with self._lock:
            taken, self._requests = self._requests, []
        return taken

    def keep(self, request: JsonObject) -> None:
        """Remember one."""
        with self._lock:
            self._requests.append(request)


@contextmanager
def recording_model(port: int) -> Iterator[RecordingModel]:
    """A running one; port 0 takes a free port. Raises `UsageError` where the port is taken."""
    try:
        server = _Server(("127.0.0.1", port), _Handler)
    except OSError as error:
        raise UsageError(f"--listen {port}: {error.strerror or error}") from error
    server.model = RecordingModel(f"http://127.0.0.1:{server.server_address[1]}/v1")
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server.model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    model: RecordingModel


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            asked = json.loads(body)
            prompt = all_text(asked)
        except (ValueError, TypeError, KeyError):
            self._send(400, "application/json", '{"error": {"message": "not a chat request"}}')
            return
        self.server.model.keep(asked)
        completion = _completion(prompt, str(asked.get("model", "recording")))
        if asked.get("stream"):
            self._send(200, "text/event-stream", "".join(_events(completion)))
        else:
            self._send(200, "application/json", json.dumps(completion))

    def do_GET(self) -> None:
        models = {"object": "list", "data": [{"id": "recording", "object": "model"}]}
        self._send(200, "application/json", json.dumps(models))

    def _send(self, status: int, kind: str, text: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Silence: the prompts are the log."""


def all_text(request: Mapping[str, Any]) -> str:
    """The text of all messages of a request."""
    return "\n\n".join(message_text(message) for message in request["messages"])


def _completion(prompt: str, model: str) -> dict[str, Any]:
    read, written = tokens_of(len(prompt)), tokens_of(len(ANSWER))
    message = {"role": "assistant", "content": ANSWER}
    return {
        "id": "chatcmpl-recorded",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
        },
    }


def _events(completion: dict[str, Any]) -> Iterator[str]:
    common = completion | {"object": "chat.completion.chunk"}
    usage = common.pop("usage")
    choice = common.pop("choices")[0]
    for delta, reason in ((choice["message"], None), ({}, "stop")):
        chunk = common | {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
        yield f"data: {json.dumps(chunk)}\n\n"
    yield f"data: {json.dumps(common | {'choices': [], 'usage': usage})}\n\n"
    yield "data: [DONE]\n\n"
