"""Enrichment over real HTTP: what is called, what is stored, what happens when it fails."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from calls import chat, record
from extractions import extracting, extraction, fact, session
from pydantic import SecretStr
from scripted_model import Reply, ScriptedModel, Sent
from served import served

from assistant import Settings, create_app

TASK = "extract_facts"
Serve = Callable[..., Any]


@pytest.fixture
def serve(model: ScriptedModel, tmp_path: Path) -> Serve:
    """Serve an assistant that extracts with the scripted model, on one folder."""

    @contextmanager
    def serving(**changed: Any) -> Iterator[httpx.Client]:
        how = {"idle_seconds": 600.0, "attempts": 2} | changed.pop("enrichment", {})
        settings = Settings(
            embedder="hash",
            data_dir=tmp_path,
            extract_model="openai/fake",
            extract_model_base_url=model.url,
            extract_model_api_key=SecretStr("k"),
            extract_model_retries=0,
            enrichment=how,
            **changed,
        )
        with served(create_app(settings)) as url, httpx.Client(base_url=url, timeout=60) as client:
            yield client

    return serving


def states(client: httpx.Client, user: str = "ann") -> dict[str, int]:
    listed = client.get("/v1/sessions", params={"user_id": user}).json()["data"]
    return {
        state: sum(one["enrichment"][state] for one in listed)
        for state in ("pending", "done", "failed")
    }


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def facts_of(client: httpx.Client, session_id: str, user: str = "ann") -> list[dict[str, Any]]:
    body = client.get(f"/v1/sessions/{session_id}", params={"user_id": user}).json()
    return [one for value in body["data"] for one in value["facts"]]


def nothing(one: Mapping[str, Any], shown: Mapping[str, Any]) -> list[Any]:
    return []


def test_a_closed_session_is_one_call_and_its_facts_are_found(
    serve: Serve, model: ScriptedModel
) -> None:
    def find(one: Mapping[str, Any], shown: Mapping[str, Any]) -> list[Any]:
        return [fact("I own a feline.", dates=["2023-05-19"])] if "cat" in one["user"] else []

    model.on(TASK).always(extracting(find))
    with serve() as client:
        record(client, "ann", "s", "We adopted a cat yesterday!", "Lovely.", "Any food?", "Fish.")
        assert states(client)["pending"] == 2
        assert model.sent == []
        closed = record(client, "ann", "s", "Thanks.", "Bye.", close=True)
        assert closed.json()["enrichment"] == {"pending": 0, "done": 3, "failed": 0}
        assert len(model.sent) == 1
        found = facts_of(client, "s")[-1]
        assert (found["text"], found["speaker"]) == ("I own a feline.", "user")
        assert found["event_dates"] == [{"first": "2023-05-19", "last": "2023-05-19"}]
        asked = {"user_id": "ann", "query": "Do I own a feline?"}
        best = client.post("/v1/memories/search", json=asked).json()["data"][0]
        assert best["user_text"] == "We adopted a cat yesterday!"
        assert best["enrichment"]["state"] == "done"
        assert best["enrichment"]["extractor"].startswith("openai/fake#")
        assert client.get("/v1/usage").json()["roles"]["extract"]["calls"] == 1
        assert client.get("/version").json()["models"]["extract_model"] == "openai/fake"


def test_a_pause_is_enough_and_live_chat_too(serve: Serve, model: ScriptedModel) -> None:
    model.on(TASK).always(extracting(nothing))
    with serve(enrichment={"idle_seconds": 0.3}) as client:
        chat(client, "ann", "I own a cat.", metadata={"session_id": "live"})
        record(client, "ann", "told", "I own a dog.", "Nice.")
        wait_for(lambda: states(client)["done"] == 2)
        assert len(model.sent) == 2


def test_without_a_model_nothing_waits_and_nothing_is_sent(
    model: ScriptedModel, http: httpx.Client, ann: str
) -> None:
    replied = record(http, ann, "s", "I own a cat.", "Nice.", close=True)
    assert replied.json()["enrichment"] is None
    assert states(http, ann) == {"pending": 0, "done": 1, "failed": 0}
    assert model.sent == []


def test_a_round_that_no_model_can_read_fails_alone(serve: Serve, model: ScriptedModel) -> None:
    def work(sent: Sent) -> Reply:
        poisoned = any("poison" in one["user"] for one in session(sent)["rounds"])
        return Reply(("No.",)) if poisoned else Reply((extraction(sent, nothing),))

    model.on(TASK).always(work)
    with serve() as client:
        said = [text for n in range(9) for text in (f"I say {n}.", "Ok.")]
        record(client, "ann", "s", *said[:8], "This is poison.", "Ok.", *said[8:], close=True)
        assert states(client) == {"pending": 0, "done": 9, "failed": 1}
        (listed,) = client.get("/v1/sessions", params={"user_id": "ann"}).json()["data"]
        (failure,) = listed["failures"]
        assert (failure["round_index"], failure["state"], failure["attempts"]) == (4, "failed", 2)
        assert failure["reason"].startswith("bad_model_reply: the model openai/fake gave no usable")
        asked = {"user_id": "ann", "query": "poison"}
        found = client.post("/v1/memories/search", json=asked).json()["data"][0]
        assert found["enrichment"]["failure"] == failure["reason"]


def test_a_round_over_which_the_model_writes_without_end_fails_alone(
    serve: Serve, model: ScriptedModel
) -> None:
    def work(sent: Sent) -> Reply:
        endless = any("poison" in one["user"] for one in session(sent)["rounds"])
        if endless:
            return Reply(['{"rounds": [', *['"Achim", '] * 1000], delay=0.05)
        return Reply((extraction(sent, nothing),))

    model.on(TASK).always(work)
    with serve(extract_model_timeout=1.0, enrichment={"attempts": 1}) as client:
        said = [text for n in range(3) for text in (f"I say {n}.", "Ok.")]
        record(client, "ann", "s", *said, "This is poison.", "Ok.", close=True)
        assert states(client) == {"pending": 0, "done": 3, "failed": 1}
    # All four, two, two, and each of the last two.
    assert len(model.sent) == 5


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Reply(status=429, headers={"retry-after": "3600"}), "rate_limited"),
        (Reply(status=500), "model_unavailable"),
        (Reply(status=401), "model_misconfigured"),
        (Reply(status=400), "prompt_refused"),
        (Reply(("{",), cut=True), "model_unavailable"),
        (Reply(("late",), delay=60.0), "model_timeout"),
        (Reply(['"Achim", '] * 1000, delay=0.05), "reply_unfinished"),
        (Reply(('{"rounds": [{"rou',)), "bad_model_reply"),
        (Reply(("I'm sorry, but I can't help with that.",)), "bad_model_reply"),
        (Reply(("",)), "bad_model_reply"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_fault_leaves_the_round_findable_and_says_why(
    serve: Serve, model: ScriptedModel, fault: Reply, code: str
) -> None:
    model.on(TASK).always(lambda sent: fault)
    seconds = 1.0 if code in ("model_timeout", "reply_unfinished") else 60.0
    with serve(extract_model_timeout=seconds, enrichment={"attempts": 1}) as client:
        replied = record(client, "ann", "s", "I own a black cat.", "Nice.", close=True)
        assert replied.status_code == 200
        assert replied.json()["enrichment"] == {"pending": 0, "done": 0, "failed": 1}
        (listed,) = client.get("/v1/sessions", params={"user_id": "ann"}).json()["data"]
        assert listed["failures"][0]["reason"].startswith(f"{code}: ")
        asked = {"user_id": "ann", "query": "Do I own a cat?"}
        (found,) = client.post("/v1/memories/search", json=asked).json()["data"]
        assert [one["text"] for one in found["facts"]] == ["I own a black cat."]


def test_prose_around_json_is_read_and_a_slip_is_repaired(
    serve: Serve, model: ScriptedModel
) -> None:
    rule = model.on(TASK)
    rule.reply('{"rounds": [{"round": 0, "facts": [{"text": "I own a c')
    rule.reply('Sure:\n```json\n{"rounds": [{"round": 0, "facts": []}]}\n```')
    with serve() as client:
        replied = record(client, "ann", "s", "I own a cat.", "Nice.", close=True)
        assert replied.json()["enrichment"] == {"pending": 0, "done": 1, "failed": 0}


def test_what_failed_for_a_passing_reason_is_taken_up_at_the_next_start(
    serve: Serve, model: ScriptedModel
) -> None:
    model.on(TASK).fault(500).fault(500)
    with serve() as client:
        record(client, "ann", "s", "I own a cat.", "Nice.", close=True)
        assert states(client)["failed"] == 1
    model.on(TASK).always(extracting(nothing))
    with serve() as client:
        wait_for(lambda: states(client)["done"] == 1)


def test_what_waits_is_taken_up_at_the_next_start_and_what_lasts_is_not(
    serve: Serve, model: ScriptedModel
) -> None:
    rule = model.on(TASK)
    for _ in range(4):
        rule.reply("No.")
    with serve() as client:
        record(client, "ann", "bad", "I own a cat.", "Nice.", close=True)
        record(client, "ann", "waits", "I own a dog.", "Nice.")
        assert states(client) == {"pending": 1, "done": 0, "failed": 1}
    model.on(TASK).always(extracting(nothing))
    with serve() as client:
        wait_for(lambda: states(client)["done"] == 1)
        assert states(client) == {"pending": 0, "done": 1, "failed": 1}
    with serve(enrichment={"keyphrases": True}) as client:  # another extractor may do better
        wait_for(lambda: states(client)["failed"] == 0)


def test_a_model_links_what_is_replaced_and_only_by_the_users_own_words(
    serve: Serve, model: ScriptedModel
) -> None:
    def find(one: Mapping[str, Any], shown: Mapping[str, Any]) -> list[Any]:
        numbers = [known["number"] for known in shown["known"]]
        text = "I go to the gym in Bruges." if "Bruges" in json.dumps(one) else "I go to a gym."
        return [fact(text, replaces=numbers)]

    model.on(TASK).always(extracting(find))
    day = "2023-0{}-20T10:00:00Z"
    with serve() as client:
        told = {"close": True}
        record(client, "ann", "s1", "My gym is in Ghent.", "Ok.", timestamp=day.format(1), **told)
        record(
            client,
            "ann",
            "s2",
            "Is my gym open?",
            "Your gym is in Bruges now.",
            timestamp=day.format(2),
            **told,
        )
        record(
            client,
            "ann",
            "s3",
            'My coach wrote: "My gym is in Bruges now."',
            "Ok.",
            timestamp=day.format(3),
            **told,
        )
        assert [one["superseded_by"] for one in facts_of(client, "s1")] == [None, None]
        record(
            client,
            "ann",
            "s4",
            "My gym is the one in Bruges since Monday.",
            "Ok.",
            timestamp=day.format(4),
            **told,
        )
        replaced = facts_of(client, "s1")[0]
        assert replaced["text"] == "My gym is in Ghent."
        assert replaced["superseded_by"]["text"] == "I go to the gym in Bruges."
        assert replaced["superseded_by"]["said_at"] == day.format(4)
        assert replaced["superseded_by"]["by"].startswith("openai/fake#")
        newest = facts_of(client, "s4")[-1]
        assert "My gym is in Ghent." in [one["text"] for one in newest["supersedes"]]

        asked = {"user_id": "ann", "query": "Where is my gym in Ghent?"}
        found = client.post("/v1/memories/search", json=asked).json()["data"]
        order = [value["session_id"] for value in found]
        assert order.index("s4") < order.index("s1")
        then = client.post("/v1/memories/search", json=asked | {"as_of": "2023-03-01"}).json()
        facts = [one for value in then["data"] for one in value["facts"]]
        assert facts
        assert all(one["superseded_by"] is None for one in facts)

        (id,) = [value["id"] for value in found if value["session_id"] == "s4"]
        undone = client.delete(f"/v1/memories/{id}/updates", params={"user_id": "ann"})
        assert undone.status_code == 200
        assert facts_of(client, "s1")[0]["superseded_by"] is None


def test_keyphrases_and_summaries_become_keys(serve: Serve, model: ScriptedModel) -> None:
    body = {"round": 0, "facts": [], "keyphrases": ["zeppelin"], "summary": "An airship flight."}
    model.on(TASK).reply(json.dumps({"rounds": [body]}))
    with serve(enrichment={"keyphrases": True, "summaries": True}) as client:
        record(client, "ann", "s", "It was high up there.", "Yes.", close=True)
        asked = {"user_id": "ann", "query": "zeppelin"}
        (found,) = client.post("/v1/memories/search", json=asked).json()["data"]
        assert found["signals"]["dense"] > 0.9


def test_a_round_said_differently_meanwhile_is_extracted_again(
    serve: Serve, model: ScriptedModel
) -> None:
    model.on(TASK).always(extracting(nothing))
    with serve() as client:
        record(client, "ann", "s", "I own a cat.", close=True)
        answered = {"role": "assistant", "content": "Nice.", "timestamp": "2023-05-20T10:00:09Z"}
        body = {"user_id": "ann", "messages": [answered], "wait": True}
        replied = client.post("/v1/sessions/s/messages", json=body).json()
        assert replied["enrichment"] == {"pending": 0, "done": 1, "failed": 0}
        assert session(model.sent[-1])["rounds"][0]["assistant"] == "Nice."
