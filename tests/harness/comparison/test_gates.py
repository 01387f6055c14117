"""Gates: thresholds, regressions and JUnit, and the exit code of a command that fails one."""

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from benches import Finished
from made_runs import made_run
from scipy.stats import binomtest
from statsmodels.stats.multitest import multipletests

from harness.comparison.gates import GateResult, check_regression, junit_xml, parse_threshold
from harness.comparison.runs import load_run
from harness.errors import RunMismatch, UsageError
from harness.records.run_dir import RunDir
from harness.report.build import write_report
from harness.report.figures import figure_of
from harness.report.table import p_value
from harness.statistics.paired_tests import signs_worse

Harness = Callable[..., Finished]
NAMES = [f"q{i}" for i in range(10)]
GOOD = dict.fromkeys(NAMES, "yes")
WORSE = GOOD | dict.fromkeys(NAMES[:7], "no")
LATE = dict.fromkeys(NAMES[:7], 7)


def regressions(path: Path, base: Path) -> dict[str, GateResult]:
    """Each figure's result by its name."""
    return {result.name.split()[-1]: result for result in check_regression(path, base)}


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("accuracy", 0.3),
        ("answerable", 0.3),
        ("task_averaged", 0.3),
        ("accuracy.multi-session", 0.3),
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
    assert parse_threshold("0.3").check(report).passed
    assert not parse_threshold("0.31").check(report).passed
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
    result = regressions(worse, base)["accuracy"]
    assert not result.passed  # seven lost, none gained: p = 1/128, four figures: 4/128
    said = "7 lost and 0 gained; p of being worse 0.008, 0.031 as one of 4 figures"
    assert result.said.endswith(said)
    assert regressions(base, worse)["accuracy"].passed
    slightly = made_run(tmp_path / "slightly", GOOD | dict.fromkeys(NAMES[:6], "no"))
    assert regressions(slightly, base)["accuracy"].passed  # six lost: p = 1/64, corrected 1/16


@pytest.mark.parametrize(
    ("lost", "failed"),
    [
        # Of four figures the least p counts four times, the next one three times, and so on.
        (6, {"accuracy", "recall_all@5", "recall_all@10", "round.recall_fraction@10"}),
        (4, set()),
    ],
)
def test_figures_are_tested_together(tmp_path: Path, lost: int, failed: set[str]) -> None:
    verdicts = GOOD | dict.fromkeys(NAMES[:9], "no")  # p = 1/512
    base = made_run(tmp_path / "base", GOOD)
    run = made_run(tmp_path / "run", verdicts, ranks=dict.fromkeys(NAMES[:lost], 12))
    found = regressions(run, base)
    ps = [1 / 2**9, *[1 / 2**lost] * 3]
    expected = {"accuracy"} | failed
    assert {name for name, result in found.items() if not result.passed} == expected
    together = multipletests(ps, method="holm")[1]
    for result, p in zip(found.values(), together, strict=True):
        assert f"{p_value(p)} as one of 4 figures" in result.said


def test_a_figure_alone_needs_no_correction(tmp_path: Path) -> None:
    few = GOOD | dict.fromkeys(NAMES[:5], "no")
    base = made_run(tmp_path / "base", GOOD, searched=["none"])
    run = made_run(tmp_path / "run", few, searched=["none"])
    (result,) = regressions(run, base).values()
    assert (result.passed, result.said.split("; ")[1]) == (False, "p of being worse 0.031")


def test_retrieval_must_not_be_worse_either(tmp_path: Path) -> None:
    base = made_run(tmp_path / "base", GOOD)
    late = made_run(tmp_path / "late", GOOD, ranks=LATE)
    found = regressions(late, base)
    assert {name for name, result in found.items() if not result.passed} == {"recall_all@5"}
    said = found["recall_all@5"].said
    assert "30.0 % against 100.0 % of base over 10 questions, 7 lost and 0 gained" in said
    assert "0.031" in said
    assert all(result.passed for result in regressions(base, late).values())
    lost = made_run(tmp_path / "lost", GOOD, ranks=dict.fromkeys(NAMES[:7], 12))
    failed = {name for name, result in regressions(lost, base).items() if not result.passed}
    assert failed == {"recall_all@5", "recall_all@10", "round.recall_fraction@10"}
    one = made_run(tmp_path / "one", GOOD, ranks={"q0": 12})
    assert all(result.passed for result in regressions(one, base).values())


