"""What a program sends reaches the language model as it came; what the model says comes back."""

import json
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from calls import answer, assert_error, chat, events, record, rounds
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scripted_model import PLAIN, Reply, ScriptedModel
from served import served
from tool_calling import called, calls

from assistant import Settings, create_app
from assistant.characters import is_blank

BESIDE = "memory_beside"
OFF = {"memory": "off"}
IN_S = {"session_id": "s"}
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather of a place.",
        "parameters": {"type": "object", "properties": {"place": {"type": "string"}}},
        "strict": True,
    },
}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA==", "detail": "low"}}
SCHEMA = {
    "type": "json_schema",
    "json_schema": {"name": "city", "strict": True, "schema": {"type": "object"}},
}
EVERYTHING = {
    "tools": [WEATHER, {"type": "custom", "custom": {"name": "grep"}}],
    "tool_choice": {"type": "function", "function": {"name": "weather"}},
    "parallel_tool_calls": False,
    "response_format": SCHEMA,
    "reasoning_effort": "high",
    "logprobs": True,
    "top_logprobs": 3,
    "n": 2,
    "seed": 7,
    "stop": ["END"],
    "temperature": 1,
    "max_tokens": 50,
    "max_completion_tokens": 60,
    "logit_bias": {"1": 2},
    "safety_identifier": "x",
    "unknown": {"deep": [1, 2.5, None, "ü"]},
}
CONVERSATION: list[dict[str, Any]] = [
    {"role": "developer", "content": [{"type": "text", "text": "Be brief."}]},
    {"role": "user", "content": [{"type": "text", "text": "a"}, PICTURE], "name": "Ann"},
    {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": ""},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
        ],
    },
    {"role": "tool", "content": [{"type": "text", "text": "42"}], "tool_call_id": "1"},
    {"role": "assistant", "content": "c", "refusal": None, "annotations": []},
]


@pytest.mark.parametrize("stream", [True, False])
def test_every_field_arrives_as_it_was_sent(
    answering: httpx.Client, model: ScriptedModel, ann: str, stream: bool
) -> None:
    model.on(PLAIN).reply("ok")
    more = EVERYTHING | {"stream": stream, "user": ann}
    reply = chat(answering, ann, "d", earlier=CONVERSATION, metadata=OFF, **more)
    assert reply.status_code == 200, reply.text
    (sent,) = model.sent
    got = {name: sent.body[name] for name in EVERYTHING}
    assert json.dumps(got) == json.dumps(EVERYTHING)
    assert sent.body["messages"] == [*CONVERSATION, {"role": "user", "content": "d"}]
    assert sent.body["user"] == ann


names = st.text("abcdefghij_", min_size=3, max_size=12).map(lambda name: f"x_{name}")
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
said = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
parts = st.lists(
    st.builds(lambda text: {"type": "text", "text": text}, said) | st.just(PICTURE),
    min_size=1,
    max_size=3,
)
messages = st.one_of(
    st.builds(
        lambda role, content, more: {**more, "role": role, "content": content},
        st.sampled_from(["user", "assistant", "system", "developer"]),
        said | parts,
        st.dictionaries(names, values, max_size=2),
    ),
    st.builds(
        lambda id, name, given: {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": id, "type": "function", "function": {"name": name, "arguments": given}}
            ],
        },
        said,
        names,
        said,
    ),
    st.builds(lambda id, told: {"role": "tool", "tool_call_id": id, "content": told}, said, said),
)
fields = st.fixed_dictionaries(
    {},
    optional={
        "tools": st.lists(
            st.builds(
                lambda name, more: {"type": "function", "function": {**more, "name": name}},
                names,
                st.dictionaries(names, values, max_size=2),
            ),
            max_size=3,
        ),
        "tool_choice": st.sampled_from(["auto", "none", "required"]),
        "parallel_tool_calls": st.booleans(),
        "response_format": st.sampled_from([SCHEMA, {"type": "json_object"}, {"type": "text"}]),
        "temperature": st.sampled_from([0, 0.5, 1, 2]),
        "n": st.integers(1, 3),
        "logprobs": st.booleans(),
        "seed": st.integers(0, 2**31),
        "stop": st.sampled_from(["x", ["x", "y"]]),
        "reasoning_effort": st.sampled_from(["low", "high"]),
        "max_tokens": st.integers(1, 9),
        "max_completion_tokens": st.integers(1, 9),
    },
)


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    earlier=st.lists(messages, max_size=4),
    asked=said.filter(lambda text: not is_blank(text)) | parts.map(lambda some: [*some, PICTURE]),
    after=st.lists(messages.filter(lambda m: m["role"] != "user"), max_size=2),
    asked_for=fields,
    unknown=st.dictionaries(names, values, max_size=2),
    stream=st.booleans(),
)
def test_random_requests_arrive_as_they_were_sent(
    answering: httpx.Client,
    model: ScriptedModel,
    earlier: list[Any],
    asked: Any,
    after: list[Any],
    asked_for: dict[str, Any],
    unknown: dict[str, Any],
    stream: bool,
) -> None:
    model.reset()
    model.on(PLAIN).always(lambda _: Reply(["ok"]))
    model.on(BESIDE).always(lambda _: Reply(["ok"]))
    result = {"role": "tool", "tool_call_id": "1", "content": "42"}
    messages = [*earlier, {"role": "user", "content": asked}, *after]
    messages += [result] if after else []
    body = {**asked_for, **unknown, "messages": messages, "stream": stream, "tools": [WEATHER]}
    for memory in ("off", "read_only"):
        metadata = {"user_id": "nobody", "memory": memory}
        reply = answering.post("/v1/chat/completions", json={**body, "metadata": metadata})
        assert reply.status_code == 200, reply.text
        got = model.sent[-1].body
        for name in (*asked_for, *unknown, "tools"):
            assert json.dumps(got[name]) == json.dumps(body[name])
        assert _without_memory(got["messages"]) == messages


