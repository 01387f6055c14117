"""Requests that meet: sent twice at once, made again while the first is answered, given up."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from calls import answer, chat, record, rounds, sessions
from scripted_model import ScriptedModel

COT = "chain_of_note"
IN_S: dict[str, Any] = {"metadata": {"session_id": "s"}}
KEY = {"Idempotency-Key": "k"}
TIMES = 6


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(TIMES) as pool:
        yield pool


def at_once(threads: ThreadPoolExecutor, send: Callable[[], httpx.Response]) -> list[Any]:
    """The bodies of the replies to the same request sent several times at once."""
    replies = [reply.result() for reply in [threads.submit(send) for _ in range(TIMES)]]
    assert {reply.status_code for reply in replies} == {200}
    return [reply.json() for reply in replies]


@pytest.mark.parametrize("named", [True, False])
def test_the_same_turns_at_once_are_recorded_once(
    http: httpx.Client, ann: str, threads: ThreadPoolExecutor, named: bool
) -> None:
    turns = [{"role": "user", "content": "I saw a heron."}, {"role": "assistant", "content": "Oh!"}]
    body = {"user_id": ann, "messages": turns}
    headers = KEY if named else {}
    path = "/v1/sessions/s/messages"
    done = at_once(threads, lambda: http.post(path, json=body, headers=headers))
    assert sorted((one["recorded"], one["known"]) for one in done) == [(0, 2)] * 5 + [(2, 0)]
    assert rounds(http, ann, "s") == [("I saw a heron.", "Oh!")]


def test_the_same_question_at_once_is_one_round(
    answering: httpx.Client, model: ScriptedModel, ann: str, threads: ThreadPoolExecutor
) -> None:
    rule = model.on(COT)
    for number in range(TIMES):
        rule.reply(f"ANSWER: In {number}.")
    done = at_once(threads, lambda: chat(answering, ann, "Where was I?", **IN_S))
    told = {one["choices"][0]["message"]["content"] for one in done}
    assert told == {f"In {number}." for number in range(TIMES)}
    ((asked, kept),) = rounds(answering, ann, "s")
    assert asked == "Where was I?"
    assert kept in told


def streamed(client: httpx.Client, user_id: str) -> Any:
    body = {
        "messages": [{"role": "user", "content": "Where was I?"}],
        "metadata": {"user_id": user_id, "session_id": "s"},
        "stream": True,
    }
    return client.stream("POST", "/v1/chat/completions", json=body)


def test_an_answer_made_again_before_the_first_is_whole_is_the_same_round(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    model.on(COT).reply("ANSWER: Slow", *[" and slow"] * 20, delay=0.02).reply("ANSWER: Quick.")
    with streamed(answering, ann) as slow:
        lines = slow.iter_lines()
        next(lines)
        assert answer(chat(answering, ann, "Where was I?", **IN_S)) == "Quick."
        assert rounds(answering, ann, "s") == [("Where was I?", "Quick.")]
        # Who waits for the first gets all of it, and it is what was said last.
        assert "[DONE]" in list(lines)[-2]
    assert rounds(answering, ann, "s") == [("Where was I?", "Slow" + " and slow" * 20)]


@pytest.mark.parametrize("last", ["in Ghent.", "[DONE]"])
def test_who_leaves_at_the_end_of_an_answer_and_asks_again_has_one_round(
    answering: httpx.Client, model: ScriptedModel, ann: str, last: str
) -> None:
    rule = model.on(COT)
    for _ in range(5):
        record(answering, ann, "told", "I was in Ghent.", timestamp="2023-05-20T10:00:00Z")
        rule.reply("ANSWER: You were ", "in Ghent.").reply("ANSWER: In Ghent.")
        with streamed(answering, ann) as reply:
            assert any(last in line for line in reply.iter_lines())
        # It was being stored, or had been.
        assert rounds(answering, ann, "s") in ([], [("Where was I?", "You were in Ghent.")])
        assert answer(chat(answering, ann, "Where was I?", **IN_S)) == "In Ghent."
        assert rounds(answering, ann, "s") == [("Where was I?", "In Ghent.")]
        answering.delete("/v1/sessions/s", params={"user_id": ann})
        assert sessions(answering, ann) == {"told": [("I was in Ghent.", "")]}
