"""The gates of one command. They are read before the command starts and checked when it is done; a
JUnit file tells their results.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self
from xml.etree import ElementTree

from harness.comparison.build import common_questions
from harness.comparison.paired import paired_accuracy, question_figures
from harness.comparison.runs import ComparedRun, load_run, load_runs, require_comparable
from harness.errors import RunMismatch, UsageError, raising
from harness.records.digest import QuestionDigest
from harness.records.run_dir import MANIFEST, RunLines, outcome_of
from harness.report.figures import Report, cell_of, figure_of, is_figure
from harness.report.table import p_value, percent
from harness.statistics.intervals import ALPHA
from harness.statistics.paired_tests import Pairs, holm, mcnemar_worse, signs_worse, unpaired_worse


@dataclass(frozen=True, slots=True)
class GateResult:
    """Whether a run passes the gate of this name; `said` has the figures in words."""

    name: str
    passed: bool
    said: str

    def __str__(self) -> str:
        return f"{'passed' if self.passed else 'FAILED'}: {self.said}"


@dataclass(frozen=True, slots=True)
class Threshold:
    """The lowest value, from 0 to 1, that a metric may have."""

    metric: str
    value: float

    @property
    def _name(self) -> str:
        return f"--fail-under {self.metric}={self.value:g}"

    def check(self, report: Report) -> GateResult:
        """Compare the report's figure itself, not its interval; a missing figure fails."""
        value = figure_of(report, self.metric)
        if value is None:
            return GateResult(self._name, False, f"{self.metric} was not measured in this run")
        wanted = f"{self.metric} {percent(value)} %, wanted at least {percent(self.value)} %"
        return GateResult(self._name, value >= self.value, wanted)


def parse_threshold(text: str) -> Threshold:
    """Read `METRIC=VALUE`, or a value for the accuracy; raises `UsageError` for anything else."""
    metric, found, value = text.rpartition("=")
    if not found:
        metric = "accuracy"
    if not is_figure(metric):
        raise UsageError(
            f"--fail-under {text}: unknown metric {metric!r}; see the benchmark's docs"
        )
    return Threshold(metric, share_of(value, text))


def share_of(value: str, text: str) -> float:
    """A number from 0 to 1; `text` is the whole option, which a `UsageError` names."""
    try:
        share = float(value)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise UsageError(f"--fail-under {text}: the value must be a share from 0 to 1")
    return share


OPTION = "--fail-on-regression"
BINARY = ("recall_all@5", "recall_all@10")
FRACTIONS = ("round.recall_fraction@10", "turn.recall_fraction@10")


class _Figure(NamedTuple):
    """A figure of both runs; `p` is the p-value of its being worse now, None if it is missing."""

    name: str
    said: str
    p: float | None


def check_regression(path: Path, base: Path) -> list[GateResult]:
    """Compare the run in `path` with a base, a run or a report. Raises `RunMismatch` or
    `UsageError` where they cannot be compared."""
    if base.is_dir() or (base.parent / MANIFEST).exists():
        figures = _against_run(path, base if base.is_dir() else base.parent)
    else:
        figures = _against_report(load_run(path), _report(base), base)
    found = list(figures)
    if not found:
        raise UsageError(f"{OPTION} {base}: nothing to compare (no judged answers, no rankings)")
    return list(_held_together(found))


def require_base(base: Path) -> None:
    """Refuse a base that is neither a run nor a report, before anything is run."""
    if not (base / MANIFEST).exists() and not base.is_file():
        raise UsageError(f"{OPTION} {base}: neither a run directory nor a report.json")


def _held_together(figures: Sequence[_Figure]) -> Iterator[GateResult]:
    """A gate for each figure, with its p-value corrected over all tested figures. A figure that is
    missing now fails without a test."""
    tested = [figure.p for figure in figures if figure.p is not None]
    corrected = iter(holm(tested))
    for name, said, p in figures:
        gate = f"{OPTION} {name}"
        if p is None:
            yield GateResult(gate, False, said)
            continue
        together = next(corrected)
        said += f"; p of being worse {p_value(p)}"
        if len(tested) > 1:
            said += f", {p_value(together)} as one of {len(tested)} figures"
        yield GateResult(gate, together >= ALPHA, said)