def _without_memory(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages without the text that memory stands in."""
    first, *rest = messages
    mark = "You remember earlier conversations with this user."
    content = first["content"]
    if isinstance(content, str) and mark in content:
        before, joint, _ = content.rpartition(f"\n\n{mark}")
        return [{**first, "content": before}, *rest] if joint else rest
    if isinstance(content, list) and mark in str(content[-1].get("text")):
        return [{**first, "content": content[:-1]}, *rest]
    return messages


def test_calls_of_tools_come_back_as_the_model_made_them(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    usage = {
        "prompt_tokens": 70,
        "completion_tokens": 30,
        "total_tokens": 100,
        "prompt_tokens_details": {"cached_tokens": 64},
    }
    chunks = calls("Ghent", "Bruges")
    model.on(BESIDE).chunks(*chunks, usage=usage).chunks(*chunks, usage=usage)
    asked = {"tools": [WEATHER], "metadata": IN_S}
    whole = chat(answering, ann, "Will it rain?", **asked).json()
    (choice,) = whole["choices"]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"] == {
        "role": "assistant",
        "content": None,
        "tool_calls": [called("call_0", "Ghent"), called("call_1", "Bruges")],
    }
    assert whole["usage"] == usage
    include = {"stream": True, "stream_options": {"include_usage": True}}
    streamed = events(chat(answering, ann, "Will it rain?", **asked, **include).text)
    deltas = [one["choices"][0]["delta"] for one in streamed[:-1] if one["choices"]]
    sent = [chunk["choices"][0]["delta"] for chunk in chunks]
    assert deltas[0].pop("role") == "assistant"
    assert [d for d in deltas if "tool_calls" in d] == [d for d in sent if "tool_calls" in d]
    assert [one["choices"][0]["finish_reason"] for one in streamed[:-2]][-1] == "tool_calls"
    assert streamed[-2]["usage"] == usage


def test_a_loop_of_tool_calls_is_one_recall_and_one_round(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    record(answering, ann, "before", "I moved to Ghent.", "Nice.")
    for number in range(6):
        model.on(BESIDE).chunks(*calls("Ghent", first=number))
    model.on(BESIDE).reply("Rain ", "in Ghent.")
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Will it rain where I live?"}]
    metadata = {"user_id": ann, **IN_S}
    before = _searches(answering)
    for _ in range(7):
        body = {"messages": messages, "tools": [WEATHER], "metadata": metadata}
        reply = answering.post("/v1/chat/completions", json=body)
        message = reply.json()["choices"][0]["message"]
        messages.append(message)
        for call in message.get("tool_calls", ()):
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": "secret rain"})
    assert answer(reply) == "Rain in Ghent."
    assert _searches(answering) == before + 1
    prompts = {sent.system for sent in model.requests(BESIDE)}
    assert len(prompts) == 1
    assert "I moved to Ghent." in prompts.pop()
    last = model.sent[-1].body["messages"]
    assert last[1:] == messages[:-1]
    stored = answering.get("/v1/sessions/s", params={"user_id": ann}).json()["data"]
    (round,) = stored
    assert (round["user_text"], round["assistant_text"], round["tools"]) == (
        "Will it rain where I live?",
        "Rain in Ghent.",
        ["Ghent"],
    )


def _searches(answering: httpx.Client) -> int:
    """How often memory was searched for an answer."""
    lines = answering.get("/metrics").text.splitlines()
    name = 'stage_seconds_count{stage="search"}'
    return round(sum(float(line.rpartition(" ")[2]) for line in lines if name in line))


def test_what_was_asked_is_kept_although_the_loop_never_ends(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    model.on(BESIDE).chunks(*calls("final"))
    chat(answering, ann, "I moved to Bruges. Book a table.", tools=[WEATHER], metadata=IN_S)
    assert rounds(answering, ann, "s") == [("I moved to Bruges. Book a table.", "")]


def test_what_is_forgotten_is_in_no_loop_any_more(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    record(answering, ann, "before", "I moved to Ghent.", "Nice.")
    model.on(BESIDE).chunks(*calls("Ghent")).reply("Rain.")
    asked = {"role": "user", "content": "Will it rain where I live?"}
    first = chat(answering, ann, asked["content"], tools=[WEATHER], metadata=IN_S).json()
    answering.delete("/v1/sessions/before", params={"user_id": ann})
    message = first["choices"][0]["message"]
    result = {"role": "tool", "tool_call_id": "call_0", "content": "rain"}
    body = {"messages": [asked, message, result], "metadata": {"user_id": ann, **IN_S}}
    answer(answering.post("/v1/chat/completions", json=body))
    assert "I moved to Ghent." in model.sent[0].system
    assert "I moved to Ghent." not in model.sent[1].system


def test_several_choices_and_probabilities_come_back(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    def chunk(index: int, text: str, **more: Any) -> dict[str, Any]:
        token = {"token": text, "logprob": -0.5, "bytes": None, "top_logprobs": []}
        logprobs = {"content": [token], "refusal": None}
        delta = {"role": "assistant", "content": text}
        return {"choices": [{"index": index, "delta": delta, "logprobs": logprobs, **more}]}

    model.on(BESIDE).chunks(
        chunk(1, "Yes"),
        chunk(0, "No"),
        chunk(1, "!", finish_reason="stop"),
        chunk(0, ".", finish_reason="length"),
    )
    asked = {"n": 2, "logprobs": True, "metadata": IN_S}
    first, second = chat(answering, ann, "Well?", **asked).json()["choices"]
    assert (first["message"]["content"], first["finish_reason"]) == ("No.", "length")
    assert (second["message"]["content"], second["finish_reason"]) == ("Yes!", "stop")
    assert [one["token"] for one in second["logprobs"]["content"]] == ["Yes", "!"]
    assert rounds(answering, ann, "s") == [("Well?", "No.")]


def test_reasoning_that_the_model_shows_comes_back(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    deltas = [{"reasoning_content": "Hm. "}, {"reasoning_content": "So."}, {"content": "Yes."}]
    chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    model.on(PLAIN).chunks(*chunks)
    message = chat(answering, ann, "Well?", metadata=OFF).json()["choices"][0]["message"]
    assert message == {"role": "assistant", "content": "Yes.", "reasoning_content": "Hm. So."}


def test_a_picture_is_kept_as_what_was_said_of_it(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    model.on(BESIDE).reply("A dog.").reply("A cat.")
    text = {"type": "text", "text": "This is Rex."}
    for content in ([text, PICTURE], [PICTURE]):
        body = {
            "messages": [{"role": "user", "content": content}],
            "metadata": {"user_id": ann, **IN_S},
        }
        answer(answering.post("/v1/chat/completions", json=body))
        assert model.sent[-1].body["messages"][-1]["content"] == content
    assert rounds(answering, ann, "s") == [("This is Rex.", "A dog."), ("[picture]", "A cat.")]


def test_a_format_is_answered_by_the_model_alone(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    model.on(PLAIN).reply('{"city": null}').reply('{"kept": false}')
    asked = {"response_format": SCHEMA, "metadata": IN_S}
    forget = "Delete what I said about Ghent."
    assert answer(chat(answering, ann, forget, **asked)) == '{"city": null}'
    secret = chat(answering, ann, "Don't remember this: my pin is 1234.", **asked)
    assert answer(secret) == '{"kept": false}'
    assert rounds(answering, ann, "s") == []


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        ({"tools": [WEATHER]}, "tools"),
        ({"response_format": SCHEMA}, "response_format"),
        ({"n": 2}, "n"),
        ({"logprobs": True}, "logprobs"),
    ],
)
def test_without_a_model_what_needs_one_is_refused(
    http: httpx.Client, ann: str, wanted: dict[str, Any], name: str
) -> None:
    reply = chat(http, ann, "hi", **wanted)
    error = assert_error(reply, 400, "invalid_request_error", "needs_model")
    assert error["param"] == name
    assert "language model" in error["message"]


def test_without_a_model_neither_pictures_nor_results_are_understood(
    http: httpx.Client, ann: str
) -> None:
    picture = {"role": "user", "content": [PICTURE]}
    result = {"role": "tool", "tool_call_id": "1", "content": "42"}
    for said in ([picture], [{"role": "user", "content": "hi"}, result]):
        body = {"messages": said, "metadata": {"user_id": ann}}
        reply = http.post("/v1/chat/completions", json=body)
        assert_error(reply, 400, "invalid_request_error", "needs_model")


def test_what_the_model_refuses_of_a_program_is_said(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    refusal = json.dumps({"error": {"message": "this model does not support tools"}})
    model.on(BESIDE).raw(refusal, status=400)
    reply = chat(answering, ann, "hi", tools=[WEATHER])
    error = assert_error(reply, 400, "invalid_request_error", "prompt_refused")
    assert "does not support tools" in error["message"]


def test_the_official_client_runs_a_loop_and_reads_a_format(
    official: openai.OpenAI, model: ScriptedModel, ann: str
) -> None:
    model.on(BESIDE).chunks(*calls("Ghent")).reply("Rain.")
    messages: list[Any] = [{"role": "user", "content": "Will it rain?"}]
    tools: Any = [WEATHER]
    with official.chat.completions.stream(
        model="aide-memoire", messages=messages, tools=tools, user=ann
    ) as stream:
        first = stream.get_final_completion().choices[0].message
    assert first.tool_calls
    messages += [
        first.model_dump(include={"role", "content", "tool_calls"}),
        {"role": "tool", "tool_call_id": first.tool_calls[0].id, "content": "rain"},
    ]
    last = official.chat.completions.create(
        model="aide-memoire", messages=messages, tools=tools, user=ann
    )
    assert last.choices[0].message.content == "Rain."


def test_results_of_tools_are_kept_where_a_setting_says_so(
    model: ScriptedModel, tmp_path: Path
) -> None:
    chat_model = {"name": "openai/fake", "base_url": model.url, "api_key": "k"}
    settings = Settings.model_validate(
        {
            "embedder": "hash",
            "data_dir": tmp_path,
            "chat_model": chat_model,
            "remember_tool_results": 9,
        }
    )
    model.on(BESIDE).chunks(*calls("weather")).reply("Rain.")
    asked = {"role": "user", "content": "Will it rain?"}
    with served(create_app(settings)) as url, httpx.Client(base_url=url, timeout=60) as http:
        first = chat(http, "ann", "Will it rain?", tools=[WEATHER], metadata=IN_S).json()
        message = first["choices"][0]["message"]
        result = {"role": "tool", "tool_call_id": "call_0", "content": "rain, 12 °C, wind"}
        body = {"messages": [asked, message, result], "metadata": {"user_id": "ann", **IN_S}}
        answer(http.post("/v1/chat/completions", json=body))
        kept = "[weather: rain, 12 ]\n\nRain."
        assert rounds(http, "ann", "s") == [("Will it rain?", kept)]
        # What the client shows as the answer is what it sends back, and is known again.
        earlier = [asked, message, result, {"role": "assistant", "content": "Rain."}]
        for _ in range(2):
            model.on("chain_of_note").reply("You are welcome.")
            answer(chat(http, "ann", "I like rain, and tools.", earlier=earlier, metadata=IN_S))
        assert [user for user, _ in rounds(http, "ann", "s")] == [
            "Will it rain?",
            "I like rain, and tools.",
        ]
