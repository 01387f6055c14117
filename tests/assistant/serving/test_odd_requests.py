"""Requests by the byte: what is no HTTP, what two readers would read in two ways, and what is
merely rare."""

import json

import pytest
from raw_http import Line, asked, line

from assistant.api.browsers import SAFE_HEADERS

BODY = '{"messages": [{"role": "user", "content": "Hello."}]}'
CHAT = "POST /v1/chat/completions HTTP/1.1\r\nHost: HERE\r\n"
HEALTH = "GET /health HTTP/1.1\r\nHost: HERE\r\n\r\n"
LENGTH = f"Content-Length: {len(BODY)}\r\n"
CHUNKS = f"{len(BODY):x}\r\n{BODY}\r\n0\r\n\r\n"

# Of each a proxy in front and the server behind it could read another next request.
AMBIGUOUS = {
    "length and chunks": f"{CHAT}{LENGTH}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks and length": f"{CHAT}Transfer-Encoding: chunked\r\n{LENGTH}\r\n0\r\n\r\n",
    "two lengths": f"{CHAT}{LENGTH}Content-Length: 5\r\n\r\n{BODY}",
    "the same length twice": f"{CHAT}{LENGTH}{LENGTH}\r\n{BODY}",
    "a list of lengths": f"{CHAT}Content-Length: 5, 5\r\n\r\n{BODY}",
    "a signed length": f"{CHAT}Content-Length: +5\r\n\r\n{BODY}",
    "a negative length": f"{CHAT}Content-Length: -5\r\n\r\n{BODY}",
    "a length in hexadecimal": f"{CHAT}Content-Length: 0x5\r\n\r\n{BODY}",
    "an endless length": f"{CHAT}Content-Length: {'9' * 40}\r\n\r\n{BODY}",
    "an unknown coding": f"{CHAT}Transfer-Encoding: xchunked\r\n\r\n{CHUNKS}",
    "no coding": f"{CHAT}Transfer-Encoding: identity\r\n\r\n{BODY}",
    "chunks not as the last coding": f"{CHAT}Transfer-Encoding: chunked, gzip\r\n\r\n{CHUNKS}",
    "two codings": f"{CHAT}Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n\r\n{CHUNKS}",
    "a space before the colon": f"{CHAT}Transfer-Encoding : chunked\r\n\r\n{CHUNKS}",
    "a space before the name": f"{CHAT} Transfer-Encoding: chunked\r\n\r\n{CHUNKS}",
    "a tab in the name": f"{CHAT}Transfer\tEncoding: chunked\r\n\r\n{CHUNKS}",
    "a folded header": f"{CHAT}X: a\r\n b\r\n{LENGTH}\r\n{BODY}",
    "lines without carriage returns": f"{CHAT}{LENGTH}\r\n{BODY}".replace("\r", ""),
    "a lone carriage return": f"{CHAT}X: a\rContent-Length: 1\r\n{LENGTH}\r\n{BODY}",
    "a zero byte": f"{CHAT}X: a\0b\r\n{LENGTH}\r\n{BODY}",
    "a negative chunk": f"{CHAT}Transfer-Encoding: chunked\r\n\r\n-5\r\n{BODY}\r\n0\r\n\r\n",
    "an endless chunk": f"{CHAT}Transfer-Encoding: chunked\r\n\r\n{'f' * 20}\r\n{BODY}",
    "a chunk that is too long": f"{CHAT}Transfer-Encoding: chunked\r\n\r\n5\r\n{BODY}\r\n0\r\n\r\n",
    "chunks by line feeds": f"{CHAT}Transfer-Encoding: chunked\r\n\r\n{CHUNKS}".replace(
        "\r\n0", "\n0"
    ),
}
NO_HTTP = {
    "nonsense": "NONSENSE\r\n\r\n",
    "an unknown method": "BREW / HTTP/1.1\r\nHost: HERE\r\n\r\n",
    "a method in lower case": "get /health HTTP/1.1\r\nHost: HERE\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a version to come": "GET /health HTTP/3.7\r\nHost: HERE\r\n\r\n",
    "a proxy wanted": "CONNECT HERE HTTP/1.1\r\nHost: HERE\r\n\r\n",
    "a target without a slash": "GET health HTTP/1.1\r\nHost: HERE\r\n\r\n",
    "a target that is no ASCII": b"GET /h\xe9alth HTTP/1.1\r\nHost: HERE\r\n\r\n",
}


