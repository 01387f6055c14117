"""The gateway over real HTTP: structured replies by steps, counts, limits, the cache."""

import asyncio
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from scripted_model import ScriptedModel, Sent

from assistant.errors import (
    BadModelReply,
    ConfigError,
    ModelRateLimited,
    ModelTimeout,
    ModelUnavailable,
    PromptRefused,
    ReplyUnfinished,
)
from assistant.models.chat_model import Message, ModelReply, RoleCounts, UsageCounts
from assistant.models.gateway import CallLimits, Gateway
from assistant.models.litellm_model import LitellmModel
from assistant.models.reply_cache import ReplyCache
from assistant.models.structured import Shape
from assistant.settings import LanguageModel

ASKED = [Message("user", "How many?")]


def _number(found: Mapping[str, Any]) -> int:
    if not isinstance(found.get("n"), int):
        raise ValueError('"n" must be a whole number')
    return int(found["n"])


SHAPE = Shape("count", {"type": "object", "properties": {"n": {"type": "integer"}}}, _number)


def gateway(model: ScriptedModel, **changed: Any) -> Gateway:
    limits = {"retries": 0, "first_wait": 0.001, "seconds": 5.0} | changed
    cache = limits.pop("cache", None)
    usage = limits.pop("usage", None) or RoleCounts()
    prices = limits.pop("prices", None)
    llm = LitellmModel(LanguageModel(name="openai/fake", base_url=model.url, api_key="k"), prices)
    return Gateway(llm, usage, CallLimits(**limits), cache)


def format_of(sent: Sent) -> str | None:
    asked = sent.body.get("response_format")
    return asked["type"] if asked else None


async def ask(gateway: Gateway) -> int:
    return await gateway.ask(ASKED, SHAPE, {"temperature": 0.0})


@pytest.mark.parametrize(
    "reply",
    ['{"n": 4}', '```json\n{"n": 4}\n```', 'There are four: {"n": 4}.', '<think>…</think>{"n": 4}'],
)
async def test_what_can_be_read_is_asked_for_once(model: ScriptedModel, reply: str) -> None:
    model.on("plain").reply(reply)
    assert await ask(gateway(model)) == 4
    asked = model.sent[0].body["response_format"]
    assert (asked["type"], asked["json_schema"]["name"]) == ("json_schema", "count")


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ('{"n": 4', "cut off or broken"),
        ("I'm sorry, I can't help with that.", "no JSON object"),
        ('{"n": "four"}', "must be a whole number"),
        ("", "empty"),
    ],
)
async def test_what_cannot_be_read_is_repaired_in_one_turn(
    model: ScriptedModel, reply: str, why: str
) -> None:
    usage = RoleCounts()
    model.on("plain").reply(reply).reply('{"n": 4}')
    assert await ask(gateway(model, usage=usage)) == 4
    assert why in model.sent[1].last
    roles = [message["role"] for message in model.sent[1].body["messages"]]
    assert roles == (["user", "assistant", "user"] if reply else ["user", "user"])
    assert (usage.calls, usage.repaired) == (2, 1)


async def test_a_reply_at_its_length_limit_is_not_believed(model: ScriptedModel) -> None:
    model.on("plain").reply('{"n": 4}', finish_reason="length").reply('{"n": 5}')
    assert await ask(gateway(model)) == 5
    assert "too long" in model.sent[1].last


async def test_what_cannot_be_repaired_is_an_error_that_shows_it(model: ScriptedModel) -> None:
    model.on("plain").reply("No.").reply("Still no.")
    with pytest.raises(BadModelReply, match=r"no usable count: .*'Still no.'"):
        await ask(gateway(model))


async def test_a_format_that_is_refused_gives_way_to_a_plainer_one_for_good(
    model: ScriptedModel,
) -> None:
    def refusal(text: str) -> str:
        return f'{{"error": {{"message": "{text}"}}}}'

    model.on("plain", lambda sent: format_of(sent) == "json_schema").raw(
        refusal("response_format json_schema is not supported"), status=400
    )
    model.on("plain", lambda sent: format_of(sent) == "json_object").raw(
        refusal("response_format is not supported"), status=400
    )
    model.on("plain", lambda sent: format_of(sent) is None).reply('{"n": 4}').reply('{"n": 5}')
    asking = gateway(model)
    assert [await ask(asking), await ask(asking)] == [4, 5]
    assert len(model.sent) == 4


