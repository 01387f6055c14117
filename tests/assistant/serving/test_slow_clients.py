"""Clients that say half of something: how long they are waited for, and what others notice."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest
from calls import rounds
from pydantic import SecretStr
from raw_http import Line, asked, line
from served import served

from assistant import Settings, create_app
from assistant.access.keys import KeyFile, new_key
from assistant.access.limits import ClientPatience
from assistant.api.browsers import SAFE_HEADERS
from assistant.serving.bounded_connection import ConnectionConfig
from assistant.settings.groups import LimitSettings

HEAD = "POST /v1/chat/completions HTTP/1.1\r\nHost: HERE\r\n"
BODY = '{"messages": [{"role": "user", "content": "I sold my piano."}]}'
HEALTH = "GET /health HTTP/1.1\r\nHost: HERE\r\n\r\n"
# A long answer: over 100,000 bytes.
OPENAPI = "GET /openapi.json HTTP/1.1\r\nHost: HERE\r\n\r\n"
# All time-outs of the server are below half a second.
SOON = 3.0


def assert_refused(connection: Line, status: int, code: str) -> None:
    answer = connection.answer()
    assert (answer.status, answer.error["code"]) == (status, code)
    assert answer.headers["connection"] == "close"
    assert answer.headers["x-request-id"]
    assert {name.lower() for name in SAFE_HEADERS} <= set(answer.headers)
    assert connection.is_closed()


@pytest.mark.parametrize("half", ["G", "GET /health HTTP/1.1\r\n", HEALTH[:-2]])
def test_half_a_head_is_not_waited_for(connection: Line, half: str) -> None:
    connection.send(half)
    assert_refused(connection, 408, "request_timeout")


def test_a_head_that_drips_gains_no_time(connection: Line) -> None:
    connection.send("GET /health HTTP/1.1\r\nX: ")
    assert connection.send_until_closed("y") < SOON


@pytest.mark.parametrize("nothing", ["", "\r\n", "\r\n\r\n"])
def test_a_connection_without_a_request_is_closed_without_a_word(
    connection: Line, nothing: str
) -> None:
    connection.send(nothing)
    assert connection.is_closed()


@pytest.mark.parametrize("more", ["", "\r\n"])
def test_a_connection_that_is_not_used_again_is_closed(connection: Line, more: str) -> None:
    connection.send(HEALTH)
    assert connection.answer().status == 200
    connection.send(more)
    assert connection.is_closed()


def test_the_next_head_has_as_long_as_the_first(connection: Line) -> None:
    for _ in range(2):
        connection.send(HEALTH)
        assert connection.answer().status == 200
    connection.send("GET /hea")
    assert_refused(connection, 408, "request_timeout")


@pytest.mark.parametrize(
    "half",
    [
        f"Content-Length: {len(BODY)}\r\n\r\n",
        f"Content-Length: {len(BODY)}\r\n\r\n{BODY[:20]}",
        "Transfer-Encoding: chunked\r\n\r\n",
        f"Transfer-Encoding: chunked\r\n\r\n{len(BODY):x}\r\n{BODY}\r\n",
        f"Transfer-Encoding: chunked\r\n\r\n{len(BODY):x}\r\n{BODY}\r\n0\r\n",
    ],
)
def test_half_a_body_is_not_waited_for(connection: Line, half: str) -> None:
    connection.send(HEAD, half)
    assert_refused(connection, 408, "request_timeout")


def test_a_body_that_drips_is_too_slow(connection: Line) -> None:
    connection.send(HEAD, "Content-Length: 100000\r\n\r\n")
    assert connection.send_until_closed(" ") < SOON


def test_a_slow_but_steady_body_is_waited_for(connection: Line) -> None:
    """Slower than nobody: it takes three times as long as half a body is waited for."""
    text = "a" * 300_000
    body = BODY.replace("piano", text)
    connection.send(HEAD, f"Content-Length: {len(body)}\r\n\r\n")
    started = time.monotonic()
    for start in range(0, len(body), 20_000):
        connection.send(body[start : start + 20_000])
        time.sleep(0.08)
    assert time.monotonic() - started > 1.2
    assert connection.answer().status == 200


@pytest.mark.parametrize(
    ("received", "silent", "seconds"),
    [(0, 0, 20), (0, 25, 20), (1_000_000, 500, 530), (1_000_000, 1010, 1020), (100, 0, 20.1)],
)
def test_how_long_a_body_may_take(received: int, silent: float, seconds: float) -> None:
    """A megabyte over the slowest line there is passes; nothing for half a minute does not."""
    assert ClientPatience().body_deadline(0, silent, received) == pytest.approx(seconds)


def test_what_is_refused_is_not_read_and_not_waited_for(url: str) -> None:
    """Nor does the connection stay for the rest of the body."""
    with line(url) as connection:
        connection.send(HEAD.replace("HERE", "evil.example"), "Content-Length: 1000000\r\n\r\n{")
        answer = connection.answer()
        assert (answer.status, answer.error["code"]) == (403, "host_not_allowed")
        assert connection.send_until_closed(" ") < SOON


def test_a_connection_goes_on_when_the_refused_body_has_come(connection: Line) -> None:
    connection.send(HEAD.replace("HERE", "evil"), f"Content-Length: {len(BODY)}\r\n\r\n{BODY[:9]}")
    assert connection.answer().status == 403
    connection.send(BODY[9:], HEALTH)
    assert connection.answer().status == 200


def test_what_is_too_long_by_its_own_account_is_not_begun(connection: Line) -> None:
    connection.send(HEAD, "Content-Length: 99999999\r\n\r\n")
    answer = connection.answer()
    assert (answer.status, answer.error["code"]) == (413, "request_too_large")
    assert connection.is_closed()


def test_five_hundred_half_requests_keep_nobody_waiting(url: str) -> None:
    """They are gone soon, and meanwhile others are answered at once."""
    half = [HEALTH[:-2], HEAD + f"Content-Length: 1000\r\n\r\n{BODY}"]
    with ExitStack() as stack, httpx.Client(base_url=url, timeout=SOON) as others:
        opened = [stack.enter_context(line(url)) for _ in range(500)]
        for number, one in enumerate(opened):
            with suppress(OSError):  # which were closed before they said a word
                one.send(half[number % 2])
        for _ in range(10):
            assert others.get("/health").status_code == 200
        assert all(one.is_refused_or_closed() for one in opened)


def test_who_does_not_read_the_answer_is_not_waited_for(url: str) -> None:
    """More answers than the buffers of the sockets hold, none of which is read."""
    with line(url, buffer=4096) as connection:
        assert connection.send_until_closed(OPENAPI) < SOON


def test_nor_is_the_last_answer_waited_for(url: str) -> None:
    """The server has said all, and closes; but not even that gets through."""
    with line(url, buffer=4096) as connection:
        connection.send(OPENAPI.replace("1.1", "1.0"))
        time.sleep(1)
        answer = connection.answer()
        assert len(answer.body) < int(answer.headers["content-length"])


def test_more_connections_than_there_are_to_be_are_told_so(tmp_path: Path) -> None:
    app = create_app(Settings(embedder="hash", data_dir=tmp_path))
    config = ConnectionConfig(
        app, connections=3, patience=ClientPatience(), timeout_graceful_shutdown=2
    )
    with served(app, config=config) as url, ExitStack() as stack:
        opened = [stack.enter_context(line(url)) for _ in range(3)]
        for one in opened:
            one.send(HEALTH)
            assert one.answer().status == 200
        with line(url) as one_more:
            assert_refused(one_more, 503, "too_many_connections")
        opened[0].close()
        deadline = time.monotonic() + SOON
        while asked(url, HEALTH).status != 200:
            assert time.monotonic() < deadline


def test_a_client_that_leaves_in_the_middle_is_no_failure(url: str) -> None:
    with httpx.Client(base_url=url) as http:
        with line(url) as connection:
            connection.send(HEAD, f"Content-Length: 999\r\n\r\n{BODY}")
        deadline = time.monotonic() + SOON
        left = 'status="499"'
        while left not in http.get("/metrics").text:
            assert time.monotonic() < deadline
        assert 'status="500"' not in http.get("/metrics").text


class TestWithKeys:
    """Whose key is wrong, or used up, is told so before anything of the body is read."""

    TOKEN = "a key of these tests, long enough"
    KEYED = HEAD + f"Authorization: Bearer {TOKEN}\r\n"

    @pytest.fixture
    def keyed_url(self, tmp_path: Path) -> Iterator[str]:
        settings = Settings(embedder="hash", data_dir=tmp_path, api_key=SecretStr(self.TOKEN))
        app = create_app(settings)
        config = ConnectionConfig(
            app, connections=9, patience=ClientPatience(), timeout_graceful_shutdown=2
        )
        with served(app, config=config) as url:
            yield url

    def test_no_key(self, keyed_url: str) -> None:
        with line(keyed_url) as connection:
            connection.send(HEAD, "Content-Length: 1000\r\nExpect: 100-continue\r\n\r\n")
            assert connection.answer().status == 401
            assert connection.is_closed()
        assert asked(keyed_url, HEAD, "Content-Length: 1000\r\n\r\n").status == 401
        assert asked(keyed_url, HEAD, "Transfer-Encoding: chunked\r\n\r\n").status == 401

    def test_the_right_key_is_asked_for_the_body(self, keyed_url: str) -> None:
        with line(keyed_url) as connection:
            connection.send(
                self.KEYED, f"Content-Length: {len(BODY)}\r\nExpect: 100-continue\r\n\r\n"
            )
            assert connection.answer().status == 100
            connection.send(BODY)
            assert connection.answer().status == 200
        with httpx.Client(
            base_url=keyed_url, headers={"Authorization": f"Bearer {self.TOKEN}"}
        ) as http:
            [session] = http.get("/v1/sessions").json()["data"]
            [(said, _)] = rounds(http, "default", session["id"])
            assert said == "I sold my piano."

    def test_a_key_that_is_used_up_is_not_asked_for_a_body(self, tmp_path: Path) -> None:
        """Whose it is says the key, so that nothing of the body is needed to count it."""
        made = new_key("laptop", "ann", (), created_at="now")
        KeyFile(tmp_path / "keys.json").add(made.key)
        settings = Settings(
            embedder="hash", data_dir=tmp_path, limits=LimitSettings(requests_per_minute=2)
        )
        config = ConnectionConfig(
            create_app(settings),
            connections=9,
            patience=ClientPatience(),
            timeout_graceful_shutdown=2,
        )
        keyed = HEAD + f"Authorization: Bearer {made.token}\r\n"
        with served(config.app, config=config) as url:
            for _ in range(2):
                assert asked(url, f"{keyed}Content-Length: {len(BODY)}\r\n\r\n{BODY}").status == 200
            for half in ("Content-Length: 9\r\nExpect: 100-continue\r\n", "Content-Length: 9\r\n"):
                answer = asked(url, keyed, half, "\r\n")
                assert (answer.status, answer.error["code"]) == (429, "rate_limit_exceeded")
            # Another route, or none, is a request, too; what is open to everybody is not.
            assert asked(url, keyed.replace("/v1/chat/completions", "/no"), "\r\n").status == 429
            assert asked(url, HEALTH).status == 200
