"""Notes before an answer stream as reasoning, and are no part of the answer anywhere."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from calls import chat, events, record, rounds, sessions, streamed_text
from pydantic import SecretStr
from scripted_model import ScriptedModel
from served import served
from tool_calling import looks

from assistant import Settings, create_app

COT = "chain_of_note"
IN_S = {"session_id": "s"}
ASKED = "Where do I row?"


def told(chunks: list[Any]) -> list[tuple[str, str]]:
    """What the deltas of a stream tell, each with its field."""
    choices = [choice for one in chunks if "choices" in one for choice in one["choices"]]
    found = [(name, text) for one in choices for name, text in one["delta"].items() if text]
    return [(name, text) for name, text in found if name != "role"]


def thought(chunks: list[Any]) -> str:
    return "".join(text for name, text in told(chunks) if name == "reasoning_content")


@pytest.mark.parametrize(
    "pieces",
    [
        ["NOTES: 2023-05-20: rows\n", "- on the Lys\n", "ANSWER: On the ", "Lys."],
        [
            "NOTES: 2023-05-20: rows\n- on the Lys",
            "\n",
            "\n**AN",
            "SW",
            "ER",
            ":**",
            " On the Lys.",
        ],
        list("NOTES: 2023-05-20: rows\n- on the Lys\n\n### Answer:\nOn the Lys."),
        ["NOTES: 2023-05-20: rows\n- on the Lys\nANSWER: On the Lys."],
    ],
)
def test_notes_come_first_and_the_answer_after_them(
    answering: httpx.Client, model: ScriptedModel, ann: str, pieces: list[str]
) -> None:
    model.on(COT).reply(*pieces)
    debug = {"memory_debug": "1", **IN_S}
    *chunks, done = events(chat(answering, ann, ASKED, stream=True, metadata=debug).text)
    assert done == "[DONE]"
    names = [name for name, _ in told(chunks)]
    assert names == sorted(names, reverse=True)  # all of the reasoning, then all of the content
    assert thought(chunks).strip() == "2023-05-20: rows\n- on the Lys"
    assert streamed_text(chunks) == "On the Lys."
    assert chunks[0]["choices"][0]["delta"]["role"] == "assistant"
    assert chunks[-1]["memory"]["notes"] == "NOTES: 2023-05-20: rows\n- on the Lys"
    assert rounds(answering, ann, "s") == [(ASKED, "On the Lys.")]


def test_notes_are_there_before_the_model_comes_to_its_answer(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    model.on(COT).drop("NOTES: rows", " on the Lys\n")
    *chunks, error = events(chat(answering, ann, ASKED, stream=True).text)
    assert told(chunks) == [
        ("reasoning_content", "rows"),
        ("reasoning_content", " on the Lys\n"),
    ]
    assert error["error"]["code"] == "model_unavailable"
    assert sessions(answering, ann) == {}


def test_a_reply_that_has_neither_notes_nor_marker_is_all_answer(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    model.on(COT).reply("On the", " Lys.\n\nEvery week.")
    *chunks, _ = events(chat(answering, ann, ASKED, stream=True).text)
    assert told(chunks) == [("content", "On the Lys.\n\nEvery week.")]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("NOTES: rows\n\nOn the Lys.", "On the Lys."),
        ("NOTES: rows ANSWER: On the Lys.", "On the Lys."),
    ],
)
def test_an_answer_found_at_the_end_only_is_said_again_as_the_answer(
    answering: httpx.Client, model: ScriptedModel, ann: str, reply: str, said: str
) -> None:
    model.on(COT).reply(*reply.partition(" "))
    *chunks, _ = events(chat(answering, ann, ASKED, stream=True, metadata=IN_S).text)
    assert thought(chunks) == reply.removeprefix("NOTES: ")
    assert streamed_text(chunks) == said
    assert rounds(answering, ann, "s") == [(ASKED, said)]


@pytest.mark.parametrize(
    ("reply", "said"),
    [("NOTES: rows\nANSWER: On the L", "On the L"), ("NOTES: rows\nANSWER: ", "")],
)
def test_a_reply_cut_by_length(
    answering: httpx.Client, model: ScriptedModel, ann: str, reply: str, said: str
) -> None:
    model.on(COT).reply(*reply.partition("\n"), finish_reason="length")
    *chunks, last = events(chat(answering, ann, ASKED, stream=True).text)
    assert (thought(chunks).strip(), streamed_text(chunks)) == ("rows", said)
    assert (last == "[DONE]") is bool(said)


def test_a_client_that_leaves_among_the_notes_stops_the_model(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    model.on(COT).reply("NOTES: rows", *[" and rows"] * 500, delay=0.02)
    body = {"messages": [{"role": "user", "content": ASKED}], "stream": True}
    body |= {"metadata": {"user_id": ann}}
    with answering.stream("POST", "/v1/chat/completions", json=body) as reply:
        next(line for line in reply.iter_lines() if "and rows" in line)
    assert model.left.wait(20)
    assert sessions(answering, ann) == {}


def test_what_the_model_thinks_by_itself_comes_before_its_notes(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    deltas: list[dict[str, str]] = [
        {"role": "assistant", "reasoning_content": "Hm."},
        {"reasoning_content": " So."},
        *({"content": text} for text in ("NOTES: ro", "ws\n", "ANSWER: On ", "the Lys.")),
    ]
    model.on(COT).chunks(*({"choices": [{"index": 0, "delta": one}]} for one in deltas))
    *chunks, _ = events(chat(answering, ann, ASKED, stream=True).text)
    assert thought(chunks) == "Hm. So.\n\nrows\n"
    assert streamed_text(chunks) == "On the Lys."


def test_whole_replies_and_responses_have_the_answer_alone(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    said = ["NOTES: rows\n", "ANSWER: On the Lys."]
    model.on(COT).reply(*said).reply(*said).reply(*said)
    (choice,) = chat(answering, ann, ASKED).json()["choices"]
    assert choice["message"] == {"role": "assistant", "content": "On the Lys."}
    asked = {"input": ASKED, "metadata": {"user_id": ann}}
    streamed = answering.post("/v1/responses", json=asked | {"stream": True}).text
    deltas = [one for one in events(streamed) if one["type"] == "response.output_text.delta"]
    assert "".join(one["delta"] for one in deltas) == "On the Lys."
    assert "rows" not in streamed
    (item,) = answering.post("/v1/responses", json=asked).json()["output"]
    assert [part["text"] for part in item["content"]] == ["On the Lys."]


@pytest.fixture
def looking(model: ScriptedModel, tmp_path: Path) -> Iterator[httpx.Client]:
    settings = Settings(
        embedder="hash",
        data_dir=tmp_path,
        chat_model="openai/fake",
        chat_model_base_url=model.url,
        chat_model_api_key=SecretStr("k"),
        chat_model_retries=0,
        reading={"mode": "chain-of-note", "look_again": "on"},
    )
    with served(create_app(settings)) as url, httpx.Client(base_url=url, timeout=60) as client:
        yield client


def test_notes_before_and_after_a_look(
    looking: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    record(looking, ann, "s", "I row on the Lys.", "Nice!")
    first = f"NOTES: {'I have to look for more of this. ' * 4}"
    rule = model.on(COT).chunks(*looks(("find_words", {"text": "row"}), text=first))
    rule.reply("NOTES: rows\n", "ANSWER: On the Lys.")
    *chunks, _ = events(chat(looking, ann, ASKED, stream=True).text)
    noted, looked = thought(chunks).split("Looking into memory: find_words (text: row)\n")
    assert noted.startswith("I have to look for more of this.")
    assert looked.strip().endswith("rows")
    assert streamed_text(chunks) == "On the Lys."