@pytest.mark.parametrize("name", ["temperature", "seed", "stream_options"])
async def test_a_parameter_that_is_refused_is_left_out_for_good(
    model: ScriptedModel, name: str
) -> None:
    text = f'{{"error": {{"message": "Unsupported value: \'{name}\' does not work here"}}}}'
    model.on("plain", lambda sent: name in sent.body).raw(text, status=400)
    model.on("plain", lambda sent: name not in sent.body).reply("ok").reply("ok")
    asking = gateway(model)
    for _ in range(2):
        options = {"temperature": 0.0, "seed": 4}
        assert (await asking.complete(ASKED, options)).text == "ok"
    assert len(model.sent) == 3


async def test_a_refusal_that_names_no_parameter_is_raised(model: ScriptedModel) -> None:
    model.on("plain").raw('{"error": {"message": "context is too long"}}', status=400)
    with pytest.raises(PromptRefused, match="too long"):
        await gateway(model, retries=3).complete(ASKED, {"temperature": 0.0})


async def test_a_whole_reply_is_asked_for_again_even_when_cut_in_the_middle(
    model: ScriptedModel,
) -> None:
    usage = RoleCounts()
    model.on("plain").drop('{"n"').fault(503).reply('{"n": 4}')
    assert await ask(gateway(model, retries=2, usage=usage)) == 4
    assert (usage.calls, usage.failed, usage.uncounted) == (3, 2, 2)


async def test_a_reply_that_trickles_ends_at_the_time_limit_and_is_not_asked_for_again(
    model: ScriptedModel,
) -> None:
    model.on("plain").reply(*["on "] * 100, delay=0.05)
    with pytest.raises(ReplyUnfinished, match="did not finish"):
        await gateway(model, seconds=0.3, retries=3).complete(ASKED, {})
    assert model.left.wait(5)
    assert len(model.sent) == 1


async def test_a_stream_that_only_shows_signs_of_life_ends_at_the_time_limit(
    model: ScriptedModel,
) -> None:
    model.on("plain").reply("In Gh", comments=1_000, delay=0.02)
    with pytest.raises(ModelTimeout, match=r"gave no output for 0\.3 s"):
        _ = [piece async for piece in gateway(model, seconds=0.3).stream(ASKED, {})]
    assert model.left.wait(5)


async def test_a_caller_that_goes_away_stops_the_model(model: ScriptedModel) -> None:
    model.on("plain").reply(*["on "] * 200, delay=0.02)
    asked = asyncio.create_task(gateway(model).complete(ASKED, {}))
    while not model.sent:
        await asyncio.sleep(0.01)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert model.left.wait(5)


async def test_no_more_calls_at_once_than_allowed(model: ScriptedModel) -> None:
    rule = model.on("plain")
    for _ in range(4):
        rule.reply("a", "b", delay=0.05)
    asking = gateway(model, at_once=1)
    tasks = [asyncio.create_task(asking.complete(ASKED, {})) for _ in range(4)]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    assert len(model.sent) <= 2
    assert {reply.text for reply in await asyncio.gather(*tasks)} == {"ab"}


async def test_tokens_and_cost_are_counted_by_role(model: ScriptedModel) -> None:
    usage = UsageCounts()
    model.on("plain").reply("a").reply("b")
    priced = gateway(model, usage=usage.of("extract"), prices=(10.0, 100.0))
    await priced.complete(ASKED, {})
    await gateway(model, usage=usage.of("chat")).complete(ASKED, {})
    shown = usage.body()
    assert (shown["extract"]["prompt_tokens"], shown["extract"]["completion_tokens"]) == (7, 3)
    assert shown["extract"]["cost"] == pytest.approx(370e-6)
    assert (shown["chat"]["calls"], shown["chat"]["unpriced"], shown["chat"]["cost"]) == (1, 1, 0)


async def test_a_reply_is_kept_on_disk_and_found_by_all_that_matters(
    model: ScriptedModel, tmp_path: Path
) -> None:
    usage = RoleCounts()
    asking = gateway(model, usage=usage, cache=ReplyCache(tmp_path))
    rule = model.on("plain").reply('{"n": 4}')
    assert [await ask(asking), await ask(asking)] == [4, 4]
    assert (usage.calls, usage.from_cache) == (1, 1)
    rule.reply('{"n": 5}').reply('{"n": 6}')
    assert await asking.ask(ASKED, SHAPE, {"temperature": 0.5}) == 5
    assert await asking.ask([Message("user", "Now?")], SHAPE, {"temperature": 0.0}) == 6


