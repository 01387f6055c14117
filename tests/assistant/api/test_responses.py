"""OpenAI's Responses API and embeddings, through the official client."""

import base64

import httpx
import numpy as np
import openai
import pytest
from calls import assert_error, record, rounds
from scripted_model import PLAIN, ScriptedModel

COT = "chain_of_note"


def test_a_whole_response_is_answered_from_memory_and_kept(
    official: openai.OpenAI, answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    record(answering, ann, "before", "I ran in Ghent.")
    model.on(COT).reply("NOTES: Ghent\nANSWER: In Ghent.")
    response = official.responses.create(
        model="aide-memoire",
        input="Where did I run?",
        instructions="Be brief.",
        conversation="s",
        metadata={"user_id": ann, "memory_debug": "1"},
    )
    assert (response.output_text, response.status) == ("In Ghent.", "completed")
    assert response.conversation is not None
    assert response.conversation.id == "s"
    assert response.usage is not None
    assert response.usage.total_tokens == 10
    assert response.model_extra is not None
    assert response.model_extra["memory"]["user_id"] == ann
    assert "Be brief." in model.sent[0].system
    assert "I ran in Ghent." in str(model.sent[0].body)
    assert rounds(answering, ann, "s") == [("Where did I run?", "In Ghent.")]


def test_a_conversation_goes_on_with_what_is_new_alone(
    official: openai.OpenAI, answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    model.on(COT).reply("ANSWER: Noted, Tom.").reply("ANSWER: Tom.").reply("ANSWER: Yes, Tom.")
    first = official.responses.create(model="aide-memoire", input="My cat is Tom.", user=ann)
    second = official.responses.create(
        model="aide-memoire",
        input=[{"role": "user", "content": [{"type": "input_text", "text": "His name?"}]}],
        previous_response_id=first.id,
        user=ann,
    )
    assert second.conversation is not None
    session_id = second.conversation.id
    official.responses.create(
        model="aide-memoire", input="Really?", conversation={"id": session_id}, user=ann
    )
    said = [m["content"] for m in model.sent[2].body["messages"] if m["role"] != "system"]
    assert said[:4] == ["My cat is Tom.", "Noted, Tom.", "His name?", "Tom."]
    assert [user for user, _ in rounds(answering, ann, session_id)] == [
        "My cat is Tom.",
        "His name?",
        "Really?",
    ]


@pytest.mark.parametrize("names", ["previous_response_id", "conversation"])
@pytest.mark.parametrize(("counts", "kept"), [((None, None), 1), (("0", "1"), 1), (("0", "0"), 2)])
def test_a_retry_in_a_conversation_is_one_round(
    http: httpx.Client, ann: str, names: str, counts: tuple[str | None, str | None], kept: int
) -> None:
    first = http.post("/v1/responses", json={"input": "My cat is Tom.", "user": ann}).json()
    session_id = first["conversation"]["id"]
    which = {"previous_response_id": first["id"], "conversation": session_id}[names]
    for count in counts:
        headers = {"x-stainless-retry-count": count} if count else {}
        body = {"input": "His tail is long.", "user": ann, names: which}
        assert http.post("/v1/responses", json=body, headers=headers).status_code == 200
    said = [user for user, _ in rounds(http, ann, session_id)]
    assert said == ["My cat is Tom.", *["His tail is long."] * kept]


def test_the_callers_options_reach_the_model(
    official: openai.OpenAI, model: ScriptedModel, ann: str
) -> None:
    model.on(PLAIN).reply("In Gh", finish_reason="length")
    response = official.responses.create(
        model="aide-memoire-nomem",
        input="Where?",
        user=ann,
        temperature=0.3,
        max_output_tokens=2,
        reasoning={"effort": "low"},
    )
    assert response.status == "incomplete"
    sent = model.sent[0].body
    wanted = {"temperature": 0.3, "max_completion_tokens": 2, "reasoning_effort": "low"}
    assert {name: sent.get(name) for name in wanted} == wanted


def test_a_streamed_response(
    official: openai.OpenAI, answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    model.on(COT).reply("ANSWER: In", " Ghent.")
    stream = official.responses.create(
        model="aide-memoire", input="Where?", conversation="s", user=ann, stream=True
    )
    events = list(stream)
    kinds = [event.type for event in events]
    assert kinds[:4] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
    ]
    assert kinds[-4:] == [
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    deltas = [e.delta for e in events if e.type == "response.output_text.delta"]
    assert "".join(deltas) == "In Ghent."
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert events[-1].type == "response.completed"
    assert events[-1].response.output_text == "In Ghent."
    assert rounds(answering, ann, "s") == [("Where?", "In Ghent.")]


async def test_async_whole_and_streamed(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    model.on(COT).reply("ANSWER: One.").reply("ANSWER: Two.")
    url = answering.base_url.join("/v1")
    async with openai.AsyncOpenAI(base_url=url, api_key="x", max_retries=0) as official:
        one = await official.responses.create(model="aide-memoire", input="1?", user=ann)
        async with official.responses.stream(model="aide-memoire", input="2?", user=ann) as stream:
            two = await stream.get_final_response()
    assert (one.output_text, two.output_text) == ("One.", "Two.")


def test_errors(official: openai.OpenAI, model: ScriptedModel, ann: str) -> None:
    with pytest.raises(openai.NotFoundError) as unknown:
        official.responses.create(model="aide-memoire", input="?", previous_response_id="resp_x")
    assert unknown.value.code == "response_not_found"
    with pytest.raises(openai.NotFoundError):
        official.responses.create(model="gpt-4", input="?")
    with pytest.raises(openai.BadRequestError):
        official.responses.create(model="aide-memoire", input=[])
    model.on(COT).drop("ANSWER: In ", "Gh")
    stream = official.responses.create(model="aide-memoire", input="?", user=ann, stream=True)
    with pytest.raises(openai.APIError):
        list(stream)


def test_another_users_response_is_unknown(
    official: openai.OpenAI, model: ScriptedModel, ann: str
) -> None:
    model.on(COT).reply("ANSWER: Noted.")
    first = official.responses.create(model="aide-memoire", input="My safe: 4711.", user=ann)
    with pytest.raises(openai.NotFoundError) as unknown:
        official.responses.create(
            model="aide-memoire", input="?", previous_response_id=first.id, user=f"eve and {ann}"
        )
    assert unknown.value.code == "response_not_found"


def test_embeddings_as_numbers_and_in_base64(official: openai.OpenAI) -> None:
    texts = ["I ran in Ghent.", "My cat is Tom."]
    packed = official.embeddings.create(model="aide-memoire-embedding", input=texts)
    plain = official.embeddings.create(
        model="aide-memoire-embedding", input=texts[0], encoding_format="float"
    )
    assert [one.index for one in packed.data] == [0, 1]
    assert np.allclose(packed.data[0].embedding, plain.data[0].embedding)
    assert np.isclose(np.linalg.norm(plain.data[0].embedding), 1.0)
    assert plain.usage.prompt_tokens == 4


def test_no_format_is_numbers(http: httpx.Client) -> None:
    reply = http.post("/v1/embeddings", json={"input": "hi", "encoding_format": None}).json()
    assert isinstance(reply["data"][0]["embedding"], list)


def test_base64_is_little_endian_floats(http: httpx.Client) -> None:
    body = {"input": "hi", "encoding_format": "base64"}
    reply = http.post("/v1/embeddings", json=body).json()
    numbers = np.frombuffer(base64.b64decode(reply["data"][0]["embedding"]), "<f4")
    plain = http.post("/v1/embeddings", json={"input": "hi"}).json()
    assert np.allclose(numbers, plain["data"][0]["embedding"])
    assert reply["model"] == plain["model"]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"input": ""}, 400, "invalid_value"),
        ({"input": []}, 400, "invalid_value"),
        ({"input": ["a", " "]}, 400, "invalid_value"),
        ({"input": [1, 2]}, 400, "invalid_value"),
        ({"input": "a", "dimensions": 7}, 400, "invalid_value"),
        ({"input": "a", "encoding_format": "int8"}, 400, "invalid_value"),
        ({"input": "a", "model": "text-embedding-3-small"}, 404, "model_not_found"),
    ],
)
def test_what_cannot_be_embedded(
    http: httpx.Client, body: dict[str, object], status: int, code: str
) -> None:
    kind = "not_found_error" if status == 404 else "invalid_request_error"
    assert_error(http.post("/v1/embeddings", json=body), status, kind, code)
