"""Designs: each control point's choices, by what is found and what is read."""

import math
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from assistant.designs.registry import ENTRY_POINTS, class_of
from assistant.errors import ConfigError
from assistant.services import Services, open_services
from assistant.settings import load_settings
from memory_store import Days, Query, Recall, Round

ASKED_ON = date(2024, 3, 18)
SAID = (
    (1, "I had dinner at Roma with Kim.", "Lovely."),
    (8, "I had dinner at Sushi Go. Can you recommend a film?", "Watch Stalker, a slow film."),
    (15, "I had dinner at Le Coin.", "Nice."),
)


@asynccontextmanager
async def told(data_dir: Path, **settings: Any) -> AsyncIterator[Services]:
    """A server's parts with three dated dinners in its memory."""
    async with open_services(load_settings(data_dir=data_dir, embedder="hash", **settings)) as it:
        for day, user, reply in SAID:
            at = datetime(2024, 3, day, 20, tzinfo=UTC)
            await it.store.remember([Round("ann", f"s{day}", 0, at, user, reply)])
        yield it


async def found(services: Services, text: str, **query: Any) -> Recall:
    asked = Query("ann", text, asked_on=ASKED_ON, **query)
    return (await services.retriever.retrieve(asked)).recall


def texts(recall: Recall) -> list[str]:
    return [one.record.round.user_text for one in recall.read]


@pytest.mark.parametrize("design", ["aide-memoire", "longmemeval"])
async def test_a_filter_by_time_names_one_dinner_of_three(tmp_path: Path, design: str) -> None:
    question = "Which restaurant did I have dinner at last Friday?"
    async with told(tmp_path, design=design, choices={"time": "filter"}) as services:
        recall = await found(services, question)
        assert texts(recall) == ["I had dinner at Le Coin."]
        assert not recall.fell_back
        nothing_then = await found(services, "Which restaurant did I have dinner at in 2021?")
        assert len(nothing_then.rounds) == len(SAID)
        assert nothing_then.fell_back


@pytest.mark.parametrize("design", ["aide-memoire", "longmemeval"])
async def test_time_that_is_off_neither_filters_nor_lifts(tmp_path: Path, design: str) -> None:
    async with told(tmp_path, design=design, choices={"time": "off"}) as services:
        recall = await found(services, "Where did I have dinner last Friday?")
        assert len(recall.rounds) == len(SAID)
        assert not any(one.signals.get("said_then") for one in recall.rounds)


VALUES = {
    "round": ("I had dinner at Sushi Go. Can you recommend a film?", ()),
    "session": ("I had dinner at Sushi Go. Can you recommend a film?", ()),
    "summary": (
        "I had dinner at Sushi Go. Can you recommend a film? Watch Stalker, a slow film.",
        1,
    ),
    "fact": ("I had dinner at Sushi Go.", 1),
}


@pytest.mark.parametrize("value", VALUES)
async def test_each_kind_of_value_is_read_as_such_and_names_its_rounds(
    tmp_path: Path, value: str
) -> None:
    chosen = {"value": value, "keys": ["value"], "time": "off"}
    async with told(tmp_path, design="longmemeval", choices=chosen) as services:
        recall = await found(services, "dinner at Sushi Go")
    read, derived = VALUES[value]
    assert recall.read[0].record.round.user_text == read
    assert len(recall.read[0].sources) == (derived or 0)
    assert recall.rounds[0].record.round.session_id == "s8"


@pytest.mark.parametrize("key", ["value", "fact", "keyphrase", "summary"])
@pytest.mark.parametrize("merged", [True, False])
async def test_each_key_finds_its_round(tmp_path: Path, key: str, merged: bool) -> None:
    chosen = {"keys": [key], "merged": merged, "time": "off"}
    async with told(tmp_path, design="in-context-rag", choices=chosen) as services:
        assert texts(await found(services, "dinner Sushi Go"))[0] == SAID[1][1]


@pytest.mark.parametrize("retrieval", ["dense", "words", "both"])
@pytest.mark.parametrize("design", ["aide-memoire", "in-context-rag"])
async def test_each_retrieval_goes_by_its_signals(
    tmp_path: Path, design: str, retrieval: str
) -> None:
    async with told(tmp_path, design=design, choices={"retrieval": retrieval}) as services:
        best = (await found(services, "dinner at Sushi Go", explained=True)).rounds[0]
    assert best.record.round.session_id == "s8"
    if design == "aide-memoire":
        counted = {r.signal for r in best.reasons if r.contribution} & {"dense", "words"}
        assert counted == ({"dense", "words"} if retrieval == "both" else {retrieval})
    else:
        assert set(best.signals) == ({"dense", "words"} if retrieval == "both" else {retrieval})


