"""Tools, formats and pictures by OpenAI's Responses API."""

from typing import Any

import httpx
import openai
import pytest
from calls import assert_error, record, rounds
from openai.types.responses import ResponseFunctionToolCall
from scripted_model import ScriptedModel
from tool_calling import calls

BESIDE = "memory_beside"
WEATHER: Any = {
    "type": "function",
    "name": "weather",
    "description": "The weather of a place.",
    "parameters": {"type": "object", "properties": {"place": {"type": "string"}}},
    "strict": True,
}
WEATHER_IN_CHATS = {
    "type": "function",
    "function": {name: told for name, told in WEATHER.items() if name != "type"},
}
SCHEMA = {"name": "city", "schema": {"type": "object"}, "strict": True}


def returned(call: ResponseFunctionToolCall, told: str) -> Any:
    return {"type": "function_call_output", "call_id": call.call_id, "output": told}


def the_call(response: Any) -> ResponseFunctionToolCall:
    (item,) = response.output
    assert isinstance(item, ResponseFunctionToolCall)
    return item


@pytest.mark.parametrize("stream", [True, False])
def test_everything_of_a_request_reaches_the_model(
    answering: httpx.Client, model: ScriptedModel, ann: str, stream: bool
) -> None:
    model.on("plain").reply("{}")
    picture = {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "low"}
    file = {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,A"}
    called = {"call_id": "c1", "name": "weather", "arguments": "{}", "id": "fc_1"}
    body = {
        "input": [
            {"role": "developer", "content": "Be kind."},
            {"role": "user", "content": "Will it rain?"},
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {"type": "function_call", **called},
            {"type": "function_call_output", "call_id": "c1", "output": "rain"},
            {"role": "assistant", "content": [{"type": "output_text", "text": "Yes."}]},
            {"role": "user", "content": [{"type": "input_text", "text": "Why?"}, picture, file]},
        ],
        "instructions": "Be brief.",
        "tools": [WEATHER],
        "tool_choice": {"type": "function", "name": "weather"},
        "parallel_tool_calls": False,
        "text": {"format": {"type": "json_schema", **SCHEMA}, "verbosity": "low"},
        "reasoning": {"effort": "low", "summary": None},
        "max_output_tokens": 9,
        "temperature": 0,
        "top_p": 0.5,
        "include": ["message.output_text.logprobs"],
        "top_logprobs": 2,
        "service_tier": "flex",
        "user": ann,
        "unknown": {"x": [1]},
        "stream": stream,
        "metadata": {"memory": "off"},
    }
    assert answering.post("/v1/responses", json=body).status_code == 200
    (sent,) = model.sent
    function = {"name": "weather", "arguments": "{}"}
    assert sent.body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Will it rain?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "rain"},
        {"role": "assistant", "content": "Yes."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Why?"},
                {
                    "type": "image_url",
                    "image_url": {"url": picture["image_url"], "detail": "low"},
                },
                {
                    "type": "file",
                    "file": {"filename": "a.pdf", "file_data": file["file_data"]},
                },
            ],
        },
    ]
    passed = {k: v for k, v in sent.body.items() if k not in ("messages", "model", "stream")}
    assert passed == {
        "stream_options": {"include_usage": True},
        "tools": [WEATHER_IN_CHATS],
        "tool_choice": {"type": "function", "function": {"name": "weather"}},
        "parallel_tool_calls": False,
        "response_format": {"type": "json_schema", "json_schema": SCHEMA},
        "verbosity": "low",
        "reasoning_effort": "low",
        "max_completion_tokens": 9,
        "temperature": 0,
        "top_p": 0.5,
        "logprobs": True,
        "top_logprobs": 2,
        "service_tier": "flex",
        "user": ann,
        "unknown": {"x": [1]},
    }


