"""One conversation with a running assistant: what was said, in which session, as of when; and
`assistant ask`, one question with its answer."""

import json
import re
import uuid
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from assistant.cli.connection import ServerConnection, ServerError, in_path
from assistant.cli.options import CommandResult

_CHAT = "/v1/chat/completions"
# A continued session sends so many of its rounds along; memory knows the others.
_TAKEN_UP = 20
# The fields of a round in `assistant ask --json`.
_OF_A_SOURCE = ("id", "session_id", "session_date", "similarity", "user_text", "assistant_text")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


class ReplyPiece(NamedTuple):
    """A piece of what comes back: of the answer, or of what is thought before it."""

    text: str
    is_answer: bool = True


class TerminalConversation:
    """The messages so far, and how the next one is asked.

    With a `timestamp` everything is said at that time, and nothing that was said on a later day
    counts. A day alone means its end, as `as_of` does.
    """

    def __init__(
        self,
        connection: ServerConnection,
        session_id: str | None = None,
        timestamp: str | None = None,
        model: str | None = None,
    ) -> None:
        self.connection = connection
        self.session_id = session_id or new_session_id()
        self.timestamp = timestamp
        self.is_ahead = False
        """Whether the timestamp is in the future, by the server's clock."""
        self.model = model
        self.messages: list[dict[str, str]] = []
        self.trace: dict[str, Any] | None = None
        """Why the last answer is what it is, as the server tells it."""

    def open(self) -> None:
        """Take up the session and settle the time. Raises `ServerError` where nobody is there."""
        self.connection.check()
        self._catch_up()
        self.be_at(self.timestamp)

    def say(self, text: str) -> Iterator[ReplyPiece]:
        """Say something; yield what comes back. Both sides are kept once the answer is complete.

        Closing the iterator stops the answer. Raises `ServerError`, also in the middle of one.
        """
        said = [*self.messages, {"role": "user", "content": text}]
        body = {"messages": said, "metadata": self._metadata(), "stream": True}
        if self.model:
            body["model"] = self.model
        answer: list[str] = []
        for line in self.connection.lines("POST", _CHAT, json=body):
            for piece in self._pieces(line):
                if piece.is_answer:
                    answer.append(piece.text)
                yield piece
        self.messages = [*said, {"role": "assistant", "content": "".join(answer)}]

    def begin(self, session_id: str | None = None) -> None:
        self.session_id = session_id or new_session_id()
        self.messages = []
        self.trace = None
        self._catch_up()

    def be_at(self, timestamp: str | None) -> None:
        """Talk as of that time from now on, or of the real one. Raises `ServerError`."""
        now = self._read_time(None)
        read = now if timestamp is None else self._read_time(timestamp)
        if timestamp and _DAY.fullmatch(timestamp.strip()):
            # Today has not ended yet.
            read = now if read[:10] == now[:10] else f"{read[:10]}T23:59:59Z"
        self.is_ahead = read > now
        self.timestamp = None if timestamp is None else read

    def _read_time(self, timestamp: str | None) -> str:
        """The time as the server reads it, by default its own. As texts, times sort by date.

        Opening a session stores nothing.
        """
        # A user who only reads a shared space may open no session there.
        with self.connection.beside_the_space():
            opened = self.connection.mine("POST", "/v1/sessions", started_at=timestamp)
        return str(opened["started_at"])

    def _catch_up(self) -> None:
        sessions = self.connection.mine("GET", "/v1/sessions")["data"]
        if all(one["id"] != self.session_id for one in sessions):
            return
        path = f"/v1/sessions/{in_path(self.session_id)}"
        for round in self.connection.mine("GET", path)["data"][-_TAKEN_UP:]:
            sides = (("user", round["user_text"]), ("assistant", round["assistant_text"]))
            self.messages += [{"role": role, "content": text} for role, text in sides if text]

    def _metadata(self) -> dict[str, str]:
        metadata = {
            "user_id": self.connection.user_id,
            "session_id": self.session_id,
            "memory_debug": "1",
        }
        if self.timestamp:
            metadata |= {"timestamp": self.timestamp, "to": self.timestamp}
        return metadata

    def _pieces(self, line: str) -> Iterator[ReplyPiece]:
        """What one line of the stream tells; the trace that comes with the end is kept."""
        if not line.startswith("data: ") or line == "data: [DONE]":
            return
        try:
            event = json.loads(line.removeprefix("data: "))
            if "error" in event:
                raise ServerError(event["error"]["message"])
            deltas = [choice["delta"] for choice in event["choices"]]
            thoughts = [delta.get("reasoning_content") for delta in deltas]
            texts = [delta.get("content") for delta in deltas]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            problem = f"the server sent a piece that is no answer: {line[:80]!r}"
            raise ServerError(problem) from error
        self.trace = event.get("memory", self.trace)
        yield from (ReplyPiece(thought, is_answer=False) for thought in thoughts if thought)
        yield from (ReplyPiece(text) for text in texts if text)


def new_session_id(origin: str = "terminal") -> str:
    """An id that no other session has; it says where the session comes from."""
    return f"{origin}-{uuid.uuid4().hex[:12]}"


def one_answer(
    connection: ServerConnection,
    question: str,
    metadata: Mapping[str, str | None],
    model: str | None,
) -> CommandResult:
    known = {name: value for name, value in metadata.items() if value is not None}
    asked: dict[str, Any] = {
        "messages": [{"role": "user", "content": question}],
        "metadata": {"user_id": connection.user_id} | known,
    }
    if model:
        asked["model"] = model
    reply = connection.call("POST", _CHAT, json=asked)
    if not reply.get("choices"):
        raise ServerError(f"{connection.base_url} is not an assistant: its reply has no answer")
    answer = str(reply["choices"][0]["message"]["content"])
    return CommandResult({"answer": answer} | _sources(reply) | reply, answer)


def _sources(reply: Mapping[str, Any]) -> dict[str, Any]:
    """The rounds that the answer was made from, and the days that the question is about."""
    trace = reply.get("memory") or {}
    read = set(trace.get("read", ()))
    sources = [one for one in trace.get("data", ()) if one["id"] in read]
    return {
        "sources": [{name: one[name] for name in _OF_A_SOURCE} for one in sources],
        "time_range": trace.get("time_range"),
    }