@pytest.mark.parametrize(
    "sent", [*AMBIGUOUS.values(), *NO_HTTP.values()], ids=[*AMBIGUOUS, *NO_HTTP]
)
def test_what_is_no_sound_request_is_the_last_of_its_connection(
    url: str, sent: str | bytes
) -> None:
    with line(url) as connection:
        connection.send(sent, HEALTH)
        answer = connection.answer()
        assert (answer.status, answer.error["code"]) == (400, "invalid_http")
        assert {name.lower() for name in SAFE_HEADERS} <= set(answer.headers)
        assert connection.is_closed()


def test_what_was_asked_before_nonsense_is_answered(url: str) -> None:
    with line(url) as connection:
        connection.send(CHAT, LENGTH, "\r\n", BODY, "NONSENSE", HEALTH)
        assert connection.answer().status == 200
        assert connection.is_closed()


@pytest.mark.parametrize(
    "first", [HEALTH, HEALTH.replace("1.1", "1.0"), f"{CHAT}Content-Length: 500000\r\n\r\n"]
)
def test_an_answer_gets_through_to_who_still_sends(url: str, first: str) -> None:
    """Closing with bytes unread makes the system throw away what was said."""
    for _ in range(10):
        with line(url) as connection:
            connection.send(first, "NONSENSE\r\n\r\n" + "x" * 900_000)
            assert connection.answer().status in (200, 400)


def test_who_says_that_it_is_the_last_request_is_told_what_is_wrong(url: str) -> None:
    """As Python's urllib does, with a body that nobody reads."""
    foreign = CHAT.replace("HERE", "evil.example") + "Connection: close\r\n"
    for _ in range(10):
        with line(url) as connection:
            connection.send(foreign, f"Content-Length: {10**6}\r\n\r\n", "x" * 10**6)
            assert connection.answer().status == 403
            assert connection.is_closed()


def test_nothing_is_answered_after_the_last_request(url: str) -> None:
    with line(url) as connection:
        last = HEALTH.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")
        connection.send(HEALTH, last, HEALTH)
        assert [connection.answer().status for _ in range(2)] == [200, 200]
        assert connection.is_closed()


def test_several_requests_at_once_are_answered_in_their_order(url: str) -> None:
    with line(url) as connection:
        connection.send(f"{CHAT}{LENGTH}\r\n{BODY}{HEALTH}{CHAT}{LENGTH}\r\n{BODY}{HEALTH}")
        answers = [connection.answer() for _ in range(4)]
    assert [answer.status for answer in answers] == [200] * 4
    assert [b"choices" in answer.body for answer in answers] == [True, False] * 2


@pytest.mark.parametrize(
    "sent",
    [
        f"{CHAT}Transfer-Encoding: chunked\r\n\r\n{CHUNKS}",
        f"{CHAT}Transfer-Encoding: Chunked\r\n\r\n{len(BODY):x};name=value\r\n{BODY}\r\n0\r\n\r\n",
        f"{CHAT}Transfer-Encoding: chunked\r\n\r\n{CHUNKS[:-2]}Trailer: x\r\n\r\n",
        f"\r\n{CHAT}{LENGTH}\r\n{BODY}",
        # What Java's client and `curl --http2` ask for along the way.
        f"{CHAT}{LENGTH}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
        f"HTTP2-Settings: AAMAAABk\r\n\r\n{BODY}",
        f"{CHAT}{LENGTH}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n{BODY}",
    ],
)
def test_rare_but_sound_requests_are_answered(url: str, sent: str) -> None:
    with line(url) as connection:
        connection.send(sent, HEALTH)
        answer = connection.answer()
        assert answer.status == 200
        assert json.loads(answer.body)["choices"]
        assert connection.answer().body == b'{"status":"ok"}'


