"""Assistants without a memory, with a wrong clock, with leaks: each found out, none guessed at."""

from datetime import UTC, datetime
from typing import Any

import pytest
from benches import Bench
from scripted_rival import PROFILE, Rival

from harness.assistants.profile import load_profile, parse_profile
from harness.pipeline.probing import make_probe, read_answers
from harness.replay.modes import Approach

NOW = datetime(2026, 11, 21, tzinfo=UTC)


def probed(bench: Bench, theirs: Rival, mode: str = "teacher") -> dict[str, Any]:
    profile = parse_profile(PROFILE, name="theirs", source="theirs.toml")
    bench.url, bench.approach = theirs.url, Approach(mode, profile)
    assert bench.replay(probe=True) == 0
    report = bench.report()
    assert (report["n"], report["missing"]) == (3, 0)
    conduct: dict[str, Any] = report["conduct"]
    return conduct


@pytest.mark.parametrize(
    ("habits", "findings"),
    [
        ({}, ["remembers across sessions", "keeps users apart", "honours replayed time"]),
        (
            {"honours_time": False},
            [
                "remembers across sessions",
                "keeps users apart",
                "ignores time: dates what it was told by its own clock, answers relative to today",
            ],
        ),
        (
            {"remembers": False},
            ["does not remember across sessions; so its sense of time cannot be tried"],
        ),
        (
            {"isolates": False},
            [
                "remembers across sessions",
                "USERS ARE NOT KEPT APART: one was told what another said",
                "honours replayed time",
            ],
        ),
    ],
)
@pytest.mark.parametrize("mode", ["teacher", "live"])
def test_what_is_found_out(
    bench: Bench, theirs: Rival, habits: dict[str, bool], findings: list[str], mode: str
) -> None:
    for name, value in habits.items():
        setattr(theirs, name, value)
    assert probed(bench, theirs, mode)["diagnosis"] == findings
    assert findings[0] in (bench.out / "report.html").read_text()


def test_ours_is_tried_by_its_own_routes(bench: Bench) -> None:
    assert bench.replay(probe=True) == 0
    probes = bench.report()["conduct"]["probes"]
    assert (probes["remembers"], probes["isolates_users"]) == ("yes", "yes")
    # The scripted assistant quotes without a date: nothing is made of that.
    assert probes["honours_session_time"] == "unclear"


def test_an_assistant_is_tried_once(bench: Bench, theirs: Rival) -> None:
    probed(bench, theirs)
    sent = len(theirs.arrived)
    assert bench.replay(probe=True) == 0
    assert [arrived.path for arrived in theirs.arrived[sent:]] == ["/version"]


def test_controls_need_no_probe(bench: Bench, theirs: Rival) -> None:
    bench.url, bench.approach = theirs.url, Approach("full-context", load_profile("plain"))
    bench.replay(probe=True)
    assert len(theirs.chats()) == 3
    assert bench.report()["conduct"]["probes"] is None


def test_trouble_while_trying_is_kept_and_the_run_goes_on(bench: Bench, theirs: Rival) -> None:
    bench.url, bench.approach = theirs.url, Approach("teacher", load_profile("plain"))
    theirs.fail_every, theirs.fail_status = 7, 400
    bench.replay(probe=True)
    assert "status 400" in bench.report()["conduct"]["diagnosis"][0]
    theirs.fail_every = 0
    bench.replay(probe=True)
    assert bench.report()["conduct"]["diagnosis"][0].startswith("does not remember")


def test_probes_differ_between_runs_and_not_within_one() -> None:
    first, again, other = make_probe("salt"), make_probe("salt"), make_probe("pepper")
    assert first == again
    assert first.name != other.name
    assert first.day.year < 2019
    assert all(first.name not in question.question for question in first.questions.values())


PROBE = make_probe("salt")
DAY = PROBE.day


@pytest.mark.parametrize(
    ("said", "finding"),
    [
        (f"{DAY:%Y-%m-%d}", "yes"),
        (f"{DAY:%d %B %Y}", "yes"),
        (f"On {DAY:%B} {DAY.day}, {DAY.year}.", "yes"),
        (f"{DAY:%Y/%m/%d} (as you said this morning)", "yes"),
        ("On 21 November 2026.", "no"),
        ("You adopted it today.", "no"),
        ("You told me so.", "unclear"),
        ("“This morning I adopted a greyhound.”", "unclear"),
        ("", "unclear"),
    ],
)
def test_dates_in_answers(said: str, finding: str) -> None:
    answers = {"name": PROBE.name, "stranger": "?", "day": said, "days_ago": "?"}
    assert read_answers(PROBE, answers, NOW).honours_session_time == finding


@pytest.mark.parametrize(
    ("said", "finding"),
    [
        (f"{PROBE.days_ago} days ago.", "yes"),
        (f"About {PROBE.days_ago - 1} days.", "yes"),
        (f"{(NOW - DAY).days} days", "no"),
        ("0 days ago", "no"),
        ("A while ago.", "unclear"),
        ("5 days ago", "unclear"),
    ],
)
def test_day_counts_in_answers(said: str, finding: str) -> None:
    answers = {"name": PROBE.name, "stranger": "?", "day": "?", "days_ago": said}
    assert read_answers(PROBE, answers, NOW).honours_question_time == finding