@pytest.mark.parametrize("memory", ["on", "read_only"])
def test_a_loop_goes_on_with_the_results_alone(
    official: openai.OpenAI,
    answering: httpx.Client,
    model: ScriptedModel,
    ann: str,
    memory: str,
) -> None:
    record(answering, ann, "before", "I moved to Ghent.", "Nice.")
    for number in range(3):
        model.on(BESIDE).chunks(*calls("Ghent", first=number))
    model.on(BESIDE).reply("Rain.")
    common: Any = {
        "model": "aide-memoire",
        "tools": [WEATHER],
        "metadata": {"user_id": ann, "memory": memory},
    }
    response = official.responses.create(input="Will it rain where I live?", **common)
    for _ in range(3):
        call = the_call(response)
        assert (call.name, call.arguments) == ("Ghent", '{"place": "Ghent"}')
        response = official.responses.create(
            input=[returned(call, "rain")], previous_response_id=response.id, **common
        )
    assert response.output_text == "Rain."
    roles = [message["role"] for message in model.sent[-1].body["messages"]]
    assert roles == ["system", "user", *["assistant", "tool"] * 3]
    assert "I moved to Ghent." in model.sent[-1].system
    assert response.conversation is not None
    kept = rounds(answering, ann, response.conversation.id)
    assert kept == ([("Will it rain where I live?", "Rain.")] if memory == "on" else [])


def test_a_loop_goes_on_with_all_items(
    official: openai.OpenAI, answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    model.on(BESIDE).chunks(*calls("Ghent", "Bruges")).reply("Rain.")
    items: Any = [{"role": "user", "content": "Will it rain?"}]
    common: Any = {"model": "aide-memoire", "tools": [WEATHER], "conversation": "s", "user": ann}
    first = official.responses.create(input=items, **common)
    items += [item.model_dump() for item in first.output]
    items += [returned(item, "rain") for item in first.output if item.type == "function_call"]
    assert official.responses.create(input=items, **common).output_text == "Rain."
    said = model.sent[-1].body["messages"]
    assert [m["role"] for m in said] == ["system", "user", "assistant", "tool", "tool"]
    assert rounds(answering, ann, "s") == [("Will it rain?", "Rain.")]


def test_calls_are_streamed(official: openai.OpenAI, model: ScriptedModel, ann: str) -> None:
    text = {"choices": [{"index": 0, "delta": {"content": "Let me see."}}]}
    model.on(BESIDE).chunks(text, *calls("Ghent", "Bruges"))
    with official.responses.stream(
        model="aide-memoire", input="Will it rain?", tools=[WEATHER], user=ann
    ) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    call = [
        "response.output_item.added",
        *["response.function_call_arguments.delta"] * 2,
    ]
    assert kinds == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        *call,
        *call,
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        *["response.function_call_arguments.done", "response.output_item.done"] * 2,
        "response.completed",
    ]
    assert final.output_text == "Let me see."
    assert [item.type for item in final.output] == ["message", "function_call", "function_call"]


@pytest.mark.parametrize(
    ("wrong", "param"),
    [
        ({"tools": [{"type": "web_search"}]}, "tools"),
        ({"tool_choice": {"type": "file_search"}}, "tool_choice"),
        ({"tool_choice": 5}, "tool_choice"),
        ({"prompt": {"id": "p"}}, "prompt"),
        ({"text": {"format": "json"}}, "text.format"),
        ({"include": 5}, "include"),
        ({"reasoning": {"effort": 5}}, "reasoning.effort"),
        ({"input": [{"type": "item_reference", "id": "x"}]}, "input"),
        ({"input": [{"type": "function_call_output", "call_id": "1", "output": 3}]}, "input"),
        (
            {"input": [{"role": "user", "content": [{"type": "input_file", "file_url": "x"}]}]},
            "input",
        ),
    ],
)
def test_what_cannot_be_passed_on_is_refused(
    answering: httpx.Client, ann: str, wrong: dict[str, Any], param: str
) -> None:
    reply = answering.post("/v1/responses", json={"input": "hi", "user": ann} | wrong)
    assert reply.status_code == 400
    assert reply.json()["error"]["param"] == param


def test_results_of_calls_that_nobody_knows_are_not_found(
    answering: httpx.Client, ann: str
) -> None:
    result = {"type": "function_call_output", "call_id": "1", "output": "42"}
    body = {"input": [result], "conversation": "s", "user": ann}
    reply = answering.post("/v1/responses", json=body)
    error = assert_error(reply, 404, "not_found_error", "response_not_found")
    assert "from the user's last message on" in error["message"]
