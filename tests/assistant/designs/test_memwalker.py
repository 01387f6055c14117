"""MemWalker: a way through a tree by time, chosen by nearness or by a model, step by step."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from calls import chat, record
from pydantic import SecretStr
from scripted_model import Reply, ScriptedModel, Sent
from served import served
from viewing import design_of, ranking_of, records_of

from assistant import Settings, create_app
from assistant.designs.published.memwalker import MemWalkerView

MONTHS = (
    "I planted {n} tomatoes and watered the garden.",
    "I practised {n} violin scales for the orchestra.",
    "I ran {n} kilometres for the marathon.",
)
SAID = [text.format(n=n) for text in MONTHS for n in range(10, 18)]
QUESTION = "How many violin scales did I practise?"


async def test_the_tree_is_in_the_order_of_time() -> None:
    async with design_of("memwalker") as design:
        view = await design.view(records_of(SAID))
    assert isinstance(view, MemWalkerView)
    (root,) = view.tree.top
    assert [one.round.user_text for one in root.value.sources] == SAID
    assert [len(node.below) for node in root.below] == [8, 8, 8]
    of_violin = [one.round.user_text for one in root.below[1].value.sources]
    assert of_violin == SAID[8:16]


async def test_without_a_model_the_nearest_part_is_opened_first() -> None:
    ranking = await ranking_of("memwalker", SAID, QUESTION, limit=5)
    assert len(ranking.values) == 5
    assert all("violin" in one.value.text for one in ranking.values)
    top, violin = ranking.steps
    assert top.startswith("opened 2024-03-01 to 2024-03-24 (24 rounds)")
    assert violin.startswith("opened 2024-03-09 to 2024-03-16 (8 rounds)")


async def test_a_wrong_way_is_gone_back() -> None:
    ranking = await ranking_of("memwalker", SAID, QUESTION, limit=10)
    assert sum("violin" in one.value.text for one in ranking.values) == 8
    assert any(step.startswith("went back, opened") for step in ranking.steps)


@pytest.mark.parametrize("texts", [[], ["I live in Ghent."]])
async def test_small_memories_have_a_tree(texts: list[str]) -> None:
    assert len((await ranking_of("memwalker", texts, "Where?")).values) == len(texts)


@pytest.fixture
def told(model: ScriptedModel, tmp_path: Path) -> Iterator[httpx.Client]:
    """A server by this design, whose query model is scripted, with a memory of 24 days."""
    settings = Settings(
        embedder="hash",
        data_dir=tmp_path,
        design="memwalker",
        query_model="openai/fake",
        query_model_base_url=model.url,
        query_model_api_key=SecretStr("k"),
    )
    model.on("understand_question").always(
        lambda sent: Reply(('{"first": null, "last": null, "queries": []}',))
    )
    with served(create_app(settings)) as url, httpx.Client(base_url=url, timeout=60) as client:
        for day, text in enumerate(SAID, 1):
            record(client, "ann", f"s{day}", text, "Ok.", timestamp=f"2024-03-{day:02}T10:00:00Z")
        yield client


def goes(wanted: str, but_first: Sequence[int] = ()) -> Callable[[Sent], Reply]:
    """A model that opens what holds a word and goes back else; first of all it goes elsewhere."""
    first = list(but_first)

    def work(sent: Sent) -> Reply:
        parts = json.loads(sent.last)["parts"]
        numbers = [part["number"] for part in parts if wanted in part["text"]]
        return Reply((json.dumps({"open": [first.pop()] if first else numbers, "why": wanted}),))

    return work


def searched(client: httpx.Client) -> dict[str, Any]:
    body = {"user_id": "ann", "query": QUESTION, "now": "2024-04-01T10:00:00Z", "top_k": 3}
    reply = client.post("/v1/memories/search", json=body)
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.json()
    return found


def test_a_model_goes_down_to_the_round(told: httpx.Client, model: ScriptedModel) -> None:
    model.on("walk_memory").always(goes("13 violin"))
    found = searched(told)
    assert found["data"][0]["user_text"] == SAID[11]
    assert found["data"][0]["signals"]["chosen"] == 1
    assert found["steps"][-1].endswith("the model chose 2024-03-12: 13 violin")
    assert len(found["steps"]) == len(model.requests("walk_memory"))
    asking = json.loads(model.requests("walk_memory")[0].last)
    assert asking["question"] == QUESTION
    assert asking["asked on"] == "2024-04-01"


def test_a_model_may_go_back(told: httpx.Client, model: ScriptedModel) -> None:
    model.on("walk_memory").always(goes("violin", but_first=[3]))
    steps = searched(told)["steps"]
    assert [("went back" in step) for step in steps] == [False, True, False, False]
    again = json.loads(model.requests("walk_memory")[2].last)
    assert again["looked at before"] == ["2024-03-17 to 2024-03-24 (8 rounds)"]
    assert len(again["parts"]) == 2


def test_a_chats_trace_tells_the_same_way(told: httpx.Client, model: ScriptedModel) -> None:
    model.on("walk_memory").always(goes("violin"))
    at = {"timestamp": "2024-04-01T10:00:00Z", "memory": "read_only", "memory_debug": "1"}
    trace = chat(told, "ann", QUESTION, metadata=at).json()["memory"]
    found = searched(told)
    assert trace["steps"] == found["steps"] != []
    assert [one["id"] for one in trace["data"]][:3] == [one["id"] for one in found["data"]]


def test_nearness_chooses_where_the_model_fails(told: httpx.Client, model: ScriptedModel) -> None:
    model.on("walk_memory").fault(500)
    found = searched(told)
    assert "violin" in found["data"][0]["user_text"]
    assert found["steps"][0].startswith("the model failed")
    assert found["steps"][1].startswith("opened")
    assert told.get("/version").json()["design"]["fallbacks"] == {"guide": 1}


def test_nearness_chooses_where_the_model_chooses_nothing(
    told: httpx.Client, model: ScriptedModel
) -> None:
    model.on("walk_memory").always(goes("no such thing"))
    found = searched(told)
    assert "violin" in found["data"][0]["user_text"]
    assert "the model went back" in found["steps"][0]
    assert found["steps"][1].startswith("opened")
