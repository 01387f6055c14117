"""What a caller of the chat may set, and what of it reaches the language model."""

from typing import Any

import httpx
import pytest
from calls import answer, assert_error, chat, events, rounds, streamed_text
from scripted_model import PLAIN, ScriptedModel

COT = "chain_of_note"
IN_S = {"session_id": "s"}
SAMPLING = {
    "temperature": 0.3,
    "top_p": 0.9,
    "seed": 4,
    "frequency_penalty": 0.5,
    "presence_penalty": -0.5,
    "reasoning_effort": "low",
}


def test_the_callers_options_reach_the_model(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    model.on(PLAIN).reply("Sure.")
    ends = {"stop": ["END", "STOP"], "max_tokens": 20}
    off = {"memory": "off"}
    reply = chat(answering, ann, "hi", metadata=off, **SAMPLING, **ends)
    assert answer(reply) == "Sure."
    (sent,) = model.requests(PLAIN)
    assert {name: sent.body[name] for name in (*SAMPLING, *ends)} == SAMPLING | ends
    assert "metadata" not in sent.body


def test_notes_do_not_use_up_what_the_answer_may_take(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    model.on(COT).reply("NOTES: a long\n", "list of notes\nANSWER: In Gh", "ent, in May.").reply(
        "NOTES: Ghent, not Bruges\nANSWER: In Ghent, not in Bruges."
    )
    limits = {"max_completion_tokens": 2, "max_tokens": 90}
    limited = chat(answering, ann, "Where?", metadata=IN_S, **limits)
    assert answer(limited) == "In Ghent"
    assert limited.json()["choices"][0]["finish_reason"] == "length"
    assert rounds(answering, ann, "s") == [("Where?", "In Ghent")]
    stopped = chat(answering, ann, "And when?", metadata=IN_S, stop=", not", stream=True)
    chunks = events(stopped.text)
    assert streamed_text(chunks) == "In Ghent"
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop"
    first, second = model.requests(COT)
    assert first.body["max_completion_tokens"] == 1002
    assert "max_tokens" not in first.body
    assert "stop" not in second.body


@pytest.mark.parametrize(
    "wrong", [{"max_tokens": 0}, {"max_tokens": "many"}, {"stop": [""]}, {"stop": ["x"] * 5}]
)
def test_options_that_make_no_sense(http: httpx.Client, ann: str, wrong: dict[str, Any]) -> None:
    error = assert_error(
        chat(http, ann, "hi", **wrong), 400, "invalid_request_error", "invalid_value"
    )
    assert error["param"].startswith(next(iter(wrong)))
