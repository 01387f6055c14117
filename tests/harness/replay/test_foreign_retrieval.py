"""Retrieval of somebody else's assistant, scored from the sources of its answers over real HTTP."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from benches import Bench, Finished
from conversations import sample
from scripted_rival import RECORDING, Heard, Rival

from harness.assistants.profile import parse_profile
from harness.records.run_dir import QUESTIONS_CSV, REPORT_HTML, REPORT_MARKDOWN, RETRIEVAL, RunDir
from harness.replay.modes import Approach
from harness.report.figures import figure_of

BY_ROUND = """
path = "grounding.chunks"
session = "origin.thread"
round = "origin.nr"
first_round = 1
score = "relevance"
"""
NAMED = "path = 'from'\nsession = 'thread'"
TEXTS = "path = 'from.*.quote'\ntext = '.'"


@pytest.fixture
def away(bench: Bench, theirs: Rival) -> Callable[..., Bench]:
    """The bench against the rival, whose sources a profile describes so."""

    def make(sources: str, mode: str = "teacher") -> Bench:
        bench.url = theirs.url
        profile = parse_profile(
            f"{RECORDING}[sources]\n{sources}", name="theirs", source="theirs.toml"
        )
        bench.approach = Approach(mode, profile)
        return bench

    return make


def chunks(theirs: Rival) -> Callable[[list[Heard]], dict[str, Any]]:
    """Worst first, with scores: a shape of its own."""

    def cite(ranked: list[Heard]) -> dict[str, Any]:
        listed = [
            {"origin": {"thread": h.session, "nr": theirs.number(h) + 1}, "relevance": -i}
            for i, h in enumerate(ranked)
        ]
        return {"grounding": {"chunks": listed[::-1]}}

    return cite


def values(report: dict[str, Any], *names: str) -> list[float | None]:
    return [figure_of(report, name) for name in names]


def markdown(bench: Bench) -> str:
    return (bench.out / REPORT_MARKDOWN).read_text()


def test_sources_by_session_and_round_give_every_figure(
    away: Callable[..., Bench], theirs: Rival
) -> None:
    theirs.cite = chunks(theirs)
    bench = away(BY_ROUND)
    assert bench.replay() == 0
    report = bench.report()
    # q1 has its one evidence first; q2 both of its two among the first three.
    names = (
        "recall_all@1",
        "recall_any@1",
        "recall_fraction@1",
        "recall_all@3",
        "ndcg@3[standard]",
    )
    assert values(report, *names) == [0.5, 1.0, 0.75, 1.0, 1.0]
    assert values(report, *(f"round.{name}" for name in names)) == [0.5, 1.0, 0.75, 1.0, 1.0]
    assert values(report, "evidence_in_context@7000") == [1.0]
    official = report["retrieval"]["official"]["run_script"]
    assert official["session"]["recall_all@3"] == {"value": 1.0, "n": 2}
    assert official["turn"]["ndcg@1[longmemeval]"] == {"value": 1.0, "n": 2}
    assert report["retrieval"]["sources"]["placed_by"]["round"] == 6
    assert "by session and round | 6" in markdown(bench)
    csv = (bench.out / QUESTIONS_CSV).read_text()
    assert "round.recall_all@5" in csv


def test_sources_that_name_sessions_alone_leave_rounds_not_returned(
    away: Callable[..., Bench], theirs: Rival
) -> None:
    theirs.cite = lambda ranked: {"from": [{"thread": h.session} for h in ranked]}
    bench = away(NAMED)
    bench.replay()
    report = bench.report()
    assert values(report, "recall_all@1", "recall_all@3") == [0.5, 1.0]
    assert values(report, "round.recall_all@3", "evidence_in_context@7000") == [None, None]
    assert report["retrieval"]["official"]["run_script"]["turn"] == {}
    assert report["conduct"]["diagnosis"] == [
        "sources tell their session and not their round in 3 of 3 answers: rounds are not measured "
        "there"
    ]
    said = markdown(bench)
    assert "| round | not returned | not returned | not returned | not returned | 0 |" in said
    assert "| 7000 tokens | not returned | 0 |" in said
    assert "by the session alone" in (bench.out / REPORT_HTML).read_text()


@pytest.mark.parametrize("mode", ["teacher", "native"])
def test_sources_that_name_turns_in_a_header(
    away: Callable[..., Bench], theirs: Rival, mode: str
) -> None:
    theirs.cite_header = lambda ranked: {"X-From": json.dumps([{"id": h.turn} for h in ranked])}
    bench = away("header = 'X-From'\nturn = 'id'", mode)
    bench.replay()
    report = bench.report()
    assert values(report, "recall_all@1", "round.recall_all@3") == [0.5, 1.0]
    assert report["retrieval"]["sources"]["placed_by"]["turn"] == 6
    assert report["conduct"]["diagnosis"] == []


def test_texts_are_matched_and_the_report_says_so(
    away: Callable[..., Bench], theirs: Rival
) -> None:
    theirs.cite = lambda ranked: {"from": [{"quote": f"{h.day}: {h.text}"} for h in ranked]}
    bench = away(TEXTS)
    bench.replay()
    report = bench.report()
    assert values(report, "recall_all@1", "round.recall_fraction@3") == [0.5, 0.75]
    # "Race day!" says too little to be told from other texts.
    assert report["conduct"]["diagnosis"] == [
        "sources are matched by text: 5 of 6",
        "1 of 6 sources fit no place of the history: retrieval may be better than its figures",
    ]
    assert "matched by text | 5" in markdown(bench)


def test_an_assistant_without_sources_is_said_to_be_one(
    away: Callable[..., Bench], theirs: Rival
) -> None:
    bench = away(NAMED)
    bench.replay()
    report = bench.report()
    assert report["retrieval"]["session"] == {}
    assert report["retrieval"]["excluded"]["not_searched"] == 3
    assert report["conduct"]["diagnosis"] == [
        "returns no sources with 3 of 3 answers: their retrieval is not measured"
    ]
    assert "| session | not returned |" in markdown(bench)
    assert report["missing"] == 0


def test_broken_sources_are_diagnosed_and_not_counted(
    away: Callable[..., Bench], theirs: Rival
) -> None:
    broken: Iterator[Any] = iter(
        [
            "see above",
            [{"thread": "s-of-somebody"}, {"thread": None}],
            [],
        ]
    )

    def cite(ranked: list[Heard]) -> dict[str, Any]:
        return {"from": next(broken)} if any(h.session for h in ranked) and asked() else {}

    def asked() -> bool:
        return theirs.arrived[-1].body.get("store") is False

    theirs.cite = cite
    bench = away(NAMED)
    bench.replay(concurrency=1)
    report = bench.report()
    states = report["retrieval"]["sources"]["answers"]
    assert (states["unreadable"], states["unplaced"], states["empty"]) == (1, 1, 1)
    assert report["conduct"]["diagnosis"] == [
        "returns sources that cannot be read with 1 of 3 answers: from: expected a list, found str",
        "returns sources of 1 of 3 answers that fit nothing it was told: from: expected a list, "
        "found str",
    ]
    # The abstention question had the empty list, so that nothing is in a denominator.
    assert report["retrieval"]["session"] == {}
    assert report["missing"] == 0


def test_an_empty_list_is_a_retrieval_that_found_nothing(
    away: Callable[..., Bench], theirs: Rival
) -> None:
    theirs.cite = lambda _: {"from": []}
    bench = away(NAMED)
    bench.replay()
    report = bench.report()
    assert report["retrieval"]["session"]["recall_all@50"] == {"value": 0.0, "n": 2}
    assert report["conduct"]["diagnosis"] == []


def test_locomo_has_its_turns(away: Callable[..., Bench], theirs: Rival, tmp_path: Path) -> None:
    theirs.cite = chunks(theirs)
    bench = away(BY_ROUND)
    bench.data_file, bench.dataset = tmp_path / "locomo.json", "locomo"
    bench.data_file.write_text(json.dumps([sample()]))
    assert bench.replay() == 0
    turn = bench.report()["retrieval"]["turn"]
    assert turn["strict"]["overall"]["recall_all@50"]["value"] == 1.0


def test_foreign_rankings_are_exported_and_compared(
    away: Callable[..., Bench],
    theirs: Rival,
    harness: Callable[..., Finished],
    tmp_path: Path,
) -> None:
    theirs.cite = lambda ranked: {"from": [{"quote": h.text} for h in ranked]}
    bench = away(TEXTS)
    bench.replay()
    bench.report()
    first = bench.out
    bench.out = tmp_path / "named"
    theirs.cite = lambda ranked: {"from": [{"thread": h.session} for h in ranked]}
    bench = away(NAMED)
    bench.replay()
    bench.report()
    ended = harness("compare", first, bench.out)
    assert ended.code == 0
    assert "recall_all@5" in ended.out
    assert "round.recall_all@5" not in ended.out
    for run in (first, bench.out):
        log = tmp_path / "log.jsonl"
        named = ("--format", "retrieval-log-turn", "--file", bench.data_file, "--out", log)
        assert harness("export", run, *named).code == 0
        assert len(log.read_text().splitlines()) == 3
    assert len(RunDir(bench.out).by_question(RETRIEVAL)) == 3
