"""Models over real HTTP, through litellm and without: one contract for both.

Retries are bounded, and every failure has its class.
"""

import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from pydantic import SecretStr
from scripted_model import ScriptedModel
from tool_calling import calls

from assistant.errors import (
    AssistantError,
    BadModelReply,
    ConfigError,
    ModelRateLimited,
    ModelTimeout,
    ModelUnavailable,
    PromptRefused,
)
from assistant.models.chat_model import (
    ChatModel,
    Message,
    Piece,
    RoleCounts,
    TokenCounts,
    UsageCounts,
    merge,
)
from assistant.models.gateway import CallLimits, Gateway, gateway
from assistant.models.litellm_model import LitellmModel
from assistant.models.server_model import ServerModel
from assistant.models.token_counter import Prices
from assistant.settings import LanguageModel, Settings

EVENTS = {"content-type": "text/event-stream"}
Make = Callable[..., Gateway]


def through_litellm(prices: tuple[float, float] | None = None, **how: Any) -> ChatModel:
    return LitellmModel(LanguageModel(name="openai/fake", **how), prices)


def without(prices: tuple[float, float] | None = None, **how: Any) -> ChatModel:
    how = LanguageModel(name="openai/fake", **how)
    return ServerModel(how, Prices.of(how.name, prices))


@pytest.fixture(params=[through_litellm, without])
async def chat_model(request: pytest.FixtureRequest, model: ScriptedModel) -> AsyncIterator[Make]:
    made: list[Gateway] = []

    def make(**changed: Any) -> Gateway:
        limits = CallLimits(changed.pop("retries", 0), first_wait=0.001)
        how: dict[str, Any] = {"base_url": model.url, "api_key": "k"} | changed
        made.append(Gateway(request.param(**how), RoleCounts(), limits))
        return made[-1]

    yield make
    for one in made:
        await one.close()


async def stream(model: ChatModel, **options: Any) -> list[Piece]:
    return [piece async for piece in model.stream([Message("user", "hi")], options)]


async def text_of(model: ChatModel) -> str:
    return "".join(piece.text for piece in await stream(model))


async def test_pieces_reason_and_tokens(model: ScriptedModel, chat_model: Make) -> None:
    model.on("plain").reply("Hel", "lo", finish_reason="length")
    pieces = await stream(chat_model())
    assert [piece.text for piece in pieces if piece.text] == ["Hel", "lo"]
    assert [p.finish_reason for p in pieces if p.finish_reason] == ["length"]
    assert [p.tokens for p in pieces if p.tokens] == [TokenCounts(7, 3)]


async def test_what_a_program_sends_and_gets(model: ScriptedModel, chat_model: Make) -> None:
    model.on("plain").chunks(*calls("Ghent", "Bruges"))
    tool = {"type": "function", "function": {"name": "weather", "parameters": {}}}
    wanted = {
        "tools": [tool],
        "tool_choice": "required",
        "parallel_tool_calls": False,
        "response_format": {"type": "json_object"},
        "n": 2,
        "logprobs": True,
        "top_logprobs": 1,
        "user": "ann",
        "unknown": {"deep": [1, None]},
    }
    called = {"id": "1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    bodies: list[dict[str, Any]] = [
        {"role": "user", "content": [{"type": "text", "text": "Well?"}, picture]},
        {"role": "assistant", "content": None, "tool_calls": [called]},
        {"role": "tool", "tool_call_id": "1", "content": "42"},
    ]
    messages = [Message(body["role"], "", body) for body in bodies]
    pieces = [piece async for piece in chat_model().stream(messages, wanted)]
    (sent,) = model.sent
    assert {name: sent.body[name] for name in wanted} == wanted
    # litellm leaves out a content that is null.
    got = [{"content": None, **message} for message in sent.body["messages"]]
    assert got == [{"content": None, **body} for body in bodies]
    told: dict[str, Any] = {}
    for piece in pieces:
        for choice in piece.choices:
            merge(told, choice["delta"])
    functions = [call["function"] for call in told["tool_calls"]]
    assert functions == [
        {"name": name, "arguments": f'{{"place": "{name}"}}'} for name in ("Ghent", "Bruges")
    ]
    assert [p.finish_reason for p in pieces if p.finish_reason] == ["tool_calls"]


@pytest.mark.parametrize("name", ["api_base", "base_url", "api_key", "mock_response", "model"])
async def test_no_option_of_a_caller_sends_the_request_elsewhere(
    model: ScriptedModel, chat_model: Make, name: str
) -> None:
    model.on("plain").reply("ok")
    elsewhere = {name: "http://127.0.0.1:9"}
    pieces = [piece async for piece in chat_model().stream([Message("user", "hi")], elsewhere)]
    assert "".join(piece.text for piece in pieces) == "ok"
    (sent,) = model.sent
    assert (sent.body["model"], sent.headers["authorization"]) == ("fake", "Bearer k")


