"""The listening chat model: what it keeps, and that any OpenAI client can speak to it."""

import json

import httpx
import openai
import pytest

from harness.errors import UsageError
from harness.pipeline.prompts import ANSWER, all_text, recording_model

ASKED = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi?"}]


def test_it_keeps_prompts_until_they_are_taken() -> None:
    with recording_model(0) as model:
        client = openai.OpenAI(base_url=model.url, api_key="none", max_retries=0)
        whole = client.chat.completions.create(model="m", messages=ASKED)  # type: ignore[arg-type]
        assert whole.choices[0].message.content == ANSWER
        streamed = client.chat.completions.create(  # type: ignore[call-overload]
            model="m", messages=ASKED, stream=True
        )
        pieces = [chunk.choices[0].delta.content or "" for chunk in streamed if chunk.choices]
        assert "".join(pieces) == ANSWER
        taken = model.take()
        assert [all_text(request) for request in taken] == ["Be brief.\n\nHi?"] * 2
        assert [request["messages"] for request in taken] == [ASKED] * 2
        assert model.take() == []
        client.close()


def test_it_calls_tools_as_it_is_told_before_it_answers() -> None:
    function = {"name": "list_sessions", "arguments": "{}"}
    call = {"id": "c1", "type": "function", "function": function}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    with recording_model(0) as model:
        client = openai.OpenAI(base_url=model.url, api_key="none", max_retries=0)
        model.call([{"content": None, "tool_calls": [call | {"index": 0}]}])
        for _ in range(2):
            streamed = client.chat.completions.create(  # type: ignore[call-overload]
                model="m", messages=ASKED, stream=True
            )
            chunks = [chunk.choices[0] for chunk in streamed if chunk.choices]
            assert chunks[0].delta.tool_calls[0].function.name == "list_sessions"
            assert chunks[-1].finish_reason == "tool_calls"
        result = {"role": "tool", "tool_call_id": "c1", "content": "none"}
        said = client.chat.completions.create(
            model="m",
            messages=[*ASKED, message, result],  # type: ignore[arg-type, list-item]
        )
        assert said.choices[0].message.content == ANSWER
        client.close()


def test_text_in_parts_is_text() -> None:
    with recording_model(0) as model:
        parts = [
            {"type": "text", "text": "Hi"},
            {"type": "image_url"},
            {"type": "text", "text": "!"},
        ]
        body = {"messages": [{"role": "user", "content": parts}]}
        assert httpx.post(f"{model.url}/chat/completions", json=body).status_code == 200
        assert [all_text(request) for request in model.take()] == ["Hi!"]
        assert httpx.get(f"{model.url}/models").json()["data"][0]["id"] == "recording"


@pytest.mark.parametrize("body", ["", "[]", '{"messages": 3}', '{"messages": [{}]}'])
def test_what_is_no_chat_request_is_refused_and_not_kept(body: str) -> None:
    with recording_model(0) as model:
        reply = httpx.post(f"{model.url}/chat/completions", content=body)
        assert reply.status_code == 400
        assert "message" in json.loads(reply.text)["error"]
        assert model.take() == []


def test_a_taken_port_is_named() -> None:
    with recording_model(0) as model:
        port = int(model.url.split(":")[2].split("/")[0])
        with pytest.raises(UsageError, match=f"--listen {port}"), recording_model(port):
            pass
