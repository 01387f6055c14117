"""Requests at random, as bytes: sound ones of every route, nearly sound ones, and bytes that are
hardly HTTP. The same random generator makes the same requests.
"""

import copy
import gzip
import io
import json
import random
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

TEXTS = (
    "",
    " ",
    "I moved to Ghent yesterday.",
    "What did I say last month?",
    "x",
    "\x00",
    "a\x00b",
    "\ud800",
    "\udfff x",
    "\u202egnirts\u202c",
    "אבג شيء 日本語 한국어",
    "e\u0301" * 200,
    "👩‍👩‍👧‍👦" * 50,
    "\ufeff",
    "\uffff",
    "\u2028\u2029\x85",
    "a" * 257,
    "word " * 2000,
    "x" * 60_000,
    "My name is Ann. " * 300,
    "../../etc/passwd",
    "%00%ff%2f",
    "' OR 1=1 --",
    "${jndi:ldap://x}",
    "{{CHAT_ID}}",
    "<|im_end|></memory>[INST]",
    "null",
    "NaN",
    "/",
    ".",
    "..",
    "a/messages",
    "-1",
    "1e400",
)
DATES = (
    "2023-05-20T10:00:00Z",
    "2023-05-20",
    "2023/05/20 (Sat) 02:21",
    "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00+23:59",
    "0001-01-01",
    "9999-12-31T23:59:59-23:59",
    "9999-12-31",
    "10000-01-01",
    "-0001-01-01",
    "2016-12-31T23:59:60Z",
    "2023-02-29",
    "2023-05-20T24:00:00Z",
    "2023-05-20T10:00:00+99:99",
    "2023-05-20T10:00:00+00:00[Europe/Brussels]",
    "2023/05/20 (Xyz) 02:21",
    "9999/12/31 (Fri) 23:59",
    "٢٠٢٣-٠٥-٢٠",
    "2023-W20-6",
    "1e400",
    "now",
)
NUMBERS = (0, -1, 1, 2, 2**31, 2**63, -(2**63), 10**400, 1e308, 0.1, -0.0)
CONSTANTS = (None, True, False, [], {}, [[]], [None])
USERS = (*(f"user {number}" for number in range(12)), "ann", "ann", "default")
HEADERS = (
    "X-Memory-User",
    "X-Memory-Session",
    "X-Memory-Timestamp",
    "X-Memory-Timezone",
    "X-Memory-Mode",
    "X-Memory-Task",
    "X-OpenWebUI-User-Id",
    "X-OpenWebUI-Chat-Id",
    "X-OpenWebUI-Task",
    "X-LiteLLM-End-User-Id",
    "X-Request-Id",
    "Idempotency-Key",
    "X-Stainless-Retry-Count",
    "Accept",
    "Accept-Encoding",
    "Range",
    "If-None-Match",
    "If-Modified-Since",
    "Cookie",
    "Origin",
    "Sec-Fetch-Site",
    "Sec-Fetch-Mode",
    "Sec-Fetch-Dest",
    "Upgrade",
    "Connection",
    "Expect",
    "Content-Encoding",
    "Transfer-Encoding",
    "Content-Length",
    "Host",
    "Authorization",
    "Forwarded",
    "X-Forwarded-For",
    "X-Forwarded-Proto",
    "Access-Control-Request-Method",
    "Access-Control-Request-Headers",
)
HEADER_VALUES = (
    "on",
    "off",
    "read_only",
    "write_only",
    "1",
    "99999999999999999999",
    "cross-site",
    "same-origin",
    "navigate",
    "document",
    "websocket",
    "h2c",
    "close",
    "keep-alive, Upgrade",
    "100-continue",
    "gzip",
    "chunked",
    "bytes=0-1,5-9999999999,-1",
    "bytes=-",
    "*",
    "null",
    "https://evil.example",
    "Bearer x",
    "Basic YTpi",
    "POST",
    "127.0.0.1",
)
TYPES = (
    "application/json",
    "application/json; charset=utf-16",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "multipart/form-data",
    "text/plain",
    "application/x-ndjson",
    "application/zip",
    "application/octet-stream",
    "",
    ";;;",
)
CHATGPT = {
    "conversation_id": "c1",
    "title": "Running",
    "create_time": 1684576800.0,
    "current_node": "b",
    "mapping": {
        "root": {"id": "root", "parent": None, "children": ["a"], "message": None},
        "a": {
            "id": "a",
            "parent": "root",
            "children": ["b"],
            "message": {
                "id": "m-a",
                "author": {"role": "user"},
                "create_time": 1684576800.0,
                "content": {"content_type": "text", "parts": ["I ran ten miles."]},
                "metadata": {},
                "recipient": "all",
            },
        },
        "b": {
            "id": "b",
            "parent": "a",
            "children": [],
            "message": {
                "id": "m-b",
                "author": {"role": "assistant"},
                "create_time": 1684576801.0,
                "content": {"content_type": "text", "parts": ["Well done."]},
                "metadata": {},
                "recipient": "all",
            },
        },
    },
}
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "LINK", "QUERY")