async def test_a_question_may_be_searched_by_its_key_phrases(tmp_path: Path) -> None:
    chosen = {"query": "keyphrases", "retrieval": "words"}
    async with told(tmp_path, design="in-context-rag", choices=chosen) as services:
        assert texts(await found(services, "Do you know about that Sushi place?"))[0] == SAID[1][1]


async def test_a_view_follows_the_rounds(tmp_path: Path) -> None:
    chosen = {"value": "summary", "time": "off"}
    async with told(tmp_path, design="longmemeval", choices=chosen) as services:
        assert len((await found(services, "Sushi Go")).read) == len(SAID)
        await services.recorder.forget("ann", session_id="s8")
        left = await found(services, "Sushi Go")
        assert not any("Sushi" in text for text in texts(left))
        at = datetime(2024, 3, 16, tzinfo=UTC)
        await services.store.remember([Round("ann", "s16", 0, at, "I had sushi again.", "Good.")])
        assert any("sushi" in text for text in texts(await found(services, "Sushi Go")))


async def test_a_view_holds_nobody_elses_rounds(tmp_path: Path) -> None:
    async with told(tmp_path, design="longmemeval") as services:
        asked = Query("bob", "Where did I have dinner?", asked_on=ASKED_ON)
        assert (await services.retriever.retrieve(asked)).recall.rounds == ()


async def test_a_view_of_earlier_days_knows_nothing_later(tmp_path: Path) -> None:
    async with told(tmp_path, design="in-context-rag") as services:
        until = Days(last=date(2024, 3, 9))
        recall = await found(services, "Where did I have dinner?", days=until)
        assert {one.record.round.session_id for one in recall.rounds} == {"s1", "s8"}


@pytest.mark.parametrize("value", ["round", "session", "summary"])
@pytest.mark.parametrize("design", ["raptor", "memwalker", "hipporag"])
async def test_indexes_of_their_own_find_any_value(tmp_path: Path, design: str, value: str) -> None:
    async with told(tmp_path, design=design, choices={"value": value}) as services:
        recall = await found(services, "dinner at Sushi Go")
        assert "s8" in [one.record.round.session_id for one in recall.rounds[:2]]
        assert recall.read


WRONG = {
    "no-such-design": {"design": "no-such-design"},
    "has a choice of time and retrieval only": {"choices": {"value": "session"}},
    "does not find by pagerank": {"design": "in-context-rag", "choices": {"retrieval": "pagerank"}},
    "does not find by dense": {"design": "hipporag", "choices": {"retrieval": "dense"}},
    "has a choice of value and time and retrieval only": {
        "design": "hipporag",
        "choices": {"keys": ["fact"]},
    },
    "no class below Design": {"design": "collections:Counter"},
    "is it installed": {"design": "no_such_module_at_all:Design"},
}


@pytest.mark.parametrize("says", WRONG)
async def test_what_a_design_cannot_be_stops_the_start(tmp_path: Path, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        async with told(tmp_path, **WRONG[says]):
            pass


async def test_a_design_of_ones_own_as_the_documents_show_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = (Path(__file__).parents[3] / "docs/designs.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```", document, re.DOTALL | re.MULTILINE)
    (tmp_path / "recency.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)

    async def nearness(**design: Any) -> dict[date, float]:
        async with told(tmp_path / "data", **design) as services:
            recall = await found(services, "Where did I have dinner?")
            return {one.record.round.session_date.date(): one.similarity for one in recall.rounds}

    plain = await nearness(design="in-context-rag", choices={"value": "session"})
    assert await nearness(design="recency:Recency") == {
        day: pytest.approx(near * math.exp(-(ASKED_ON - day).days / 90))
        for day, near in plain.items()
    }
    assert len(plain) == len(SAID)


async def test_a_design_that_another_package_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "theirs.py").write_text(
        "from assistant.designs.design import Design\nclass Theirs(Design):\n    pass\n"
    )
    about = tmp_path / "theirs-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1\n")
    (about / "entry_points.txt").write_text(f"[{ENTRY_POINTS}]\ntheirs = theirs:Theirs\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert class_of("theirs").__module__ == "theirs"
    with pytest.raises(ConfigError, match="theirs, or module:Class"):
        class_of("nobodys")
