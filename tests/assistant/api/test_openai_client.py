"""The official client, with nothing changed but its base URL."""

import httpx
import openai
import pytest
from calls import record, rounds
from openai.types.chat import ChatCompletionMessageParam
from scripted_model import ScriptedModel

HI: list[ChatCompletionMessageParam] = [{"role": "user", "content": "hi"}]
COT = "chain_of_note"


def test_a_whole_answer_by_user_and_metadata(
    official: openai.OpenAI, answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    record(answering, ann, "before", "I ran in Ghent.", "Great!")
    model.on(COT).reply("NOTES: Ghent\nANSWER: In Ghent.")
    reply = official.chat.completions.create(
        model="aide-memoire",
        messages=HI,
        metadata={"user_id": ann, "session_id": "s", "memory_debug": "1"},
    )
    assert reply.choices[0].message.content == "In Ghent."
    assert reply.usage is not None
    assert reply.usage.total_tokens == 10
    assert reply.model_extra is not None
    assert reply.model_extra["memory"]["session_id"] == "s"
    assert rounds(answering, ann, "s") == [("hi", "In Ghent.")]


def test_a_streamed_answer(official: openai.OpenAI, model: ScriptedModel, ann: str) -> None:
    model.on(COT).reply("NOTES: x\nANSWER: In", " Ghent.")
    stream = official.chat.completions.create(
        model="aide-memoire",
        messages=HI,
        user=ann,
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = list(stream)
    texts = [c.choices[0].delta.content or "" for c in chunks if c.choices]
    assert "".join(texts) == "In Ghent."
    assert chunks[0].choices[0].delta.role == "assistant"
    assert chunks[-1].usage is not None
    assert chunks[-1].choices == []


def test_messages_carry_their_own_time(
    official: openai.OpenAI, model: ScriptedModel, ann: str
) -> None:
    model.on(COT).reply("ANSWER: ok")
    messages = [{"role": "user", "content": "hi", "timestamp": "2023/05/20 (Sat) 02:21"}]
    official.chat.completions.create(
        model="aide-memoire",
        user=ann,
        messages=messages,  # type: ignore[arg-type]
    )
    assert "Today is 2023-05-20 (Sat)." in model.sent[0].system


def test_models(official: openai.OpenAI) -> None:
    assert [model.id for model in official.models.list()] == ["aide-memoire", "aide-memoire-nomem"]
    assert official.models.retrieve("aide-memoire").owned_by == "aide-memoire"


def test_errors_are_its_own_classes(
    official: openai.OpenAI, model: ScriptedModel, ann: str
) -> None:
    with pytest.raises(openai.NotFoundError) as unknown:
        official.chat.completions.create(model="gpt-4", messages=HI)
    assert (unknown.value.code, unknown.value.param) == ("model_not_found", "model")
    with pytest.raises(openai.BadRequestError) as empty:
        official.chat.completions.create(model="aide-memoire", messages=[])
    assert empty.value.code == "empty_messages"
    big: list[ChatCompletionMessageParam] = [{"role": "user", "content": "x" * 9_000_000}]
    with pytest.raises(openai.APIStatusError) as large:
        official.chat.completions.create(model="aide-memoire", messages=big)
    assert (large.value.status_code, large.value.code) == (413, "request_too_large")
    model.on(COT).fault(429, headers={"retry-after": "3"}).fault(500)
    with pytest.raises(openai.RateLimitError) as limited:
        official.chat.completions.create(model="aide-memoire", messages=HI, user=ann)
    assert limited.value.response.headers["retry-after"] == "3"
    with pytest.raises(openai.InternalServerError):
        official.chat.completions.create(model="aide-memoire", messages=HI, user=ann)


def test_an_error_in_the_middle_of_a_stream_is_raised(
    official: openai.OpenAI, model: ScriptedModel, ann: str
) -> None:
    model.on(COT).drop("ANSWER: In ", "Gh")
    stream = official.chat.completions.create(
        model="aide-memoire", messages=HI, user=ann, stream=True
    )
    texts: list[str] = []
    with pytest.raises(openai.APIError):
        texts.extend(chunk.choices[0].delta.content or "" for chunk in stream)
    stream.close()


def test_a_client_that_tries_again_stores_one_round(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    model.on(COT).fault(503, headers={"retry-after": "0"}).reply("ANSWER: ok")
    with openai.OpenAI(
        base_url=answering.base_url.join("/v1"), api_key="x", max_retries=1
    ) as official:
        official.chat.completions.create(
            model="aide-memoire", messages=HI, metadata={"user_id": ann, "session_id": "s"}
        )
    assert rounds(answering, ann, "s") == [("hi", "ok")]
