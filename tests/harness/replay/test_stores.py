"""Stores of the Add/Search convention: histories in, questions searched for, read by a model."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benches import Finished
from histories import three_questions, write_data
from scripted_judge import ScriptedJudge
from scripted_store import ScriptedStore, scripted_store

from harness.errors import UsageError
from harness.replay.modes import Approach
from harness.replay.modes import load_profile as profile

Harness = Callable[..., Finished]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def run_on(store: ScriptedStore, tmp_path: Path) -> tuple[object, ...]:
    data = write_data(tmp_path / "data.json", three_questions())
    on = ("--dataset", "longmemeval", "--file", data, "--assistant", store.url)
    return (*on, "--profile", "add-search", "--out", tmp_path / "run")


def test_histories_go_in_blind_dated_and_whole(
    harness: Harness, model: ScriptedJudge, tmp_path: Path
) -> None:
    with scripted_store(busy_first=1) as store:
        model.says = lambda prompt: "Turquoise." if "turquoise" in prompt.lower() else "No idea."
        reader = f"reader@{model.url}"
        ended = harness("run", *run_on(store, tmp_path), "--reader", reader, "--no-probe")
        assert ended.code == 0, ended.err
    told = [session for one in three_questions() for session in one["haystack_sessions"]]
    said = sorted(turn["content"] for session in told for turn in session)
    assert sorted(one.text for one in store.kept) == said
    # The first request was refused once, and came again under its id.
    assert store.added[0] == next(
        one for one in store.added[1:] if one["request_id"] == store.added[0]["request_id"]
    )
    sent = json.dumps(store.added) + json.dumps(store.searched)
    for one in three_questions():
        assert f'"{one["question_id"]}"' not in sent
        for session_id in one["haystack_session_ids"]:
            assert session_id not in sent
    hypotheses = {one["question_id"]: one for one in lines(tmp_path / "run/hypotheses.jsonl")}
    assert hypotheses["q1"]["hypothesis"] == "Turquoise."
    prompts = [one["messages"][-1]["content"] for one in model.sent]
    assert len(prompts) == 3
    dates = {one.said_at for one in store.kept}
    assert any(date in prompts[0] for date in dates)
    report = json.loads((tmp_path / "run/report.json").read_text())
    assert report["retrieval"]


def test_searching_alone_needs_no_reader(harness: Harness, tmp_path: Path) -> None:
    with scripted_store() as store:
        ended = harness("retrieval", *run_on(store, tmp_path))
        assert ended.code == 0, ended.err
        assert not harness("retrieval", *run_on(store, tmp_path)).code
        searched = len(store.searched)
    assert searched == 3  # the second command had nothing to do
    found = {one["question_id"]: one for one in lines(tmp_path / "run/retrieval.jsonl")}
    assert found["q1"]["ranked_rounds"]
    assert found["q1"]["sources"]["by"]["text"] > 0


def test_a_store_answers_nothing(harness: Harness, tmp_path: Path) -> None:
    with scripted_store() as store:
        ended = harness("replay", *run_on(store, tmp_path))
        assert (ended.code, "--reader MODEL@BASE_URL" in ended.err) == (2, True)
        assert store.added == []
        nowhere = ("--assistant", store.url.removesuffix("/board"))
        ended = harness("retrieval", *run_on(store, tmp_path), *nowhere)
    assert (ended.code, "no store of the Add/Search convention" in ended.err) == (2, True)


@pytest.mark.parametrize("mode", ["teacher", "live", "full-context", "no-memory"])
def test_a_store_cannot_be_chatted_with(mode: str) -> None:
    with pytest.raises(UsageError, match="it has no chat"):
        Approach(mode, profile("add-search"))