async def test_what_could_not_be_used_is_not_kept(model: ScriptedModel, tmp_path: Path) -> None:
    asking = gateway(model, cache=ReplyCache(tmp_path))
    model.on("plain").reply("No.").reply("No.").reply('{"n": 4}')
    with pytest.raises(BadModelReply):
        await ask(asking)
    assert await ask(asking) == 4


async def test_a_broken_file_in_the_cache_is_as_good_as_none(
    model: ScriptedModel, tmp_path: Path
) -> None:
    asking = gateway(model, cache=ReplyCache(tmp_path))
    model.on("plain").reply('{"n": 4}').reply('{"n": 5}')
    await ask(asking)
    (kept,) = tmp_path.rglob("*.json")
    kept.write_text('{"text": "{\\"n\\"')
    assert await ask(asking) == 5


async def test_a_reply_that_cannot_be_kept_is_given_all_the_same(
    model: ScriptedModel, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "replies").write_text("no folder")
    asking = gateway(model, cache=ReplyCache(tmp_path / "replies"))
    model.on("plain").reply('{"n": 4}').reply('{"n": 5}')
    assert [await ask(asking), await ask(asking)] == [4, 5]
    assert caplog.text.count("cannot be kept") == 1


async def test_what_was_half_written_is_cleared_too(model: ScriptedModel, tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path)
    model.on("plain").reply('{"n": 4}')
    await ask(gateway(model, cache=cache))
    (kept,) = tmp_path.rglob("*.json")
    kept.with_name("half.json.17.new").write_text("In Os")
    cache.clear()
    assert list(tmp_path.rglob("half*")) == list(tmp_path.rglob("*.json")) == []


async def test_a_reply_under_way_while_all_are_cleared_is_not_kept(
    model: ScriptedModel, tmp_path: Path
) -> None:
    asking = gateway(model, cache=ReplyCache(tmp_path))
    model.on("plain").reply('{"n": ', "4}").reply('{"n": ', "5}").reply('{"n": 6}')

    async def cleared_meanwhile() -> str:
        text = ""
        async for piece in asking.stream(ASKED, {"temperature": 0.0}):
            if not text:
                ReplyCache(tmp_path).clear()  # as another process does
            text += piece.text
        return text

    assert [await cleared_meanwhile(), await cleared_meanwhile()] == ['{"n": 4}', '{"n": 5}']
    assert [await ask(asking), await ask(asking)] == [6, 6]


def test_replies_put_while_all_are_cleared_are_no_failure(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cache, done = ReplyCache(tmp_path), threading.Event()

    def clear() -> None:
        while not done.is_set():
            cache.clear()

    clearing = threading.Thread(target=clear)
    clearing.start()
    try:
        for n in range(1000):
            cache.put(f"{n:064x}", ModelReply("Osaka"), cache.generation())
    finally:
        done.set()
        clearing.join()
    assert caplog.text == ""
    cache.clear()
    assert list(tmp_path.glob("??/*")) == []


def test_clearing_tells_what_was_kept_before_from_what_is_kept_after(tmp_path: Path) -> None:
    cache, reply = ReplyCache(tmp_path), ModelReply("Osaka")
    before = cache.generation()
    cache.put("a" * 64, reply, before)
    cache.clear()
    cache.put("b" * 64, reply, before)
    cache.put("c" * 64, reply, cache.generation())
    assert [cache.get(n * 64) for n in "abc"] == [None, None, reply]


def test_a_folder_that_cannot_be_is_cleared_without_failing(tmp_path: Path) -> None:
    (tmp_path / "replies").write_text("no folder")
    ReplyCache(tmp_path / "replies").clear()
    assert (tmp_path / "replies").read_text() == "no folder"


async def test_a_stream_is_kept_once_it_is_complete(model: ScriptedModel, tmp_path: Path) -> None:
    asking = gateway(model, cache=ReplyCache(tmp_path))
    model.on("plain").drop("Hel").reply("Hel", "lo")

    async def text() -> str:
        return "".join([piece.text async for piece in asking.stream(ASKED, {})])

    with pytest.raises(ModelUnavailable):
        await text()
    assert [await text(), await text()] == ["Hello", "Hello"]


@pytest.mark.parametrize(
    ("status", "kind"), [(401, ConfigError), (429, ModelRateLimited), (500, ModelUnavailable)]
)
async def test_structured_replies_fail_as_others_do(
    model: ScriptedModel, status: int, kind: type[Exception]
) -> None:
    model.on("plain").fault(status)
    with pytest.raises(kind):
        await ask(gateway(model))