@pytest.mark.parametrize(
    "choice",
    [
        "text",
        {"index": 0, "delta": "text"},
        {"index": 0, "delta": {"tool_calls": "x"}},
        {"index": 0, "delta": {"tool_calls": ["x"]}},
        {"index": 0, "delta": {"tool_calls": [{"function": "x"}]}},
        {"index": 0, "delta": {"content": [1]}},
        {"index": 0, "delta": {"content": "x"}, "logprobs": "x"},
        {"index": "first", "delta": {"content": "x"}},
    ],
)
async def test_a_chunk_of_another_shape_is_a_bad_reply(
    model: ScriptedModel, choice: object
) -> None:
    model.on("plain").chunks({"choices": [choice]})
    gateway = Gateway(without(base_url=model.url, api_key="k"), RoleCounts(), CallLimits(0))
    with pytest.raises(BadModelReply):
        await stream(gateway)
    await gateway.close()


async def test_what_is_sent(model: ScriptedModel, chat_model: Make) -> None:
    model.on("plain").reply("ok")
    await stream(chat_model(), temperature=0.1, top_p=0.9, seed=4)
    body = model.sent[0].body
    assert (body["model"], body["stream"]) == ("fake", True)
    assert (body["temperature"], body["top_p"], body["seed"]) == (0.1, 0.9, 4)
    assert body["messages"] == [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, PromptRefused),
        (401, ConfigError),
        (402, ConfigError),
        (403, ConfigError),
        (404, ConfigError),
        (413, PromptRefused),
        (422, PromptRefused),
        (408, ModelTimeout),
        (429, ModelRateLimited),
        (500, ModelUnavailable),
        (502, ModelUnavailable),
        (503, ModelUnavailable),
        (504, ModelTimeout),
        (529, ModelUnavailable),
    ],
)
async def test_a_status_has_its_class(
    model: ScriptedModel, chat_model: Make, status: int, kind: type[AssistantError]
) -> None:
    model.on("plain").fault(status)
    with pytest.raises(kind, match=f"openai/fake failed: .*scripted {status}") as failed:
        await stream(chat_model())
    assert type(failed.value) is kind


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
async def test_what_may_pass_is_tried_again_and_no_more_often_than_set(
    model: ScriptedModel, chat_model: Make, status: int
) -> None:
    rule = model.on("plain")
    for _ in range(3):
        rule.fault(status)
    with pytest.raises(ModelUnavailable):
        await stream(chat_model(retries=2))
    assert len(model.sent) == 3


async def test_a_second_try_can_succeed(model: ScriptedModel, chat_model: Make) -> None:
    model.on("plain").fault(500).drop().reply("there you are")
    assert await text_of(chat_model(retries=2)) == "there you are"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_what_cannot_pass_is_not_tried_again(
    model: ScriptedModel, chat_model: Make, status: int
) -> None:
    model.on("plain").fault(status)
    with pytest.raises(ConfigError):
        await stream(chat_model(retries=2))


async def test_the_provider_says_how_long_to_wait(model: ScriptedModel, chat_model: Make) -> None:
    model.on("plain").fault(429, headers={"retry-after": "0.2"}).reply("ok")
    started = time.monotonic()
    assert await text_of(chat_model(retries=1)) == "ok"
    assert time.monotonic() - started >= 0.2


async def test_too_long_a_wait_is_left_to_the_caller(
    model: ScriptedModel, chat_model: Make
) -> None:
    model.on("plain").fault(429, headers={"retry-after": "3600"})
    with pytest.raises(ModelRateLimited) as failed:
        await stream(chat_model(retries=2))
    assert failed.value.retry_after == 3600


@pytest.mark.parametrize("given", ["inf", "nan", "-1", "soon", "Wed, 21 Oct 2015 07:28:00 GMT"])
async def test_an_odd_retry_after_is_none(
    model: ScriptedModel, chat_model: Make, given: str
) -> None:
    model.on("plain").fault(429, headers={"retry-after": given})
    with pytest.raises(ModelRateLimited) as failed:
        await stream(chat_model())
    assert failed.value.retry_after is None


async def test_nobody_there(model: ScriptedModel, chat_model: Make) -> None:
    with pytest.raises(ModelUnavailable) as failed:
        await stream(chat_model(base_url="http://127.0.0.1:9/v1"))
    assert type(failed.value) is ModelUnavailable


@pytest.mark.parametrize("when", ["before the status", "before the first piece"])
async def test_too_slow(model: ScriptedModel, chat_model: Make, when: str) -> None:
    if when == "before the status":
        model.on("plain").raw("late", delay=0.6)
    else:
        model.on("plain").reply("late", delay=0.6)
    with pytest.raises(ModelTimeout):
        await stream(chat_model(timeout=0.2))


@pytest.mark.parametrize("raw", ["data: {broken\n\n", 'data: {"choices": 5}\n\n'])
async def test_garbage_in_a_stream(model: ScriptedModel, chat_model: Make, raw: str) -> None:
    model.on("plain").raw(raw, headers=EVENTS)
    with pytest.raises(BadModelReply):
        await stream(chat_model(retries=2))


