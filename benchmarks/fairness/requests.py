"""Requests over raw sockets, so that sending them and reading their replies costs little itself.
More than fifty of them are made to take long, and ten are large ones that anybody may send, at the
documented limits (docs/settings.md). They are the same in every run."""

import asyncio
import io
import json
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

from benchmarks.texts import messages, replies
from memory_store import (
    Fact,
    Record,
    Round,
    Speaker,
    rule_facts,
)
from memory_store.transfer import to_lines
from memory_store.transfer._records import header

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class NamedRequest:
    """One request, by a name to show."""

    name: str
    method: str
    path: str
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a request: its status (0 where there is none) and how long it took."""

    name: str
    status: int
    seconds: float
    bytes: int = 0
    begins: str = ""


def posting(name: str, path: str, body: Any, method: str = "POST") -> NamedRequest:
    """A request with a body of JSON."""
    return NamedRequest(name, method, path, json.dumps(body, ensure_ascii=False).encode())


async def ask(
    port: int, asked: NamedRequest, *, since: float | None = None, within: float = 600
) -> Done:
    """Send one request on a connection of its own, and read and discard its reply. The time counts
    from `since`, the moment at which it should have been sent, if given."""
    began = time.perf_counter() if since is None else since
    try:
        async with asyncio.timeout(within):
            status, size, begins = await _asked(port, asked)
    except (OSError, TimeoutError, ValueError, IndexError) as error:
        return Done(asked.name, 0, time.perf_counter() - began, 0, repr(error))
    return Done(asked.name, status, time.perf_counter() - began, size, begins)


async def _asked(port: int, asked: NamedRequest) -> tuple[int, int, str]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        head = f"{asked.method} {asked.path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n"
        head += f"content-length: {len(asked.body)}\r\n\r\n"
        writer.write(head.encode() + asked.body)
        status = int((await reader.readline()).split()[1])
        size, begins = 0, b""
        while piece := await reader.read(_CHUNK):
            size += len(piece)
            begins = begins or piece.partition(b"\r\n\r\n")[2][:120]
        return status, size, begins.decode(errors="replace")
    finally:
        writer.close()


QUERY, MESSAGE, BODY, MESSAGES = 32_768, 1_000_000, 1_048_576, 10_000
# Room for what stands in a body around its text.
_AROUND = 1000
ASKED_AT = "2025-01-15T12:00:00Z"
_START = datetime(2024, 1, 1, tzinfo=UTC)
PATCHED = Round("mallory7", "s", 0, _START, "I keep animals at home.")
"""A round that must be in memory, so that requests can correct it."""
_EMPTY_LINES = header().encode() + b"\n" * 1_000_000

# Combining marks in the wrong order, which normalisation has to sort.
_DISORDER = "\u0315\u0300"
# A line that repeats the possible opening of a statement, and has no statement.
_OPENINGS = f"{'- ok, ' * 50}x my.\n"
# Texts that trigger the rules of time, of questions and of sentences; they are repeated.
_SEARCHED = (
    *("monday ", "Mondays, Tuesdays and ", "last week ", "on the 5th ", "in May ", "31 feb "),
    *("between May and June ", "from monday to friday ", "how many days ", "two weeks ago "),
    *("the end of ", "every ", "christmas ", "2023-05-06, ", "did I ", "in two weeks "),
    *("'a ", '"a ', "“", "a-", "(", "_", "9", "é́", "monday? ", "the first, or "),
)
# These texts follow a statement of the user's own, so that the authorship of the rest matters.
_RECORDED = (
    *("said ", "_", "I have 3 cats. ", "my name is ", "no ", "\n> ", '"', "y", "Anna: I moved.\n"),
    *("and I live in ", "email: ", "I "),
    *("e.g. ", ", and I ", "<", "東京", _DISORDER, _OPENINGS, f"{'- ' * 150}x my.\n"),
)
_STATED = "I live in Ghent.\na"
_CHATTED = (
    *("how many days between ", "what did I say first, ", "<  ", "my dog, ", "how many bikes? "),
    *("- ", "“", _DISORDER, _OPENINGS),
)


@dataclass(frozen=True, slots=True)
class Growing:
    """A text that is repeated up to a length, in a request of some kind."""

    kind: str
    text: str
    most: int
    opening: str = ""

    def request(self, share: float = 1.0) -> NamedRequest:
        """The request with this share of the text."""
        # Characters that JSON escapes take more room in a body.
        written = len(json.dumps(self.text, ensure_ascii=False)) - 2
        most = min(self.most, int((BODY - _AROUND) * len(self.text) / written))
        length = int(most * share)
        said = self.opening + self.text * (length // len(self.text) + 1)
        name = f"{self.kind} {self.text.strip()[:24]!r} x {length:,}"
        return _MAKE[self.kind](name, said[:length])


def _search(name: str, text: str) -> NamedRequest:
    query = f"{text[:-1]}x"  # A blank query would be refused.
    body = {"user_id": "mallory", "query": query, "now": ASKED_AT}
    return posting(name, "/v1/memories/search", body)


def _record(name: str, text: str) -> NamedRequest:
    said = [{"role": "user", "content": text}, {"role": "assistant", "content": "Noted."}]
    body = {"user_id": "mallory2", "messages": said, "timestamp": ASKED_AT}
    return posting(name, f"/v1/sessions/{quote(name, safe='')}/messages", body)


def _chat(name: str, text: str) -> NamedRequest:
    body = {
        "model": "aide-memoire",
        "messages": [{"role": "user", "content": text}],
        "metadata": {"user_id": "mallory3", "session_id": name, "timestamp": ASKED_AT},
    }
    return posting(name, "/v1/chat/completions", body)


_MAKE = {"search": _search, "record": _record, "chat": _chat}


def growing() -> list[Growing]:
    """The hostile requests of one repeated text; their time should grow no faster than the text."""
    return [
        *(Growing("search", text, QUERY) for text in _SEARCHED),
        *(Growing("record", text, MESSAGE, _STATED) for text in _RECORDED),
        *(Growing("chat", text, MESSAGE) for text in _CHATTED),
    ]


def hostile() -> list[NamedRequest]:
    """Requests each of which is made to take long."""
    return [*(one.request() for one in growing()), *_of_many_parts(), *_of_many_facts()]


def _of_many_parts() -> Iterator[NamedRequest]:
    yield NamedRequest(
        "340,000 empty messages",
        "POST",
        "/v1/sessions/s/messages",
        b'{"messages":[' + b",".join([b"{}"] * 340_000) + b"]}",
    )
    yield NamedRequest(
        "190,000 empty lists",
        "POST",
        "/v1/memories/search",
        b'{"query":"a","x":[' + b",".join([b"[]"] * 190_000) + b"]}",
    )
    alike = [{"role": "user", "content": "ok", "id": f"{n}"} for n in range(MESSAGES)]
    body = {"user_id": "mallory4", "messages": alike}
    yield posting("10,000 equal turns", "/v1/sessions/alike/messages", body)
    answers = [{"role": "assistant", "content": "a" * 60} for _ in range(MESSAGES)]
    body = {"user_id": "mallory4", "messages": answers}
    yield posting("10,000 replies in a row", "/v1/sessions/replies/messages", body)
    homes = [{"role": "user", "content": f"I live in Ghent{n}.", "id": f"{n}"} for n in range(6000)]
    body = {"user_id": "mallory4", "messages": homes}
    yield posting("6,000 homes", "/v1/sessions/homes/messages", body)
    said = [f"I have {n + 10} cats at home." for n in range(MESSAGES // 2)]
    asked = [f"Can you fix this?\n\nI now have {n + 10} cats at home." for n in range(2000)]
    body = {"user_id": "mallory6", "messages": [_said(text) for text in (*said, *asked)]}
    yield posting("7,000 cats, 2,000 of them in doubt", "/v1/sessions/cats/messages", body)
    chat = [_said(f"{n}") for n in range(MESSAGES)]
    talk = {"messages": chat, "metadata": {"user_id": "mallory3", "timestamp": ASKED_AT}}
    yield posting("chat of 10,000 messages", "/v1/chat/completions", talk)
    texts = [f"text {n}" for n in range(2048)]
    yield posting("2,048 texts to embed", "/v1/embeddings", {"input": texts})
    nested = b'{"messages":' + b"[" * 500_000
    yield NamedRequest("500,000 brackets", "POST", "/v1/chat/completions", nested)
    path = "/v1/users/mallory5/import?format=chatgpt"
    yield NamedRequest(
        "a zip file of 28 MB of brackets", "POST", path, _bomb(f"[{'[], ' * 7_000_000}[]]")
    )
    one = f'[{{"mapping":[{"[]," * 9_000_000}[]]}}]'
    yield NamedRequest("a conversation of 9,000,000 lists", "POST", path, _bomb(one))
    yield NamedRequest("1,000,000 empty lines", "POST", "/v1/users/mallory5/import", _EMPTY_LINES)


def _of_many_facts() -> Iterator[NamedRequest]:
    path = f"/v1/memories/{PATCHED.id}?user_id={PATCHED.user_id}"
    facts = [f"I have {n} cats." for n in range(2000)]
    yield posting("2,000 facts", path, {"facts": facts}, "PATCH")
    speakers = dict.fromkeys(map(str, range(40_000)), "nobody")
    yield posting("40,000 wrong speakers", path, {"speakers": speakers}, "PATCH")
    claims = dict.fromkeys(map(str, range(40_000)), "user")
    yield posting("40,000 unknown facts", path, {"speakers": claims}, "PATCH")
    given = tuple(Fact(f"I have {n} dogs.") for n in range(5000))
    lines = to_lines([Record(replace(PATCHED, session_id="brought"), given)])
    body = "\n".join(lines).encode()
    yield NamedRequest(
        "import a round of 5,000 facts", "POST", "/v1/users/mallory8/import", body[:BODY]
    )
    yield NamedRequest("list conflicts", "GET", "/v1/memories/conflicts?user_id=mallory6")
    yield NamedRequest(
        "look for a word", "GET", f"/v1/memories?user_id=mallory6&text={'%C3%9F' * 5000}"
    )


def _said(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def large(archive: str, leaving: str) -> list[NamedRequest]:
    """Ten requests that anybody may send, two of them of users with long memories."""
    said = messages(20_000, seed=5)
    diary = "\n\n".join(said)
    records = [_stored(n, text) for n, text in enumerate(said[:700])]
    lines = "\n".join(to_lines(records)).encode()
    return [
        _turns("record 10,000 turns", "bea", said[:5000], 10_000),
        _turns("record 8,000 turns", "cid", said[5000:9000], 8000),
        posting(
            "search a diary of 16,000 characters",
            "/v1/memories/search",
            {"user_id": "bea", "query": diary[:16_000], "now": ASKED_AT},
        ),
        posting(
            "search 30,000 characters in a long memory",
            "/v1/memories/search",
            {"user_id": archive, "query": diary[20_000:50_000], "now": ASKED_AT},
        ),
        NamedRequest("export a long memory", "GET", f"/v1/users/{archive}/export"),
        NamedRequest("list its sessions", "GET", f"/v1/sessions?user_id={archive}"),
        NamedRequest(
            "look for a word in it", "GET", f"/v1/memories?user_id={archive}&text=bicycle"
        ),
        NamedRequest("forget a long memory", "DELETE", f"/v1/users/{leaving}/memories"),
        NamedRequest("import 700 rounds", "POST", "/v1/users/dora/import", lines[:BODY]),
        _chat_of("eve", diary[60_000:76_000]),
    ]


def _turns(name: str, user: str, said: list[str], count: int) -> NamedRequest:
    answers = replies(len(said), words=5, seed=6)
    turns = [
        {"role": role, "content": text[:70]}
        for pair in zip(said, answers, strict=True)
        for role, text in zip(("user", "assistant"), pair, strict=True)
    ]
    body = {"user_id": user, "messages": turns[:count], "timestamp": ASKED_AT}
    return posting(name, "/v1/sessions/long/messages", body)


def _chat_of(user: str, text: str) -> NamedRequest:
    body = {
        "model": "aide-memoire",
        "messages": [{"role": "user", "content": f"{text}\n\nWhat did I buy last Tuesday?"}],
        "metadata": {"user_id": user, "session_id": "diary", "timestamp": ASKED_AT},
    }
    return posting("chat with a diary of 16,000 characters", "/v1/chat/completions", body)


def _stored(number: int, text: str) -> Record:
    round = Round("dora", f"s{number // 10}", number % 10, _START + timedelta(hours=number), text)
    facts = tuple(fact for fact in rule_facts(round) if fact.speaker is Speaker.USER)
    return Record(round, facts)


def _bomb(conversations: str) -> bytes:
    """A zip file within the size limit whose content is many times larger."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", conversations)
    return packed.getvalue()
