"""A server told to stop: what it answers is finished and kept, what is new is sent elsewhere."""

import signal
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from calls import assert_error, chat, events, rounds, streamed_text
from commands import Server
from scripted_model import Reply, ScriptedModel, scripted_model

SAID = {"messages": [{"role": "user", "content": "I sold my piano."}]}
WORDS = [f"word{n} " for n in range(8)]


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with scripted_model() as scripted:
        yield scripted
        scripted.check()


@pytest.fixture
def settings(model: ScriptedModel, request: pytest.FixtureRequest) -> dict[str, str]:
    more: dict[str, str] = getattr(request, "param", {})
    return more | {
        "ASSISTANT_CHAT_MODEL": "openai/fake",
        "ASSISTANT_CHAT_MODEL_BASE_URL": model.url,
        "ASSISTANT_CHAT_MODEL_API_KEY": "k",
        "ASSISTANT_READING__MODE": "direct",
    }


@pytest.fixture
def answering(tmp_path: Path, settings: dict[str, str]) -> Iterator[Server]:
    assistant = Server(tmp_path / "data")
    assistant.start(**settings)
    yield assistant
    if assistant.running:
        assistant.end(signal.SIGKILL)


class Streaming(threading.Thread):
    """One streamed chat in a thread of its own; `begun` is set at its first piece."""

    def __init__(
        self, url: str, path: str = "/v1/chat/completions", body: Mapping[str, Any] = SAID
    ) -> None:
        super().__init__(daemon=True)
        self.begun = threading.Event()
        self.text = ""
        self.broken = False
        self._url = f"{url}{path}"
        whose = {"user": "ann", "metadata": {"session_id": "s"}}
        self._body = {"stream": True, **whose, **body}

    def run(self) -> None:
        try:
            with httpx.stream("POST", self._url, json=self._body, timeout=60) as reply:
                for piece in reply.iter_text():
                    self.text += piece
                    self.begun.set()
        except httpx.HTTPError:
            self.broken = True


def begun(server: Server) -> Streaming:
    streaming = Streaming(server.url)
    streaming.start()
    assert streaming.begun.wait(30)
    return streaming


def until_it_refuses(server: Server) -> httpx.Response:
    deadline = time.monotonic() + 10
    while (reply := httpx.get(f"{server.url}/ready")).status_code == 200:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return reply


def test_what_was_begun_is_delivered_whole_and_kept(
    answering: Server, model: ScriptedModel, settings: dict[str, str]
) -> None:
    model.on("direct").reply(*WORDS, delay=0.4)
    streaming = begun(answering)
    answering.signal(signal.SIGTERM)
    assert_error(until_it_refuses(answering), 503, "server_error", "shutting_down")
    with httpx.Client(base_url=answering.url) as http:
        refused = chat(http, "ann", "And now?")
        assert_error(refused, 503, "server_error", "shutting_down")
        assert refused.headers["retry-after"] == "5"
        assert http.get("/health").status_code == 200
    assert answering.wait() == 0
    streaming.join(10)
    received = events(streaming.text)
    assert received[-1] == "[DONE]"
    assert streamed_text(received) == "".join(WORDS)
    answering.start(**settings)
    with httpx.Client(base_url=answering.url) as http:
        assert rounds(http, "ann", "s") == [("I sold my piano.", "".join(WORDS))]


def test_a_second_signal_ends_it_at_once(
    answering: Server, model: ScriptedModel, settings: dict[str, str]
) -> None:
    model.on("direct").reply(*WORDS, delay=5.0)
    streaming = Streaming(answering.url)
    streaming.start()
    deadline = time.monotonic() + 30
    while not model.requests("direct"):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    answering.signal(signal.SIGTERM)
    until_it_refuses(answering)
    answering.signal(signal.SIGTERM)
    # The reply would take forty seconds.
    assert answering.wait(timeout=15) == -signal.SIGTERM
    streaming.join(10)
    assert "[DONE]" not in streaming.text
    answering.start(**settings)
    with httpx.Client(base_url=answering.url) as http:
        assert rounds(http, "ann", "s") == []


@pytest.mark.parametrize("settings", [{"ASSISTANT_SHUTDOWN_SECONDS": "0.2"}], indirect=True)
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": "Hi."}]}),
        ("/v1/responses", {"input": "Hi."}),
    ],
)
def test_it_waits_no_longer_than_it_is_told_and_says_so_in_the_stream(
    answering: Server, model: ScriptedModel, path: str, body: dict[str, Any]
) -> None:
    model.on("direct").always(lambda _: Reply(["One "] + ["and "] * 400, delay=0.1))
    streaming = Streaming(answering.url, path, body)
    streaming.start()
    assert streaming.begun.wait(30)
    answering.signal(signal.SIGTERM)
    assert answering.wait(timeout=15) == 0
    streaming.join(10)
    assert not streaming.broken
    error = events(streaming.text)[-1]["error"]
    assert (error["type"], error["code"]) == ("server_error", "shutting_down")


@pytest.mark.parametrize("settings", [{"ASSISTANT_SHUTDOWN_SECONDS": "0.2"}], indirect=True)
def test_who_waits_for_a_whole_answer_is_sent_elsewhere(
    answering: Server, model: ScriptedModel
) -> None:
    model.on("direct").reply(*WORDS, delay=5.0)
    with ThreadPoolExecutor() as threads, httpx.Client(base_url=answering.url, timeout=60) as http:
        waiting = threads.submit(chat, http, "ann", "I sold my piano.")
        deadline = time.monotonic() + 30
        while not model.requests("direct"):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        answering.signal(signal.SIGTERM)
        assert_error(waiting.result(15), 503, "server_error", "shutting_down")
    assert answering.wait(timeout=15) == 0
