"""Chat over real HTTP when something fails: what the caller is told, and that nothing is stored."""

import json

import httpx
import pytest
from calls import answer, assert_error, chat, events, record, rounds, sessions, streamed_text
from scripted_model import PLAIN, Reply, ScriptedModel, Sent

COT = "chain_of_note"
IN_S = {"session_id": "s"}
TOO_LONG = "request (9031 tokens) exceeds the available context size (8192 tokens)"


@pytest.mark.parametrize(
    ("status", "headers", "expected"),
    [
        (400, {}, (500, "server_error", "prompt_refused")),
        (401, {}, (500, "server_error", "model_misconfigured")),
        (429, {"retry-after": "7"}, (429, "rate_limit_error", "rate_limited")),
        (500, {}, (503, "server_error", "model_unavailable")),
        (504, {}, (504, "server_error", "model_timeout")),
    ],
)
@pytest.mark.parametrize("stream", [True, False])
def test_a_failing_model_has_a_status_of_its_own_and_nothing_is_stored(
    answering: httpx.Client,
    model: ScriptedModel,
    ann: str,
    status: int,
    headers: dict[str, str],
    expected: tuple[int, str, str],
    stream: bool,
) -> None:
    model.on(COT).fault(status, headers=headers)
    reply = chat(answering, ann, "hi", stream=stream)
    assert_error(reply, *expected)
    assert reply.headers.get("retry-after") == headers.get("retry-after")
    assert sessions(answering, ann) == {}


@pytest.mark.parametrize(
    "said",
    [
        {"code": 400, "type": "exceed_context_size_error", "message": TOO_LONG},
        {"code": "context_length_exceeded", "message": "maximum context length is 8192 tokens"},
    ],
    ids=["llama.cpp", "OpenAI"],
)
@pytest.mark.parametrize("stream", [True, False])
def test_a_message_too_long_for_the_model_is_the_callers_to_shorten(
    answering: httpx.Client,
    model: ScriptedModel,
    ann: str,
    said: dict[str, object],
    stream: bool,
) -> None:
    model.on(PLAIN).raw(json.dumps({"error": said}), status=400)
    reply = chat(answering, ann, "hi", stream=stream, metadata={"memory": "off"})
    error = assert_error(reply, 400, "invalid_request_error", "context_length_exceeded")
    assert "8192 tokens" in error["message"]
    assert sessions(answering, ann) == {}


def test_a_model_that_cannot_read_so_much_is_shown_less_of_the_memory(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    for day in range(10, 30):
        text = f"On day {day} I walked to the mill. " + "It rained on and on. " * 40
        record(answering, ann, f"s{day}", text, "Ok.", timestamp=f"2023-04-{day}T10:00:00Z")

    def fits(sent: Sent) -> bool:
        return len(sent.system) < 12_000

    refused = json.dumps({"error": {"message": TOO_LONG}})
    model.on(COT, lambda sent: not fits(sent)).always(lambda sent: Reply(raw=refused, status=400))
    model.on(COT, fits).reply("ANSWER: To the mill.")
    debug = {"memory_debug": "1", "memory": "read_only"}
    reply = chat(answering, ann, "Where did I walk?", metadata=debug)
    assert answer(reply) == "To the mill."
    assert 0 < len(reply.json()["memory"]["read"]) < 20
    assert reply.json()["memory"]["dropped"]


@pytest.mark.parametrize(
    ("reply", "stream"), [("", True), ("", False), ("NOTES: only notes", False)]
)
def test_a_reply_without_an_answer_is_not_stored(
    answering: httpx.Client, model: ScriptedModel, ann: str, reply: str, stream: bool
) -> None:
    model.on(COT).reply(reply)
    failed = chat(answering, ann, "hi", stream=stream)
    assert_error(failed, 502, "server_error", "bad_model_reply")
    assert sessions(answering, ann) == {}


@pytest.mark.parametrize("reason", ["stop", "length"])
def test_a_stream_of_notes_alone_ends_with_the_error(
    answering: httpx.Client, model: ScriptedModel, ann: str, reason: str
) -> None:
    model.on(COT).reply("NOTES: only", " notes", finish_reason=reason)
    reply = chat(answering, ann, "hi", stream=True)
    *chunks, error = events(reply.text)
    assert streamed_text(chunks) == ""
    assert error["error"]["code"] == "bad_model_reply"
    assert error["error"]["type"] == "server_error"
    assert sessions(answering, ann) == {}


def test_an_answer_cut_by_length_is_stored_and_says_so(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    model.on(COT).reply("ANSWER: In Gh", finish_reason="length")
    reply = chat(answering, ann, "hi", metadata=IN_S)
    assert reply.json()["choices"][0]["finish_reason"] == "length"
    assert rounds(answering, ann, "s") == [("hi", "In Gh")]


def test_an_error_after_the_first_byte_is_an_event_and_nothing_is_stored(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    model.on(COT).drop("ANSWER: In ", "Gh")
    reply = chat(answering, ann, "hi", stream=True)
    assert reply.status_code == 200
    *chunks, error = events(reply.text)
    assert streamed_text(chunks) == "In Gh"
    assert error["error"]["code"] == "model_unavailable"
    assert sessions(answering, ann) == {}


def test_a_client_that_leaves_stops_the_model_and_stores_nothing(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    model.on(COT).reply("ANSWER: In ", *["and on "] * 500, delay=0.02)
    body = {
        "messages": [{"role": "user", "content": "hi"}],
        "metadata": {"user_id": ann},
        "stream": True,
    }
    with answering.stream("POST", "/v1/chat/completions", json=body) as reply:
        next(reply.iter_lines())
    assert model.left.wait(5)
    assert sessions(answering, ann) == {}


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses"])
def test_a_client_that_does_not_wait_for_a_whole_answer_stops_the_model_too(
    answering: httpx.Client, model: ScriptedModel, ann: str, path: str
) -> None:
    model.on(COT).reply("ANSWER: In ", *["and on "] * 500, delay=0.02)
    said = {"messages": [{"role": "user", "content": "hi"}], "input": "hi"}
    with pytest.raises(httpx.ReadTimeout):
        answering.post(path, json=said | {"metadata": {"user_id": ann}}, timeout=0.5)
    assert model.left.wait(5)
    assert sessions(answering, ann) == {}