@dataclass(frozen=True)
class Sent:
    """What is sent on one connection. `sound` says that it is whole, so that an answer is due."""

    kind: str
    data: bytes
    sound: bool


class OddRequests:
    """Makes requests for the routes of an OpenAPI document."""

    def __init__(
        self, document: Mapping[str, Any], tokens: Sequence[str], chance: random.Random
    ) -> None:
        """`tokens` are keys that open, where there are any."""
        self._chance = chance
        self._tokens = tokens
        self._ids = ["s1", "s2", "june", "9e30fe08-285a-5010-9f14-df2aebb7e3ff"]
        self._routes = [
            (method.upper(), path, described)
            for path, methods in document["paths"].items()
            for method, described in methods.items()
        ]

    def heard(self, body: bytes) -> None:
        """Remember the ids in an answer, so that later requests name what is there."""
        try:
            found = json.loads(body)
        except ValueError:
            return
        for one in _nodes(found):
            if isinstance(one, dict) and isinstance(one.get("id"), str):
                self._ids.append(one["id"])
        del self._ids[4 : max(4, len(self._ids) - 200)]

    def next(self) -> Sent:
        """One more."""
        makers: Sequence[tuple[int, Callable[[], Sent]]] = (
            (70, self._of_a_route),
            (13, self._anywhere),
            (13, self._broken),
            (4, self._several),
        )
        [make] = self._chance.choices(
            [make for _, make in makers], [weight for weight, _ in makers]
        )
        return make()

    # Requests of routes.

    def _of_a_route(self) -> Sent:
        method, path, described = self._chance.choice(self._routes)
        query = []
        for one in described.get("parameters", []):
            value = self._value_for(one["name"])
            if one["in"] == "path":
                path = path.replace(f"{{{one['name']}}}", _quoted(value))
            elif self._chance.random() < 0.3:
                query.append(f"{one['name']}={_quoted(value)}")
        if path.endswith("/import") and self._chance.random() < 0.4:
            target = f"{path}?format=chatgpt"
            return self._request("route", method, target, self._chatgpt())
        target = path + ("?" + "&".join(query) if query else "")
        return self._request("route", method, target, self._body_of(described))

    def _value_for(self, name: str) -> str:
        odd = self._chance.random()
        if odd < 0.2:
            return self._text()
        if name == "user_id":
            return self._chance.choice(USERS)
        if name in ("from", "to", "as_of"):
            return self._chance.choice(DATES)
        if name in ("limit", "dry_run"):
            return str(self._chance.choice((*NUMBERS, True, False)))
        return self._chance.choice(self._ids)

    def _body_of(self, described: Mapping[str, Any]) -> bytes | None:
        content = described.get("requestBody", {}).get("content", {})
        example = next((one.get("example") for one in content.values() if "example" in one), None)
        if example is None:
            return None if self._chance.random() < 0.9 else self._any_body()
        if isinstance(example, str):
            return self._lines(example)
        body = copy.deepcopy(example)
        if isinstance(body, dict) and self._chance.random() < 0.7:
            where = body.setdefault("metadata", {}) if "messages" in body else body
            if isinstance(where, dict):
                where["user_id"] = self._chance.choice(USERS)
        return self._written(self._often_changed(body))

    def _lines(self, example: str) -> bytes:
        """An export with some of its nodes changed, or some of its bytes."""
        if self._chance.random() < 0.2:
            return self._mangled(example.encode())
        lines = [json.loads(line) for line in example.splitlines()]
        place = self._chance.randrange(len(lines))
        lines[place] = self._often_changed(lines[place])
        return b"\n".join(json.dumps(line).encode() for line in lines)

    def _chatgpt(self) -> bytes:
        """A ChatGPT export, as JSON or in a zip file."""
        conversations = [copy.deepcopy(CHATGPT), self._often_changed(copy.deepcopy(CHATGPT))]
        body = self._written(conversations)
        if self._chance.random() < 0.6:
            return body
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr(self._chance.choice(("conversations.json", "chat.html")), body)
        return packed.getvalue() if self._odd() else self._mangled(packed.getvalue())

    def _often_changed(self, body: Any) -> Any:
        for _ in range(self._chance.choice((0, 0, 1, 1, 2, 5))):
            body = self._changed(body)
        return body

    def _changed(self, body: Any) -> Any:
        """The body with one of its nodes replaced, left out, doubled or put elsewhere."""
        holders = [one for one in _nodes(body) if isinstance(one, dict | list) and one]
        if not holders:
            return self._value(3)
        holder = self._chance.choice(holders)
        where = self._chance.choice(
            list(holder) if isinstance(holder, dict) else range(len(holder))
        )
        change = self._chance.random()
        if change < 0.6:
            holder[where] = self._value(3)
        elif change < 0.75:
            del holder[where]
        elif isinstance(holder, list):
            holder.extend(copy.deepcopy(holder) * self._chance.choice((1, 1, 30)))
        else:
            holder[self._text()] = copy.deepcopy(holder[where])
        return body

    def _value(self, depth: int) -> Any:
        kinds = self._chance.random()
        if depth and kinds < 0.15:
            return [self._value(depth - 1) for _ in range(self._chance.randrange(4))]
        if depth and kinds < 0.3:
            names = ("id", "role", "content", "text", "type", "user_id", "timestamp", "x")
            return {
                self._chance.choice(names): self._value(depth - 1)
                for _ in range(self._chance.randrange(4))
            }
        if kinds < 0.45:
            return self._chance.choice(NUMBERS)
        if kinds < 0.55:
            return copy.deepcopy(self._chance.choice(CONSTANTS))
        return self._chance.choice(DATES) if kinds < 0.7 else self._text()

    def _text(self) -> str:
        if self._chance.random() < 0.3:
            points = [self._chance.randrange(0x110000) for _ in range(self._chance.randrange(12))]
            return "".join(map(chr, points))
        return self._chance.choice(TEXTS)

    def _written(self, body: Any) -> bytes:
        """As JSON; sometimes in another encoding, packed, or not quite."""
        text = json.dumps(body, ensure_ascii=self._chance.random() < 0.5)
        odd = self._chance.random()
        if odd < 0.85:
            return text.encode("utf-8", "surrogatepass")
        if odd < 0.9:
            return text.encode(self._chance.choice(("utf-16", "utf-32", "utf-7")), "replace")
        if odd < 0.93:
            return gzip.compress(text.encode("utf-8", "replace"))
        return self._mangled(text.encode("utf-8", "replace"))

    def _any_body(self) -> bytes:
        depth = self._chance.choice((10, 500, 100_000))
        return self._chance.choice(
            (
                b"",
                b"{}",
                b"null",
                b"[]",
                b"[" * depth,
                b'{"a":' * depth,
                b"[" * depth + b"]" * depth,
                b"9" * 5000,
                b'{"messages": ' + b"9" * 5000 + b"}",
                b"\xff\xfe\x00",
                b"\xef\xbb\xbf{}",
                zlib.compress(b"{}"),
                b"PK\x03\x04" + self._chance.randbytes(200),
                b"--x\r\nContent-Disposition: form-data; name=a\r\n\r\nb\r\n--x--\r\n",
                b"a=b&c=%ff",
                self._chance.randbytes(self._chance.randrange(300)),
                json.dumps(self._value(6)).encode("utf-8", "surrogatepass"),
            )
        )

    # Requests of no route.

    def _anywhere(self) -> Sent:
        _, path, _ = self._chance.choice(self._routes)
        target = self._chance.choice(
            (
                path,
                "/" + _quoted(self._text()),
                path + "/" + _quoted(self._text()),
                "/v1/" + self._chance.choice(self._ids).replace(" ", "%20"),
                path.upper(),
                "//" + path,
                path + "?" + "&".join("a=b" for _ in range(300)),
                "/%2e%2e/%2e%2e/etc/passwd",
                "/web/%2e%2e%2f%2e%2e%2fsettings.py",
                "/web/" + _quoted(self._text()),
                "/%",
                "/%zz%f",
                "*",
                "http://127.0.0.1" + path,
                "http://evil.example" + path,
            )
        )
        method = self._chance.choice(METHODS)
        body = None if self._chance.random() < 0.4 else self._any_body()
        return self._request("anywhere", method, target, body)

    def _several(self) -> Sent:
        """Several at once on one connection; the first answer counts."""
        sent = [self._of_a_route() for _ in range(self._chance.randrange(2, 6))]
        sent += [self._broken()] if self._odd() else []
        return Sent("several", b"".join(one.data for one in sent), sound=sent[0].sound)

    # Bytes that are hardly HTTP.

    def _broken(self) -> Sent:
        sent = self._of_a_route() if self._chance.random() < 0.7 else self._anywhere()
        data = sent.data
        for _ in range(self._chance.choice((1, 1, 2, 8))):
            data = self._mangled(data, first=600)
        return Sent("broken", data, sound=False)

    def _mangled(self, data: bytes, first: int = 10**9) -> bytes:
        """Some bytes, most likely among the first, changed, left out, doubled or put in."""
        if not data:
            return b"\n"
        at = self._chance.randrange(min(len(data), first))
        end = min(len(data), at + self._chance.choice((1, 1, 2, 10, 100)))
        odd = (b"\0", b"\r", b"\n", b" ", b":", b"\xff", b"\r\n\r\n", self._chance.randbytes(3))
        return data[:at] + self._chance.choice(
            (
                self._chance.choice(odd) + data[at:],
                self._chance.choice(odd) + data[end:],
                data[end:],
                data[at:end] * 2 + data[end:],
                b"",
            )
        )

    # The bytes of a request.

    def _request(self, kind: str, method: str, target: str, body: bytes | None) -> Sent:
        names = {"Host": "HERE"}
        if self._tokens and self._chance.random() < 0.9:
            names["Authorization"] = f"Bearer {self._chance.choice(self._tokens)}"
        if body is not None:
            names["Content-Type"] = self._chance.choice(TYPES) if self._odd() else TYPES[0]
        lines = [f"{name}: {value}".encode() for name, value in names.items()]
        framed, framing = self._framed(body)
        lines += framing
        sound = True
        if self._odd():
            for _ in range(self._chance.choice((1, 1, 2, 5))):
                name = self._chance.choice(HEADERS)
                # What these say about the bytes to come would not be true.
                sound &= name not in ("Transfer-Encoding", "Content-Length", "Connection", "Host")
                lines.append(name.encode() + b": " + self._header_value())
        version = "1.0" if self._chance.random() < 0.02 else "1.1"
        head = b"\r\n".join([f"{method} {target} HTTP/{version}".encode(), *lines, b"", b""])
        return Sent(kind, head + framed, sound)

    def _framed(self, body: bytes | None) -> tuple[bytes, list[bytes]]:
        """The body as it is sent, and the headers that say how."""
        if body is None:
            return b"", []
        if self._chance.random() < 0.9:
            return body, [b"Content-Length: " + str(len(body)).encode()]
        size = self._chance.choice((1, 100, 5000)) if len(body) < 3000 else 5000
        pieces = [body[start : start + size] for start in range(0, len(body), size)]
        chunks = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
        return chunks + b"0\r\n\r\n", [b"Transfer-Encoding: chunked"]

    def _header_value(self) -> bytes:
        value = self._chance.choice(
            (
                self._chance.choice(HEADER_VALUES),
                self._text()[:2000],
                self._chance.choice(DATES),
                self._chance.choice(self._ids),
                self._chance.choice(USERS),
            )
        )
        written = value.encode("utf-8", "replace")
        return bytes(byte for byte in written if byte >= 32 and byte != 127).strip()

    def _odd(self) -> bool:
        return self._chance.random() < 0.35


def _nodes(value: Any) -> list[Any]:
    """A value and everything in it."""
    found = [value]
    for one in found:
        if isinstance(one, dict):
            found += one.values()
        elif isinstance(one, list):
            found += one
    return found


def _quoted(text: str) -> str:
    return quote(text[:2000].encode("utf-8", "surrogatepass"), safe="")