def test_what_follows_an_offer_of_another_protocol_is_the_body(url: str) -> None:
    """And no request, however much it looks like one."""
    hidden = HEALTH.replace("HERE", "127.0.0.1:8")
    with line(url) as connection:
        connection.send(
            f"{CHAT}Content-Length: {len(hidden)}\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
            hidden,
            HEALTH,
        )
        assert connection.answer().error["code"] == "invalid_json"
        assert connection.answer().status == 200


@pytest.mark.parametrize(
    "sent",
    [
        f"GET /health?{'x' * 9000} HTTP/1.1\r\nHost: HERE\r\n\r\n",
        f"GET /health HTTP/1.1\r\nHost: HERE\r\nCookie: {'x' * 9000}\r\n\r\n",
        "GET /health HTTP/1.1\r\nHost: HERE\r\n" + "X: y\r\n" * 3000 + "\r\n",
    ],
)
def test_a_head_has_bounds(url: str, sent: str) -> None:
    answer = asked(url, sent)
    assert (answer.status, answer.error["code"]) == (431, "head_too_large")


def test_a_head_without_an_end_has_bounds(connection: Line) -> None:
    connection.send("GET /health HTTP/1.1\r\nHost: HERE\r\n")
    connection.send_until_closed(f"X: {'y' * 1000}\r\n", every=0)


def test_a_long_body_is_no_long_head(connection: Line) -> None:
    long = BODY.replace("Hello", "a" * 50_000)
    for _ in range(2):
        connection.send(CHAT, f"Content-Length: {len(long)}\r\n\r\n{long}{HEALTH}")
        assert [connection.answer().status for _ in range(2)] == [200, 200]


HOSTS = [
    # target, headers, status
    ("/health", "Host: HERE", 200),
    ("/health", "Host: LOCALHOST", 200),
    ("/health", "Host: localhost:65535", 200),
    ("/health", "Host: [::1]:8080", 200),
    ("/health", "Host: [0:0:0:0:0:0:0:1]", 200),
    ("http://HERE/health", "Host: HERE", 200),
    ("http://localhost/health", "Host: evil.example", 200),
    ("http://evil.example/health", "Host: HERE", 403),
    ("http://a@localhost/health", "Host: HERE", 403),
    ("http:///health", "Host: HERE", 403),
    ("//evil.example/health", "Host: HERE", 404),
    ("/health", "X: no host at all", 403),
    ("/health", "Host:", 403),
    ("/health", "Host: HERE\r\nHost: HERE", 403),
    ("/health", "Host: HERE\r\nHost: evil.example", 403),
    ("/health", "Host: HERE, evil.example", 403),
    ("/health", "Host: a@127.0.0.1", 403),
    ("/health", "Host: evil.example@127.0.0.1:80", 403),
    ("/health", "Host: 127.0.0.1@evil.example", 403),
    ("/health", "Host: localhost:80:90", 403),
    ("/health", "Host: localhost:99999", 403),
    ("/health", "Host: localhost:", 403),
    ("/health", "Host: localhost.", 403),
    ("/health", "Host: 127.0.0.1.", 403),
    ("/health", "Host: 2130706433", 403),
    ("/health", "Host: ::1", 403),
    ("/health", "Host: [::1", 403),
    ("/health", "Host: [::1%25lo]", 403),
    ("/health", "Host: localhost/../evil", 403),
    ("/health", "Host: 127.0.0.1\x0b", 400),
    ("/health", "Host: 127.0.0.1.evil.example", 403),
]


@pytest.mark.parametrize(("target", "headers", "status"), HOSTS)
def test_the_host_of_a_request(url: str, target: str, headers: str, status: int) -> None:
    assert asked(url, f"GET {target} HTTP/1.1\r\n{headers}\r\n\r\n").status == status
