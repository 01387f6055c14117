"""Gates: thresholds, regressions and JUnit, and the exit code of a command that fails one."""

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from benches import Finished
from made_runs import made_run

from harness.comparison.runs import load_run
from harness.errors import RunMismatch, UsageError
from harness.gates.junit import junit_xml
from harness.gates.regression import check_regression
from harness.gates.thresholds import figure_of, parse_threshold
from harness.report.write import write_report
from harness.runs.run_dir import RunDir

Harness = Callable[..., Finished]
NAMES = [f"q{i}" for i in range(10)]
GOOD = dict.fromkeys(NAMES, "yes")
WORSE = GOOD | dict.fromkeys(NAMES[:5], "no")


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("accuracy", 0.5),
        ("answerable", 0.5),
        ("task_averaged", 0.5),
        ("accuracy.multi-session", 0.5),
        ("accuracy.no-such-type", None),
        ("abstention", None),
        ("recall_all@5", 0.9),
        ("recall_all@10", 1.0),
        ("round.recall_any@5", 0.9),
        ("ndcg@1[standard]", 0.9),
        ("turn.recall_all@5", None),
        ("evidence_in_context@7000", 0.9),
        ("evidence_in_prompt", None),
        ("f1", None),
    ],
)
def test_every_metric_has_a_name(tmp_path: Path, metric: str, value: float | None) -> None:
    report = load_run(made_run(tmp_path / "a", WORSE, ranks={"q0": 9})).report
    assert parse_threshold(f"{metric}=0.1").metric == metric
    assert figure_of(report, metric) == (None if value is None else pytest.approx(value))


def test_a_threshold_is_for_the_accuracy_unless_it_names_another(tmp_path: Path) -> None:
    report = load_run(made_run(tmp_path / "a", WORSE)).report
    assert parse_threshold("0.5").check(report).passed
    assert not parse_threshold("0.51").check(report).passed
    assert parse_threshold("recall_all@5=1").check(report).passed


def test_what_was_not_measured_does_not_pass(tmp_path: Path) -> None:
    report = load_run(made_run(tmp_path / "a", WORSE)).report
    result = parse_threshold("abstention=0").check(report)
    assert (result.passed, "not measured" in result.said) == (False, True)


@pytest.mark.parametrize("text", ["", "x", "80", "-0.1", "nan", "speed=0.5", "accuracy="])
def test_thresholds_that_mean_nothing_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--fail-under"):
        parse_threshold(text)


def test_a_regression_is_a_significant_loss(tmp_path: Path) -> None:
    base, worse = made_run(tmp_path / "base", GOOD), made_run(tmp_path / "worse", WORSE)
    result = check_regression(worse, base)
    assert not result.passed  # five lost, none gained: p = 1/32
    assert "5 lost and 0 gained; p of being worse 0.031" in result.said
    assert check_regression(base, worse).passed
    slightly = made_run(tmp_path / "slightly", GOOD | dict.fromkeys(NAMES[:4], "no"))
    assert check_regression(slightly, base).passed  # four lost: p = 1/16


def test_a_report_alone_is_compared_without_its_questions(tmp_path: Path) -> None:
    base, worse = made_run(tmp_path / "base", GOOD), made_run(tmp_path / "worse", WORSE)
    write_report(RunDir(base))
    inside = base / "report.json"
    assert "5 lost" in check_regression(worse, inside).said
    alone = inside.rename(tmp_path / "report.json")
    result = check_regression(worse, alone)
    assert not result.passed
    assert "50.0 % of 10 against 100.0 % of 10" in result.said


def test_another_judge_is_no_base(tmp_path: Path) -> None:
    base = made_run(tmp_path / "base", GOOD, judge={"id": "other-1", "hash": "0" * 12})
    run = made_run(tmp_path / "run", GOOD)
    with pytest.raises(RunMismatch, match="another judge"):
        check_regression(run, base)
    write_report(RunDir(base))
    alone = (base / "report.json").rename(tmp_path / "report.json")
    with pytest.raises(RunMismatch, match="another judge"):
        check_regression(run, alone)


def test_junit_has_a_case_for_each_question(tmp_path: Path) -> None:
    path = made_run(
        tmp_path / "a", {"a": "yes", "b": "no", "c": None}, selected="abcd", said=" \x00<&>"
    )
    suite = ElementTree.fromstring(junit_xml(load_run(path)))
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "4", "failures": "1", "errors": "1", "skipped": "1"}
    cases = suite.findall("testcase")
    assert [case.get("classname") for case in cases] == ["multi-session"] * 4
    assert (cases[1].get("name"), cases[1].get("time")) == ("b: What of b?", "0.100")
    failure = cases[1].find("failure")
    assert failure is not None
    assert "reference: gold b\nhypothesis: said of b �<&>\njudge: because" in str(failure.text)


def test_a_failed_gate_has_an_exit_code_of_its_own(harness: Harness, tmp_path: Path) -> None:
    path, junit = made_run(tmp_path / "a", WORSE), tmp_path / "junit.xml"
    ended = harness("report", path, "--fail-under", "0.6", "--junit", junit)
    assert ended.code == 3
    assert "gate FAILED: accuracy 50.0 %, wanted at least 60.0 %" in ended.err
    assert junit.exists()
    ended = harness("report", path, "--fail-under", "0.5", "--fail-under", "recall_all@5=0.9")
    assert ended.code == 0
    assert ended.err.count("gate passed") == 2


def test_a_gate_that_cannot_be_checked_is_refused_before_anything_runs(
    harness: Harness, tmp_path: Path
) -> None:
    path = made_run(tmp_path / "a", WORSE)
    ended = harness("report", path, "--fail-on-regression", tmp_path / "nowhere")
    assert (ended.code, "neither a run directory nor" in ended.err) == (2, True)
    assert not (path / "report.json").exists()
    (tmp_path / "no.json").write_text(json.dumps({"accuracy": None}))
    ended = harness("report", path, "--fail-on-regression", tmp_path / "no.json")
    assert (ended.code, "not a report.json" in ended.err) == (2, True)
