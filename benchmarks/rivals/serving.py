"""A product behind the chat API, with routes to be told whole sessions and to forget a user.

`POST /v1/chat/completions` takes `user`, `session`, `when` (RFC 3339) and `store` beside the
messages; its reply lists what was found in `memories`. The first line printed is the address.

The answer is that of a language model that reads the best memories, or these quoted without one.
"""

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from benchmarks.rivals.rounds import SOURCES, Found, Memory, new_rounds, recorded_rounds
from benchmarks.rivals.wire import post

PROMPT_TOKENS = 8000
"""Most tokens of a prompt, at four characters each, instructions and question included."""
_CHARACTERS_A_TOKEN = 4
_QUOTES = 3
_LONGEST_QUOTE = 300
_PROMPT = """\
You are an assistant with a memory. Answer the user's question from these memories of earlier \
conversations, oldest first. If they do not hold the answer, say so.

{memories}

Today is {today}. Question: {question}"""


def quotes(found: Sequence[Found]) -> str:
    """The answer without a language model: the best memories, dated, cut where they are long."""
    if not found:
        return "I don't know: nothing is remembered."
    return "\n".join(
        f"- On {memory.said[:10]}: “{_cut(memory.text)}”" for memory in found[:_QUOTES]
    )


def prompt(question: str, today: str, found: Sequence[Found], tokens: int = PROMPT_TOKENS) -> str:
    """The best memories that fit, whole, in the order of their dates; of messages of one round the
    user's stand first.
    """
    empty = _PROMPT.format(memories="", today=today[:10], question=question)
    room = tokens * _CHARACTERS_A_TOKEN - len(empty)
    fitting: list[tuple[str, int, bool, str]] = []
    for memory in found:
        text = f"[{memory.said[:10]}]\n{memory.text}\n\n"
        if len(text) <= room:
            is_reply = memory.text.startswith("assistant: ")
            fitting.append((memory.said, memory.index, is_reply, text))
            room -= len(text)
    memories = "".join(text for *_, text in sorted(fitting)).rstrip()
    return _PROMPT.format(memories=memories, today=today[:10], question=question)


def answered(base_url: str, model: str, prompt: str) -> str:
    """The reader's answer, from any OpenAI-compatible server. Raises `OSError`."""
    body = {"model": model, "messages": [{"role": "user", "content": prompt}]}
    return str(post(f"{base_url}/chat/completions", body)["choices"][0]["message"]["content"])


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_QUOTE else f"{line[: _LONGEST_QUOTE - 1]}…"


_CHAT, _SESSIONS, _USERS = "/v1/chat/completions", "/v1/sessions/", "/v1/users/"


@dataclass(frozen=True, slots=True)
class Assistant:
    """A memory and who reads what it finds: a model at `reader`, or nobody."""

    memory: Memory
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
        """Be told a whole session, without an answer."""
        rounds = recorded_rounds(session, body["turns"])
        self.memory.add(body["user"], rounds)
        return {"rounds": len(rounds)}

    def forget(self, user: str) -> dict[str, Any]:
        """Forget a user."""
        self.memory.forget(user)
        return {"deleted": True}


class Server(ThreadingHTTPServer):
    """An assistant on loopback; port 0 takes a free one."""

    daemon_threads = True

    def __init__(self, assistant: Assistant, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.assistant = assistant

    @property
    def url(self) -> str:
        """Its base URL."""
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Server
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
        """Silence."""


def serve(make: Callable[[Path, str], Memory]) -> None:
    """The command of every product: `--data FOLDER [--embeddings URL] [--reader URL]`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True, help="where the product keeps things")
    parser.add_argument("--embeddings", default="", help="base URL of the embedder")
    parser.add_argument("--reader", default="", help="base URL of the model that answers")
    parser.add_argument("--reader-model", default="reader", help="its name")
    given = parser.parse_args()
    given.data.mkdir(parents=True, exist_ok=True)
    # Nobody reads what a library prints.
    told, sys.stdout = sys.stdout, sys.stderr
    memory = make(given.data, given.embeddings)
    server = Server(Assistant(memory, given.reader, given.reader_model))
    print(server.url, flush=True, file=told)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)