def _against_run(path: Path, base: Path) -> Iterator[_Figure]:
    first, second = load_runs([base, path])
    require_comparable([first, second], anyway=False)
    questions = common_questions([first, second])
    if not questions:
        raise UsageError(f"{OPTION} {base}: no question in common")
    if first.is_judged:
        if not second.is_judged:
            raise UsageError(f"{OPTION}: {first.name} was judged, and this run was not")
        yield _accuracy(first, second, questions)
    yield from _retrieval(first, second, questions)


def _accuracy(
    first: ComparedRun, second: ComparedRun, questions: Sequence[QuestionDigest]
) -> _Figure:
    accuracy = paired_accuracy(first, second, questions)
    pairs = Pairs(**accuracy["pairs"])
    shares = accuracy["second"]["value"], accuracy["first"]["value"]
    return _Figure("accuracy", _lost("accuracy", shares, first.name, pairs), mcnemar_worse(pairs))


def _retrieval(
    first: ComparedRun, second: ComparedRun, questions: Sequence[QuestionDigest]
) -> Iterator[_Figure]:
    before, after = question_figures(first), question_figures(second)
    for name in (*BINARY, *FRACTIONS):
        known = [q.question_id for q in questions if q.question_id in before.get(name, {})]
        if not known:
            continue
        shared = [key for key in known if key in after.get(name, {})]
        if len(shared) < len(known):
            lost = f"{name}: {len(known) - len(shared)} of {len(known)} questions of {first.name} "
            yield _Figure(name, lost + "have no ranking in this run", None)
            continue
        was, now = ([run[name][key] for key in shared] for run in (before, after))
        yield _ranked(name, was, now, first.name)


def _ranked(name: str, was: Sequence[float], now: Sequence[float], base: str) -> _Figure:
    n = len(was)
    shares = sum(now) / n, sum(was) / n
    if name in BINARY:
        pairs = Pairs.of([value == 1 for value in was], [value == 1 for value in now])
        return _Figure(name, _lost(name, shares, base, pairs), mcnemar_worse(pairs))
    changes = [b - a for a, b in zip(was, now, strict=True)]
    said = (
        f"{name} {percent(shares[0])} % against {percent(shares[1])} % of {base} over {n} "
        f"questions, {sum(c < 0 for c in changes)} worse and {sum(c > 0 for c in changes)} better"
    )
    return _Figure(name, said, signs_worse(changes))


def _lost(name: str, shares: tuple[float, float], base: str, pairs: Pairs) -> str:
    return (
        f"{name} {percent(shares[0])} % against {percent(shares[1])} % of {base} over {pairs.n} "
        f"questions, {pairs.only_first} lost and {pairs.only_second} gained"
    )


def _against_report(run: ComparedRun, base: Mapping[str, Any], path: Path) -> Iterator[_Figure]:
    ours, theirs = run.report["accuracy"], base["accuracy"]
    was, now = _meaning(base), _meaning(run.report)
    if theirs and not ours:
        raise UsageError(f"{OPTION}: {path.name} was judged, and this run was not")
    if was["data"] != now["data"] or (theirs and was != now):
        raise RunMismatch(f"{OPTION} {path}: other data or another judge ({was}, {now})")
    for name in (*(["accuracy"] if theirs else []), *BINARY):
        before, after = cell_of(base, name), cell_of(run.report, name)
        if before is None:
            continue
        if after is None:
            said = f"{name} was measured in {path.name} and not in this run"
            yield _Figure(name, said, None)
            continue
        said = (
            f"{name} {percent(after['value'])} % of {after['n']} against "
            f"{percent(before['value'])} % of {before['n']} in {path.name}"
        )
        yield _Figure(name, said, unpaired_worse(_counts(before), _counts(after)))


def _meaning(report: Mapping[str, Any]) -> dict[str, Any]:
    judged = report["accuracy"] or {}
    named = {name: judged.get(name) for name in ("judge", "judge_hash")}
    return {"data": report["data"]["sha256"], **named}