@pytest.mark.parametrize("raw", ["not JSON", "{}", "<html></html>"])
async def test_garbage_instead_of_a_stream_is_an_empty_reply(
    model: ScriptedModel, chat_model: Make, raw: str
) -> None:
    model.on("plain").raw(raw)
    assert await text_of(chat_model()) == ""  # the reader refuses it


async def test_an_error_in_a_stream(model: ScriptedModel, chat_model: Make) -> None:
    model.on("plain").raw('data: {"error": {"message": "overloaded"}}\n\n', headers=EVENTS)
    with pytest.raises(ModelUnavailable, match="overloaded"):
        await stream(chat_model())


async def test_nothing_is_tried_again_after_the_first_piece(
    model: ScriptedModel, chat_model: Make
) -> None:
    model.on("plain").drop("one", "two")
    pieces = chat_model(retries=2).stream([Message("user", "hi")], {})
    assert [(await anext(pieces)).text, (await anext(pieces)).text] == ["one", "two"]
    with pytest.raises(ModelUnavailable):
        await anext(pieces)
    assert len(model.sent) == 1


async def test_a_caller_that_leaves_closes_the_stream(
    model: ScriptedModel, chat_model: Make
) -> None:
    model.on("plain").reply(*["on and "] * 200, delay=0.02)
    pieces = chat_model().stream([Message("user", "hi")], {})
    await anext(pieces)
    await pieces.aclose()
    assert model.left.wait(5)


async def test_a_missing_key_is_the_operators_to_mend(
    model: ScriptedModel, caplog: pytest.LogCaptureFixture
) -> None:
    keyless = Gateway(
        LitellmModel(LanguageModel(name="openai/fake", base_url=model.url)), RoleCounts()
    )
    assert "openai/fake has no key: set its api_key, or OPENAI_API_KEY" in caplog.text
    with pytest.raises(ConfigError, match="the model openai/fake has no key: set its api_key"):
        await stream(keyless)


def test_a_key_that_is_there_is_not_missed(caplog: pytest.LogCaptureFixture) -> None:
    LitellmModel(LanguageModel(name="openai/fake", api_key=SecretStr("k")))
    LitellmModel(LanguageModel(name="ollama/fake"))
    assert "no key" not in caplog.text


async def test_an_unknown_provider_is_the_operators_to_mend() -> None:
    nameless = Gateway(LitellmModel(LanguageModel(name="no-such-provider")), RoleCounts())
    with pytest.raises(ConfigError, match="no-such-provider"):
        await stream(nameless)


async def test_a_refused_parameter_is_left_out_from_then_on(
    model: ScriptedModel, chat_model: Make
) -> None:
    refused = '{"error": {"message": "Unsupported parameter: seed"}}'
    model.on("plain").raw(refused, status=400).reply("one").reply("two")
    asked = chat_model()
    for expected in ("one", "two"):
        assert "".join([piece.text for piece in await stream(asked, seed=4, top_p=0.5)]) == expected
    assert [("seed" in sent.body, sent.body["top_p"]) for sent in model.sent] == [
        (True, 0.5),
        (False, 0.5),
        (False, 0.5),
    ]


async def test_given_prices_count(model: ScriptedModel, chat_model: Make) -> None:
    model.on("plain").reply("ok")
    pieces = await stream(chat_model(prices=(10.0, 100.0)))
    assert [piece.tokens.cost for piece in pieces if piece.tokens] == [
        pytest.approx((7 * 10 + 3 * 100) / 1e6)
    ]


def test_a_server_of_the_operators_is_asked_without_litellm() -> None:
    """Where litellm is not needed it is not loaded, which takes seconds."""
    assert isinstance(gateway(Settings(chat_model="openai/gpt-4o"), "chat", UsageCounts()), Gateway)
    assert "litellm" in sys.modules
    code = (
        "import sys; from assistant.models.gateway import gateway; "
        "from assistant.models.chat_model import UsageCounts; "
        "from assistant.settings import Settings; "
        "where = dict(chat_model_base_url='http://127.0.0.1:9/v1', chat_model_api_key='k'); "
        "gateway(Settings(chat_model='openai/own', **where), 'chat', UsageCounts()); "
        "print('litellm' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert said.stdout == "False\n"


async def test_a_limit_that_is_refused_is_sent_by_its_other_name(
    model: ScriptedModel, chat_model: Make
) -> None:
    refusal = '{"error": {"message": "max_tokens is not supported: use max_completion_tokens"}}'
    model.on("plain").raw(refusal, status=400).reply("ok").reply("ok")
    asked = chat_model()
    for _ in range(2):
        await stream(asked, max_tokens=9)
    limits = [
        {
            name: sent.body[name]
            for name in ("max_tokens", "max_completion_tokens")
            if name in sent.body
        }
        for sent in model.sent
    ]
    assert limits == [{"max_tokens": 9}, *[{"max_completion_tokens": 9}] * 2]