def test_rankings_that_are_gone_do_not_pass(tmp_path: Path) -> None:
    base, without = made_run(tmp_path / "base", GOOD), made_run(tmp_path / "without", GOOD)
    lines = (without / "retrieval.jsonl").read_text().splitlines(keepends=True)
    (without / "retrieval.jsonl").write_text("".join(lines[:8]))
    found = regressions(without, base)
    assert found["accuracy"].passed
    assert not found["recall_all@5"].passed
    assert "2 of 10 questions of base have no ranking in this run" in found["recall_all@5"].said
    assert all(result.passed for result in regressions(base, without).values())


def test_runs_that_only_searched_can_be_held_against_each_other(tmp_path: Path) -> None:
    base = made_run(tmp_path / "base", {}, selected=NAMES, judge=None, searched=NAMES)
    run = made_run(tmp_path / "run", {}, selected=NAMES, judge=None, searched=NAMES, ranks=LATE)
    found = regressions(run, base)
    assert "accuracy" not in found
    assert not found["recall_all@5"].passed


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ([], 1.0),
        ([0.0, 0.0], 1.0),
        ([-0.5], 0.5),
        ([0.5], 1.0),
        ([-0.5, -0.5, -1.0, -0.25, -0.5, 0.0], 1 / 32),
        ([-0.5, 0.5], 0.75),
        ([0.5, 0.5, 0.5], 1.0),
    ],
)
def test_signs_of_differences(differences: list[float], p: float) -> None:
    assert signs_worse(differences) == pytest.approx(p)


def test_many_signs_are_drawn_by_seed_and_near_the_exact_value() -> None:
    differences = [-0.1] * 30 + [0.1] * 12
    exact = binomtest(30, 42, 0.5, alternative="greater").pvalue
    assert signs_worse(differences) == signs_worse(differences)
    assert signs_worse(differences) == pytest.approx(exact, abs=0.002)


def test_a_report_alone_is_compared_without_its_questions(tmp_path: Path) -> None:
    base, worse = made_run(tmp_path / "base", GOOD), made_run(tmp_path / "worse", WORSE)
    write_report(RunDir(base))
    inside = base / "report.json"
    assert "7 lost" in regressions(worse, inside)["accuracy"].said
    alone = inside.rename(tmp_path / "report.json")
    found = regressions(worse, alone)
    assert not found["accuracy"].passed
    assert "30.0 % of 10 against 100.0 % of 10" in found["accuracy"].said
    assert {"recall_all@5", "recall_all@10"} < set(found)
    late = made_run(tmp_path / "late", GOOD, ranks=LATE)
    assert not regressions(late, alone)["recall_all@5"].passed


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
    ended = harness("report", path, "--fail-under", "0.4", "--junit", junit)
    assert ended.code == 3
    assert "gate FAILED: accuracy 30.0 %, wanted at least 40.0 %" in ended.err
    gates = ElementTree.parse(junit).getroot().findall("testcase[@classname='gate']")
    assert [gate.get("name") for gate in gates] == ["--fail-under accuracy=0.4"]
    failure = gates[0].find("failure")
    assert failure is not None
    assert failure.get("message") == "accuracy 30.0 %, wanted at least 40.0 %"
    ended = harness("report", path, "--fail-under", "0.3", "--fail-under", "recall_all@5=0.9")
    assert ended.code == 0
    assert ended.err.count("gate passed") == 2
    base = made_run(tmp_path / "base", GOOD)
    ended = harness("report", path, "--fail-on-regression", base, "--junit", junit)
    assert ended.code == 3
    suite = ElementTree.parse(junit).getroot()
    named = [case.get("name") for case in suite.findall("testcase[@classname='gate']")]
    figures = ("accuracy", "recall_all@5", "recall_all@10", "round.recall_fraction@10")
    assert named == [f"--fail-on-regression {figure}" for figure in figures]
    assert (suite.get("tests"), suite.get("failures")) == ("14", "8")


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