def _counts(cell: Mapping[str, Any]) -> tuple[int, int]:
    return round((cell["value"] or 0.0) * cell["n"]), cell["n"]


def _report(path: Path) -> Any:
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        report["accuracy"], report["data"]["sha256"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{OPTION} {path}: not a report.json ({error})") from error
    return report


# XML 1.0 cannot hold these characters, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(path: Path, run: ComparedRun, gates: Sequence[GateResult] = ()) -> None:
    """Write the JUnit file anew; raises `UsageError` where it cannot be written."""
    with raising(UsageError, f"--junit {path}: cannot be written"):
        path.write_text(junit_xml(run, gates), encoding="utf-8")


def junit_xml(run: ComparedRun, gates: Sequence[GateResult] = ()) -> str:
    """The run as JUnit XML: a wrong answer is a failure, a missing answer an error, an unscored one
    skipped, and a gate that does not hold is a failure.
    """
    suite = ElementTree.Element("testsuite", name=_plain(run.report["dataset"]))
    outcomes = [_case(suite, question, run.lines) for question in run.lines.questions]
    outcomes += [_gate(suite, gate) for gate in gates]
    counts = {"failures": "no", "errors": "missing", "skipped": "unscored"}
    suite.set("tests", str(len(outcomes)))
    for name, outcome in counts.items():
        suite.set(name, str(outcomes.count(outcome)))
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _case(suite: ElementTree.Element, question: QuestionDigest, lines: RunLines) -> str:
    key = question.question_id
    hypothesis, verdict = lines.hypotheses.get(key), lines.verdicts.get(key)
    failure = lines.failures.get(key)
    seconds = ((hypothesis and hypothesis.get("answer_ms")) or 0.0) / 1000
    case = ElementTree.SubElement(
        suite,
        "testcase",
        classname=_plain(question.question_type),
        name=_plain(f"{key}: {question.question}"),
        time=f"{seconds:.3f}",
    )
    outcome = outcome_of(question, lines)
    raw = str(verdict["raw"]) if verdict else "not judged"
    if outcome == "no" and hypothesis:
        said = f"reference: {question.answer}\nhypothesis: {hypothesis['hypothesis']}\njudge: {raw}"
        _add(case, "failure", f"expected {question.answer}", said)
    elif outcome == "missing":
        _add(case, "error", "no answer", failure["message"] if failure else "never asked")
    elif outcome == "unscored":
        _add(case, "skipped", "unscored", raw)
    return outcome


def _gate(suite: ElementTree.Element, gate: GateResult) -> str:
    case = ElementTree.SubElement(suite, "testcase", classname="gate", name=_plain(gate.name))
    if not gate.passed:
        _add(case, "failure", gate.said, str(gate))
    return "yes" if gate.passed else "no"


def _add(case: ElementTree.Element, kind: str, message: str, text: str) -> None:
    ElementTree.SubElement(case, kind, message=_plain(message)).text = _plain(text)


def _plain(text: str) -> str:
    return _FORBIDDEN.sub("�", text)


@dataclass(frozen=True, slots=True)
class Gates:
    """The thresholds and the base of a run, and the path of its JUnit file."""

    thresholds: Sequence[Threshold] = ()
    base: Path | None = None
    junit: Path | None = None

    @classmethod
    def of(cls, fail_under: Sequence[str], base: Path | None, junit: Path | None) -> Self:
        """Read the options; raises `UsageError` for values that could not be checked later."""
        if base is not None:
            require_base(base)
        return cls([parse_threshold(text) for text in fail_under], base, junit)

    def check(self, path: Path) -> list[GateResult]:
        """Check the run in `path` against every gate, and write its JUnit file."""
        if not (self.thresholds or self.base or self.junit):
            return []
        run = load_run(path)
        results = [threshold.check(run.report) for threshold in self.thresholds]
        if self.base is not None:
            results += check_regression(path, self.base)
        if self.junit is not None:
            write_junit(self.junit, run, results)
        return results
