"""Questions read by a model over real HTTP, and by the rules whenever that fails."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from calls import chat, record
from pydantic import SecretStr
from scripted_model import Reply, ScriptedModel, Sent
from served import served

from assistant import Settings, create_app

TASK = "understand_question"
ASKED = "Where did I run yesterday?"


@pytest.fixture
def told(model: ScriptedModel, tmp_path: Path) -> Iterator[httpx.Client]:
    settings = Settings(
        embedder="hash",
        data_dir=tmp_path,
        query_model="openai/fake",
        query_model_base_url=model.url,
        query_model_api_key=SecretStr("k"),
        query_model_timeout=10.0,
        understanding={"sub_queries": 2},
    )
    with served(create_app(settings)) as url, httpx.Client(base_url=url, timeout=60) as client:
        for day, text in (("19", "I ran in Ghent."), ("20", "I swam in Bruges.")):
            record(client, "ann", f"s{day}", text, "Ok.", timestamp=f"2023-05-{day}T10:00:00Z")
        yield client


def asked(client: httpx.Client, text: str = ASKED, **more: str) -> dict[str, Any]:
    at = {"timestamp": "2023-05-21T09:00:00Z"}
    metadata = {"memory": "read_only", "memory_debug": "1", **at, **more}
    reply = chat(client, "ann", text, metadata=metadata)
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.json()["memory"]
    return found


def test_the_models_days_are_used(told: httpx.Client, model: ScriptedModel) -> None:
    model.on(TASK).reply('{"first": "2023-05-19", "last": "2023-05-19", "queries": []}')
    trace = asked(told)
    assert trace["time_range"]["first"] == "2023-05-19"
    assert trace["understanding"] == {"by": "openai/fake", "queries": [], "failure": None}
    by_session = {value["session_id"]: value["signals"] for value in trace["data"]}
    assert by_session["s19"]["said_then"] > by_session["s20"]["said_then"]
    assert "Sunday, 2023-05-21" in model.sent[0].system
    assert model.sent[0].last == ASKED


def test_a_model_that_copies_the_form_names_no_days(
    told: httpx.Client, model: ScriptedModel
) -> None:
    """A very small model did, for every question."""

    def copied(sent: Sent) -> Reply:
        return Reply((sent.system[sent.system.rindex("{") :],))

    model.on(TASK).always(copied)
    trace = asked(told, "What is my cat called?")
    assert trace["understanding"]["failure"] is None
    assert trace["time_range"] is None


def test_queries_of_its_own_find_what_the_question_alone_does_not_put_first(
    told: httpx.Client, model: ScriptedModel
) -> None:
    body = '{"first": null, "last": null, "queries": ["Where did I swim? Bruges?", "I ran?"]}'
    model.on(TASK).reply(body)
    trace = asked(told, "Which sports did I do?")
    assert trace["understanding"]["queries"] == ["Where did I swim? Bruges?", "I ran?"]
    assert {value["session_id"] for value in trace["data"]} == {"s19", "s20"}


@pytest.mark.parametrize(
    "fault",
    [
        Reply(status=429, headers={"retry-after": "60"}),
        Reply(status=500),
        Reply(status=401),
        Reply(status=400),
        Reply(cut=True),
        Reply(('{"first": "2023-',)),
        Reply(("I'd rather not.",)),
        Reply(("",)),
        Reply(('{"first": "2023-05-20", "last": "2023-05-19", "queries": []}',)),
    ],
)
def test_whatever_fails_the_rules_read_the_question(
    told: httpx.Client, model: ScriptedModel, fault: Reply
) -> None:
    model.on(TASK).always(lambda sent: fault)
    trace = asked(told)
    assert trace["time_range"]["first"] == "2023-05-20"
    assert trace["understanding"]["by"] == "rule"
    assert trace["understanding"]["failure"]


def searched(client: httpx.Client, text: str = ASKED, **more: Any) -> dict[str, Any]:
    body = {"user_id": "ann", "query": text, "now": "2023-05-21T09:00:00Z", **more}
    found: dict[str, Any] = client.post("/v1/memories/search", json=body).json()
    return found


def test_search_finds_what_chat_finds(told: httpx.Client, model: ScriptedModel) -> None:
    body = {"first": "2023-05-19", "last": "2023-05-19", "queries": ["Where did I swim? Bruges?"]}
    for _ in range(2):
        model.on(TASK).reply(json.dumps(body))
    search, chat = searched(told), asked(told)
    assert [value["id"] for value in search["data"]] == [value["id"] for value in chat["data"]]
    assert search["understanding"] == chat["understanding"]
    assert search["time_range"] == chat["time_range"]


def test_a_search_can_leave_out_the_model_and_the_rules(told: httpx.Client) -> None:
    by_rules = searched(told, understanding="rules")
    assert by_rules["time_range"]["first"] == "2023-05-20"
    assert by_rules["understanding"]["by"] == "rule"
    off = searched(told, understanding="off")
    assert off["time_range"] is None
    assert off["understanding"]["by"] == "off"


def test_a_question_of_a_past_day_hears_nothing_of_the_days_after(
    told: httpx.Client, model: ScriptedModel
) -> None:
    model.on(TASK).always(Reply(('{"first": null, "last": null, "queries": []}',)))
    then = {"timestamp": "2023-05-19T09:00:00Z"}
    trace = asked(told, "Where was I?", **then)
    assert {value["session_id"] for value in trace["data"]} == {"s19"}
    assert {v["session_id"] for v in searched(told, "Where?", now=then["timestamp"])["data"]} == {
        "s19"
    }
    later = asked(told, "Where was I?", **then, to="2023-05-20")
    assert {value["session_id"] for value in later["data"]} == {"s19", "s20"}
