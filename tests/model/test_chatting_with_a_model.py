"""Chat over HTTP with a model that is slow, wordy and often wrong."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from calls import answer, assert_error, chat, events, record, rounds, streamed_text
from real_model import CONTEXT_TOKENS, RealModel

# Its answers are its own; only that there is one, and its end, are known.
BRIEFLY = {"temperature": 0, "max_tokens": 40}


def used(http: httpx.Client, role: str) -> dict[str, int]:
    found: dict[str, int] = http.get("/v1/usage").json()["roles"].get(role, {})
    return found


def test_a_whole_answer_is_stored_and_counted(http: httpx.Client) -> None:
    record(http, "whole", "diary", "My cat is called Biscuit.", "A lovely name!")
    before = used(http, "chat")
    reply = chat(http, "whole", "What is my cat called?", **BRIEFLY)
    said, usage = answer(reply), reply.json()["usage"]
    assert said.strip()
    # The instructions and the round stand in the prompt.
    assert usage["prompt_tokens"] > 100
    assert 0 < usage["completion_tokens"] <= BRIEFLY["max_tokens"]
    assert reply.json()["choices"][0]["finish_reason"] in ("stop", "length")
    after = used(http, "chat")
    assert after["calls"] == before.get("calls", 0) + 1
    assert after["failed"] == before.get("failed", 0)
    written = after["completion_tokens"] - before.get("completion_tokens", 0)
    assert written == usage["completion_tokens"]
    sessions = http.get("/v1/sessions", params={"user_id": "whole"}).json()["data"]
    stored = [one for s in sessions for one in rounds(http, "whole", s["id"])]
    assert ("What is my cat called?", said) in stored


def test_a_streamed_answer_is_the_one_that_is_stored(http: httpx.Client) -> None:
    question = "Write two sentences about the sea."
    reply = chat(
        *(http, "streamed", question),
        stream=True,
        stream_options={"include_usage": True},
        metadata={"session_id": "talk"},
        **BRIEFLY,
    )
    *chunks, done = events(reply.text)
    assert done == "[DONE]"
    said = streamed_text(chunks)
    assert len([one for one in chunks if one["choices"]]) > 3
    assert chunks[-1]["usage"]["completion_tokens"] > 0
    assert rounds(http, "streamed", "talk") == [(question, said)]


def test_a_limit_ends_an_answer_as_cut(http: httpx.Client) -> None:
    reply = chat(http, "limited", "Tell a very long story.", temperature=0, max_tokens=5)
    assert reply.json()["choices"][0]["finish_reason"] == "length"
    assert reply.json()["usage"]["completion_tokens"] <= 5


def test_tools_of_a_request_are_ignored_as_the_reference_says(http: httpx.Client) -> None:
    tool = {"name": "weather", "parameters": {"type": "object", "properties": {}}}
    reply = chat(
        *(http, "tools", "What is the weather in Oslo?"),
        tools=[{"type": "function", "function": tool}],
        tool_choice={"type": "function", "function": {"name": "weather"}},
        **BRIEFLY,
    )
    assert answer(reply).strip()
    assert "tool_calls" not in reply.json()["choices"][0]["message"]
    assert reply.json()["choices"][0]["finish_reason"] in ("stop", "length")


@pytest.mark.parametrize("stream", [False, True])
def test_tools_of_memory_and_notes_do_no_harm_to_a_model_that_cannot_use_them(
    looking: httpx.Client, stream: bool
) -> None:
    user = f"looking {stream}"
    record(looking, user, "diary", "My cat is called Biscuit.", "A lovely name!")
    asked = {"temperature": 0, "max_tokens": 60, "metadata": {"session_id": "talk"}}
    reply = chat(looking, user, "How many cats do I have?", stream=stream, **asked)
    if stream:
        *chunks, done = events(reply.text)
        assert done == "[DONE]"
        said = streamed_text(chunks)
    else:
        said = answer(reply)
    assert said.strip()
    assert "NOTES" not in said.partition("\n")[0]
    assert rounds(looking, user, "talk") == [("How many cats do I have?", said)]


def test_who_leaves_in_the_middle_leaves_nothing_behind(
    http: httpx.Client, model: RealModel
) -> None:
    body = {
        "stream": True,
        "temperature": 0,
        "max_tokens": 4000,
        "messages": [{"role": "user", "content": "Count from one to a thousand, in words."}],
        "metadata": {"user_id": "leaver", "session_id": "left"},
    }
    with http.stream("POST", "/v1/chat/completions", json=body) as reply:
        assert reply.status_code == 200
        pieces = (json.loads(line[6:]) for line in reply.iter_lines() if line[:7] == "data: {")
        assert any(streamed_text([piece]) for piece in pieces)
        assert model.busy() == 1
    assert model.rests(10), "the model still writes an answer that nobody reads"
    assert rounds(http, "leaver", "left") == []
    assert http.get("/ready").status_code == 200
    assert answer(chat(http, "leaver", "Hello again.", **BRIEFLY))


def test_two_users_at_once_get_an_answer_each_from_their_own_memory(http: httpx.Client) -> None:
    record(http, "ann", "a", "I painted my kayak turquoise.", "Bold!")
    record(http, "bob", "b", "I painted my shed crimson.", "Cosy!")
    both = threading.Barrier(2)

    def ask(user: str) -> httpx.Response:
        both.wait()
        debug = {"memory_debug": "1"}
        return chat(http, user, "What did I paint, and how?", metadata=debug, **BRIEFLY)

    with ThreadPoolExecutor(2) as pool:
        ann, bob = pool.map(ask, ("ann", "bob"))
    for reply, own, other in ((ann, "turquoise", "crimson"), (bob, "crimson", "turquoise")):
        assert answer(reply).strip()
        assert own in str(reply.json()["memory"]["data"])
        assert other not in reply.text


def test_a_prompt_longer_than_the_context_is_refused_and_stores_nothing(
    http: httpx.Client, model: RealModel
) -> None:
    long = "It rained and rained and rained. " * 1500
    for stream in (False, True):
        reply = chat(http, "long", long, stream=stream, metadata={"session_id": "long"})
        if not stream or reply.status_code != 200:
            error = assert_error(reply, 400, "invalid_request_error", "context_length_exceeded")
        else:
            # Signs of life were sent while the question was read.
            (event,) = events(reply.text)
            error = event["error"]
            assert error["code"] == "context_length_exceeded"
        assert str(CONTEXT_TOKENS) in error["message"]
    assert rounds(http, "long", "long") == []
    assert model.rests(10)
    assert answer(chat(http, "long", "Hello.", metadata={"session_id": "long"}, **BRIEFLY))
