"""Your memory in your hands: correct, read the history, forget; and nothing is left of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from calls import answer, assert_error, chat, record, rounds
from pydantic import SecretStr
from scripted_model import ScriptedModel
from served import served

from assistant import Settings, create_app

SEARCH = "/v1/memories/search"
OSLO, BRUGES = "I live in Oslo now.", "I live in Bruges now."


@pytest.fixture
def told(http: httpx.Client, ann: str) -> str:
    """A user who lived in Ghent and then, as the assistant understood it, in Oslo."""
    record(http, ann, "s1", "I live in Ghent.", "Fine.", timestamp="2023-05-20T10:00:00Z")
    record(http, ann, "s2", OSLO, "Oslo is cold.", timestamp="2023-05-21T10:00:00Z")
    return ann


@dataclass
class Running:
    """An assistant of its own, whose clock goes on when it is told to."""

    http: httpx.Client
    now: datetime = datetime(2023, 6, 10, 9, tzinfo=UTC)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    with httpx.Client(timeout=60) as client:
        running = Running(client)
        settings = Settings(data_dir=tmp_path, embedder="hash")
        with served(create_app(settings, clock=lambda: running.now)) as url:
            client.base_url = url
            yield running


def memory_id(http: httpx.Client, user_id: str, session_id: str, place: int = 0) -> str:
    read = http.get(f"/v1/sessions/{session_id}", params={"user_id": user_id})
    return str(read.json()["data"][place]["id"])


def correct(
    http: httpx.Client, user_id: str, session_id: str, place: int = 0, **said: Any
) -> httpx.Response:
    path = f"/v1/memories/{memory_id(http, user_id, session_id, place)}"
    return http.patch(path, json={"user_id": user_id} | said)


def everything(http: httpx.Client, user_id: str) -> str:
    """What every route that reads says of a user, without the queries that are repeated."""
    whose = {"user_id": user_id}
    texts = [http.get(path, params=whose).text for path in ("/v1/memories", "/v1/sessions")]
    texts += [str(rounds(http, user_id, session_id)) for session_id in ("s1", "s2")]
    texts.append(http.get(f"/v1/users/{user_id}/export").text)
    for query in ("Where do I live?", "oslo cold"):
        for unit in ("round", "session"):
            found = http.post(SEARCH, json=whose | {"query": query, "unit": unit}).json()
            texts.append(str(found["data"]))
    for value in http.get("/v1/memories", params=whose).json()["data"]:
        texts.append(http.get(f"/v1/memories/{value['id']}", params=whose).text)
    asked = chat(http, user_id, "Where do I live?", metadata={"memory": "read_only"})
    return "\n".join([*texts, answer(asked)])


def test_a_correction_is_seen_and_what_was_said_before_is_not(
    http: httpx.Client, told: str
) -> None:
    assert "Oslo" in everything(http, told)
    id = memory_id(http, told, "s2")
    said = {"user_text": BRUGES, "assistant_text": "Bruges has canals."}
    value = correct(http, told, "s2", **said, timestamp="2023-06-01T08:00:00Z").json()
    assert (value["id"], value["user_text"], value["corrected_at"]) == (
        id,
        BRUGES,
        "2023-06-01T08:00:00Z",
    )
    assert value["session_date"] == "2023-05-21T10:00:00Z"
    assert [fact["text"] for fact in value["facts"]] == [BRUGES]
    assert "Oslo" not in everything(http, told)
    assert "Bruges" in answer(chat(http, told, "Where do I live?"))
    again = correct(http, told, "s2", **said, timestamp="2023-06-02T08:00:00Z").json()
    assert again == value


def test_without_a_time_a_correction_is_made_now(http: httpx.Client, told: str) -> None:
    value = correct(http, told, "s2", user_text=BRUGES).json()
    assert value["corrected_at"] == "2023-06-10T09:00:00Z"
    assert value["assistant_text"] == "Oslo is cold."


def test_facts_are_corrected_alone(http: httpx.Client, told: str) -> None:
    days = [{"first": "2023-05-02", "last": None}]
    facts = ["I live in Rome now.", {"text": "I moved in May.", "event_dates": days}]
    value = correct(http, told, "s2", facts=facts).json()
    assert [(fact["text"], fact["source"]) for fact in value["facts"]] == [
        ("I live in Rome now.", "user"),
        ("I moved in May.", "user"),
    ]
    assert value["facts"][1]["event_dates"] == days
    assert value["user_text"] == OSLO
    none = correct(http, told, "s2", facts=[]).json()
    assert none["facts"] == []


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({}, "invalid_value"),
        ({"user_text": None}, "invalid_value"),
        ({"user_text": " ", "assistant_text": ""}, "invalid_value"),
        ({"user_text": 5}, "invalid_value"),
        ({"facts": [""]}, "invalid_value"),
        ({"facts": [{"text": ""}]}, "invalid_value"),
        ({"facts": [{"text": "x", "event_dates": [{"first": "soon"}]}]}, "invalid_timestamp"),
        ({"user_text": "x", "timestamp": "soon"}, "invalid_timestamp"),
    ],
)
def test_what_is_no_correction(
    http: httpx.Client, told: str, said: dict[str, Any], code: str
) -> None:
    reply = correct(http, told, "s2", **said)
    assert_error(reply, 400, "invalid_request_error", code)
    assert OSLO in everything(http, told)


def test_another_user_corrects_nothing(http: httpx.Client, told: str) -> None:
    path = f"/v1/memories/{memory_id(http, told, 's2')}"
    reply = http.patch(path, json={"user_id": f"eve and {told}", "user_text": "Ha!"})
    assert_error(reply, 404, "not_found_error", "memory_not_found")
    assert rounds(http, told, "s2") == [(OSLO, "Oslo is cold.")]


def test_a_turn_sent_again_does_not_bring_the_old_text_back(http: httpx.Client, told: str) -> None:
    correct(http, told, "s2", user_text=BRUGES, assistant_text="Good.")
    sent = record(http, told, "s2", OSLO, "Oslo is cold.", timestamp="2023-05-21T10:00:00Z")
    assert (sent.json()["recorded"], sent.json()["known"]) == (0, 2)
    assert rounds(http, told, "s2") == [(BRUGES, "Good.")]


def test_an_answer_made_again_leaves_the_correction(http: httpx.Client, ann: str) -> None:
    chat(http, ann, OSLO, metadata={"session_id": "s2"})
    correct(http, ann, "s2", user_text=BRUGES)
    chat(http, ann, OSLO, metadata={"session_id": "s2"})
    assert rounds(http, ann, "s2") == [(BRUGES, "Noted.")]


def talk(http: httpx.Client, user_id: str, *said: str) -> list[dict[str, str]]:
    """What a client that keeps the conversation itself has after saying this."""
    messages: list[dict[str, str]] = []
    for text in said:
        reply = answer(chat(http, user_id, text, earlier=messages, metadata={"session_id": "s2"}))
        messages += [{"role": "user", "content": text}, {"role": "assistant", "content": reply}]
    return messages


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_client_that_keeps_the_old_text_makes_no_second_round_of_it(
    running: Running, place: int, late: bool
) -> None:
    """It asks for a new answer to the corrected message, with what it has of the conversation."""
    http, said = running.http, ["I have a dog.", "I like tea.", "I play the cello."]
    said[place] = OSLO
    messages = talk(http, "ann", *said)
    value = correct(http, "ann", "s2", place, user_text=BRUGES).json()
    if late:
        running.now += timedelta(days=3)
    earlier = messages[: 2 * place]
    chat(http, "ann", OSLO, earlier=earlier, metadata={"session_id": "s2"})
    stored = rounds(http, "ann", "s2")
    assert [user for user, _ in stored] == [*said[:place], BRUGES, *said[place + 1 :]]
    assert "Oslo" not in everything(http, "ann")
    path = f"/v1/memories/{value['id']}"
    again = http.get(path, params={"user_id": "ann"}).json()
    assert again["corrected_at"] == value["corrected_at"]


def test_a_new_answer_after_a_corrected_message_is_no_second_round(running: Running) -> None:
    http = running.http
    messages = talk(http, "ann", OSLO, "I like tea.", "I play the cello.")
    correct(http, "ann", "s2", user_text=BRUGES, assistant_text="Good.")
    for place in (2, 4):
        text = messages[place]["content"]
        chat(http, "ann", text, earlier=messages[:place], metadata={"session_id": "s2"})
    said = [user for user, _ in rounds(http, "ann", "s2")]
    assert said == [BRUGES, "I like tea.", "I play the cello."]
    chat(http, "ann", "What next?", earlier=messages, metadata={"session_id": "s2"})
    assert len(rounds(http, "ann", "s2")) == 4


def test_a_corrected_round_is_taken_out_and_brought_in_as_it_is(
    http: httpx.Client, told: str
) -> None:
    correct(http, told, "s2", facts=["I live in Rome now."])
    export = http.get(f"/v1/users/{told}/export").text
    http.delete(f"/v1/users/{told}/memories")
    http.post(f"/v1/users/{told}/import", content=export)
    assert http.get(f"/v1/users/{told}/export").text == export
    assert "2023-06-10T09:00:00" in export


def test_the_history_of_a_fact(http: httpx.Client, told: str) -> None:
    path = f"/v1/memories/{memory_id(http, told, 's1')}"
    newer = memory_id(http, told, "s2")
    history = http.get(path, params={"user_id": told}).json()["facts"][0]["history"]
    link = {"id": newer, "text": OSLO, "said_at": "2023-05-21T10:00:00Z", "by": "rule"}
    assert [(step["text"], step["until"]) for step in history] == [
        ("I live in Ghent.", link),
        (OSLO, None),
    ]
    then = http.get(path, params={"user_id": told, "as_of": "2023-05-20"}).json()
    assert [step["text"] for step in then["facts"][0]["history"]] == ["I live in Ghent."]
    assert then["facts"][0]["superseded_by"] is None
    too_early = http.get(path, params={"user_id": told, "as_of": "2023-05-19"})
    assert_error(too_early, 404, "not_found_error", "memory_not_found")


def test_a_list_as_of_a_day(http: httpx.Client, told: str) -> None:
    asked = {"user_id": told, "as_of": "2023-05-20"}
    body = http.get("/v1/memories", params=asked).json()
    assert (body["total"], len(body["data"])) == (1, 1)
    assert body["data"][0]["facts"][0]["superseded_by"] is None
    now = http.get("/v1/memories", params={"user_id": told, "session_id": "s1"}).json()
    assert now["data"][0]["facts"][0]["superseded_by"]["text"] == OSLO
    assert http.get("/v1/memories", params=asked | {"session_id": "s2"}).json()["data"] == []


def paths(http: httpx.Client, user_id: str) -> dict[str, tuple[str, dict[str, str]]]:
    whose = {"user_id": user_id}
    return {
        "round": (f"/v1/memories/{memory_id(http, user_id, 's2')}", whose),
        "session": ("/v1/sessions/s2", whose),
        "user": (f"/v1/users/{user_id}/memories", {}),
    }


@pytest.mark.parametrize(("what", "many"), [("round", 1), ("session", 1), ("user", 2)])
def test_forgetting_is_counted_first_and_leaves_nothing(
    http: httpx.Client, told: str, what: str, many: int
) -> None:
    path, whose = paths(http, told)[what]
    before = everything(http, told)
    counted = http.delete(path, params=whose | {"dry_run": "true"}).json()
    counts = {"rounds": many, "facts": many, "sessions": many}
    assert counted.items() >= (counts | {"dry_run": True}).items()
    assert everything(http, told) == before
    assert http.delete(path, params=whose).json().items() >= counts.items()
    assert "Oslo" not in everything(http, told)


@pytest.mark.parametrize("what", ["round", "session", "user"])
@pytest.mark.parametrize("kept", [False, True])
def test_caches_forget_too(tmp_path: Path, model: ScriptedModel, what: str, kept: bool) -> None:
    settings = Settings(
        data_dir=tmp_path / "data",
        embedder="hash",
        chat_model="openai/fake",
        chat_model_base_url=model.url,
        chat_model_api_key=SecretStr("k"),
        models={"cache_dir": str(tmp_path / "replies")},  # type: ignore[arg-type]
        forget_caches=not kept,
    )
    model.on("chain_of_note").reply("ANSWER: In Oslo.")
    with served(create_app(settings)) as url, httpx.Client(base_url=url, timeout=60) as http:
        record(http, "ann", "s2", OSLO, "Oslo is cold.")
        assert answer(chat(http, "ann", "Where?", metadata={"memory": "read_only"})) == "In Oslo."
        path, whose = paths(http, "ann")[what]
        http.delete(path, params=whose | {"dry_run": "true"})
        assert list((tmp_path / "replies").rglob("*.json"))
        http.delete(path, params=whose)
    assert bool(list((tmp_path / "replies").rglob("*.json"))) is kept


CAT = "I adopted a cat called Miso."


def ask_about_the_cat(http: httpx.Client, user_id: str) -> str:
    record(http, user_id, "s1", CAT, "Lovely!", timestamp="2023-05-20T10:00:00Z")
    told = answer(chat(http, user_id, "What is my cat called?", metadata={"session_id": "s2"}))
    assert "Miso" in told
    return told


@pytest.mark.parametrize("what", ["round", "session"])
def test_answers_that_quoted_it_go_with_what_is_forgotten(
    http: httpx.Client, ann: str, what: str
) -> None:
    ask_about_the_cat(http, ann)
    id = memory_id(http, ann, "s1")
    path = f"/v1/memories/{id}" if what == "round" else "/v1/sessions/s1"
    for dry_run in ("true", "false"):
        gone = http.delete(path, params={"user_id": ann, "dry_run": dry_run}).json()
        assert (gone["rounds"], gone["answers"]) == (1, 1)
    assert rounds(http, ann, "s2") == [("What is my cat called?", "")]
    assert "Miso" not in everything(http, ann)


def test_answers_that_quoted_it_go_when_it_is_put_right(http: httpx.Client, ann: str) -> None:
    ask_about_the_cat(http, ann)
    correct(http, ann, "s1", user_text="I adopted a cat called Tom.")
    assert rounds(http, ann, "s2") == [("What is my cat called?", "")]
    assert "Miso" not in everything(http, ann)


def test_a_withdrawn_answer_can_be_made_again_and_the_talk_goes_on(running: Running) -> None:
    http = running.http
    record(http, "ann", "s1", CAT, "Lovely!", timestamp="2023-05-20T10:00:00Z")
    messages = talk(http, "ann", "What is my cat called?", "I like tea.")
    http.delete("/v1/sessions/s1", params={"user_id": "ann"})
    chat(http, "ann", "I like tea.", earlier=messages[:2], metadata={"session_id": "s2"})
    questions = ["What is my cat called?", "I like tea."]
    assert [user for user, _ in rounds(http, "ann", "s2")] == questions
    chat(http, "ann", questions[0], metadata={"session_id": "s2"})
    chat(http, "ann", "And so on.", earlier=messages, metadata={"session_id": "s2"})
    assert len(rounds(http, "ann", "s2")) >= 3


def test_answers_of_a_language_model_go_too(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    record(answering, ann, "s1", CAT, "Lovely!", timestamp="2023-05-20T10:00:00Z")
    record(answering, ann, "s3", "I play the cello.", timestamp="2023-05-21T10:00:00Z")
    model.on("chain_of_note").reply("ANSWER: Miso.").reply("ANSWER: The cello.")
    for session, asked in (("s2", "My cat's name?"), ("s4", "What do I play?")):
        chat(answering, ann, asked, metadata={"session_id": session})
    gone = answering.delete("/v1/sessions/s1", params={"user_id": ann}).json()
    assert gone["answers"] == 1
    assert rounds(answering, ann, "s2") == [("My cat's name?", "")]
    assert rounds(answering, ann, "s4") == [("What do I play?", "The cello.")]
