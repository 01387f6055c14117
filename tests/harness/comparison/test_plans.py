"""Plans written before a run: whether it was followed, whether it held, whether it was edited."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benches import Bench, Finished
from histories import instance, write_data
from made_runs import made_run

from harness.datasets.selection import Filters, QuestionSource
from harness.pipeline.run import plain_filters
from harness.records.plan import PLAN, Plan, read_plan, write_plan
from harness.records.run_dir import RunDir

Harness = Callable[..., Finished]
NAMES = [f"q{i}" for i in range(20)]
GOOD = dict.fromkeys(NAMES, "yes")
POOR = GOOD | dict.fromkeys(NAMES[:8], "no")
LONG_AGO, LATER = "2025-01-01T00:00:00+00:00", "2025-02-01T00:00:00+00:00"


def planned(path: Path, **changes: Any) -> Path:
    plan: dict[str, Any] = {
        "format": 1,
        "plan_id": path.stem,
        "written_at": LONG_AGO,
        "hypothesis": "The new weights find more.",
        "dataset": {"name": "longmemeval", "sha256": "ab" * 32, "gold": None},
        "filters": {},
        "n": len(NAMES),
        "metric": "accuracy",
        "test": "mcnemar",
        "threshold": 0.1,
        "set_up": {"mode": "native"},
        "base": {},
    }
    path.write_text(json.dumps(plan | changes))
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_data(tmp_path / "data.json", [instance("q1"), instance("q2")])


def of_run(harness: Harness, data: Path, out: Path, *more: object) -> Finished:
    given = ("--dataset", "longmemeval", "--file", data, "--threshold", "0.5", "--out", out)
    return harness("plan", *given, "--hypothesis", "It answers half.", "--test", "value", *more)


def answers(path: Path, *right: str) -> Path:
    lines = [
        {"question_id": key, "hypothesis": "A red kayak." if key in right else "No idea at all."}
        for key in ("q1", "q2")
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def judged(harness: Harness, data: Path, said: Path, out: Path, *more: object) -> Finished:
    given = ("--dataset", "longmemeval", "--file", data, "--hypotheses", said, "--out", out)
    return harness("judge", *given, "--controls", "0", *more)


def report(out: Path) -> dict[str, Any]:
    return dict(json.loads((out / "report.json").read_text()))


def test_a_run_says_whether_it_followed_its_plan_and_what_came_of_it(
    harness: Harness, data: Path, tmp_path: Path
) -> None:
    plan, out = tmp_path / "plans.json", tmp_path / "run"
    written = of_run(harness, data, plan, "--set-up", "judge.id=lexical-2")
    assert (written.code, written.out) == (0, f"{plan}: accuracy is at least 0.5; n = 2\n")
    ended = judged(harness, data, answers(tmp_path / "a.jsonl", "q1", "q2"), out, "--plan", plan)
    assert ended.code == 0, ended.err
    found = report(out)["plan"]
    value = report(out)["accuracy"]["overall"]["value"]
    assert found["measured"]["value"] == value
    assert found["verdict"] == ("held" if value >= 0.5 else "failed")
    assert found["deviations"] == []
    assert "It answers half." in ended.out
    assert "It answers half." in (out / "report.html").read_text()
    assert (
        report(out)["plan"]["sha256"]
        == json.loads((out / "manifest.json").read_text())["plan"]["sha256"]
    )


def test_other_questions_and_another_set_up_are_told(
    harness: Harness, data: Path, tmp_path: Path
) -> None:
    plan, out = tmp_path / "plan-1.json", tmp_path / "run"
    of_run(harness, data, plan, "--set-up", "judge.id=strict", "--set-up", "mode=native")
    said = answers(tmp_path / "a.jsonl", "q1")
    ended = judged(harness, data, said, out, "--plan", plan, "--ids", "q1")
    assert "not as planned: other questions" in ended.err
    told = "; ".join(report(out)["plan"]["deviations"])
    for part in ("ids: [] then, ['q1'] now", "n = 1, planned 2", "judge.id is lexical", "mode is"):
        assert part in told


def test_a_plan_that_was_edited_is_noticed(harness: Harness, data: Path, tmp_path: Path) -> None:
    plan, out = tmp_path / "plan-1.json", tmp_path / "runs" / "run"
    of_run(harness, data, plan)
    said = answers(tmp_path / "a.jsonl")
    judged(harness, data, said, out, "--plan", plan)
    edited = json.loads(plan.read_text()) | {"threshold": 0.0}
    (out / PLAN).write_text(json.dumps(edited))
    assert harness("report", out).code == 0
    (deviation,) = report(out)["plan"]["deviations"]
    assert "edited after the run began" in deviation
    again = judged(harness, data, said, out, "--plan", out / PLAN)
    assert again.code == 2
    assert "another plan" in again.err
    (out / PLAN).unlink()
    assert "is gone" in harness("report", out).err


def test_a_plan_comes_before_its_run(harness: Harness, data: Path, tmp_path: Path) -> None:
    plan, out, said = tmp_path / "plan.json", tmp_path / "run", answers(tmp_path / "a.jsonl")
    judged(harness, data, said, out)
    of_run(harness, data, plan)
    late = judged(harness, data, said, out, "--plan", plan)
    assert (late.code, "begun without one" in late.err) == (2, True)
    twice = of_run(harness, data, plan)
    assert (twice.code, "File exists" in twice.err) == (2, True)


def test_a_mistyped_plan_begins_no_run(harness: Harness, data: Path, tmp_path: Path) -> None:
    plan, out, said = (
        tmp_path / "new" / "plan.json",
        tmp_path / "run",
        answers(tmp_path / "a.jsonl"),
    )
    assert of_run(harness, data, plan).code == 0  # makes the folder
    mistyped = judged(harness, data, said, out, "--plan", tmp_path / "new" / "plam.json")
    assert (mistyped.code, "cannot be read" in mistyped.err, out.exists()) == (2, True, False)
    assert judged(harness, data, said, out, "--plan", plan).code == 0


@pytest.mark.parametrize(
    ("change", "code", "verdict", "told"),
    [
        ({}, 0, "held", ""),
        ({"threshold": 0.5}, 0, "failed", ""),
        ({"test": "bootstrap", "threshold": 0.15}, 0, "held", ""),
        ({"metric": "accuracy.multi-session"}, 0, "held", ""),
        ({"metric": "recall_all@5"}, 0, "failed", ""),
        ({"metric": "evidence_in_prompt"}, 0, "not measured", ""),
        ({"n": 25}, 0, "held", "n = 20 questions in common, planned 25"),
        ({"written_at": "2026-01-01T00:00:00+00:00"}, 0, "held", "before the plan was written"),
        ({"base": {"assistant.version.settings.port": "2"}}, 0, "held", "is 1, planned 2"),
        ({"test": "value"}, 2, None, "is for a single run"),
    ],
)
def test_a_comparison_is_held_against_its_plan(
    harness: Harness,
    tmp_path: Path,
    change: dict[str, Any],
    code: int,
    verdict: str | None,
    told: str,
) -> None:
    base = made_run(tmp_path / "base", POOR, created_at=LONG_AGO)
    run = made_run(tmp_path / "run", GOOD, created_at=LATER)
    plan = planned(tmp_path / "plan.json", **change)
    ended = harness("compare", base, run, "--plan", plan, "--out", tmp_path / "both")
    assert ended.code == code, ended.err
    if verdict is None:
        assert told in ended.err
        return
    found = json.loads((tmp_path / "both" / "compare.json").read_text())["plan"]
    assert found["verdict"] == verdict
    assert told in "; ".join(found["deviations"])
    assert bool(found["deviations"]) == bool(told)


def test_plans_that_failed_stand_beside_those_that_held(harness: Harness, tmp_path: Path) -> None:
    base = made_run(tmp_path / "base", POOR, created_at=LONG_AGO)
    run = made_run(tmp_path / "run", GOOD, created_at=LATER)
    (tmp_path / "plans").mkdir()
    for name, change in (("good", {}), ("bad", {"threshold": 0.9})):
        plan = planned(tmp_path / "plans" / f"{name}.json", **change)
        harness("compare", base, run, "--plan", plan, "--out", tmp_path / f"of-{name}")
    planned(tmp_path / "plans" / "open.json")
    planned(tmp_path / "plans" / "bad.json", threshold=0.2)
    ended = harness("plans", tmp_path, "--json")
    rows = {one["plan"]["plan_id"]: one for one in json.loads(ended.out)["plans"]}
    verdicts = {key: one["verdict"] for key, one in rows.items()}
    assert verdicts == {"good": "held", "bad": "failed", "open": "not run"}
    assert rows["bad"]["deviations"] == ["the plan in plans/bad.json was edited since"]
    assert rows["good"]["deviations"] == []
    shown = harness("plans", tmp_path).out
    assert "1 held" in shown
    assert "1 failed with deviations" in shown
    nothing = harness("plans", tmp_path / "base")
    assert (nothing.code, "no plan under it" in nothing.err) == (2, True)


def test_a_run_by_an_assistant_is_planned_with_its_set_up(bench: Bench, tmp_path: Path) -> None:
    """The whole way: a plan by the loader's own filters, a replay, and the figure of its report."""
    bench.data_file = write_data(tmp_path / "data.json", [instance("q1")])
    plan = planned(tmp_path / "plan.json", test="interval", metric="recall_all@5", n=1)
    source = QuestionSource("longmemeval", bench.data_file, Filters())
    made: Plan = json.loads(plan.read_text())
    made["dataset"]["sha256"] = bench.open().dataset.fingerprint.sha256()
    made["filters"] = plain_filters(source.filters)
    made["set_up"] = {"assistant.model": "aide-memoire", "mode": "native"}
    plan.unlink()
    RunDir(bench.out).path.joinpath("manifest.json").unlink()
    write_plan(plan, made)
    bench.plan = plan
    bench.replay()
    found = bench.report()["plan"]
    assert found["deviations"] == []
    assert found["measured"]["low"] < found["measured"]["value"] == 1.0


def test_a_run_of_one_plan_may_be_compared_by_another(harness: Harness, tmp_path: Path) -> None:
    """Edited is only what was the run's own plan."""
    base = made_run(tmp_path / "base", POOR, created_at=LONG_AGO)
    run = made_run(tmp_path / "run", GOOD, created_at=LATER)
    own = planned(run / PLAN, plan_id="own", test="value")
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["plan"] = {"file": "own.json", "sha256": read_plan(own).sha256}
    (run / "manifest.json").write_text(json.dumps(manifest))
    other = planned(tmp_path / "other.json")
    mine = planned(tmp_path / "mine.json", plan_id="own")
    told = []
    for plan in (other, mine):
        harness("compare", base, run, "--plan", plan, "--out", tmp_path / plan.stem)
        outcome = json.loads((tmp_path / plan.stem / "compare.json").read_text())["plan"]
        told.append(outcome["deviations"])
    assert told[0] == []
    assert "edited after the run began" in told[1][0]
