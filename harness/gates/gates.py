"""All gates of one command, read before it starts and checked when it is done; a JUnit file of
them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from xml.etree import ElementTree

from harness.comparison.runs import ComparedRun, load_run
from harness.errors import UsageError
from harness.gates.regression import check_regression, require_base
from harness.gates.thresholds import GateResult, Threshold, parse_threshold
from harness.records.digest import QuestionDigest
from harness.records.lines import RunLines, outcome_of

# What XML 1.0 cannot hold, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(path: Path, run: ComparedRun, gates: Sequence[GateResult] = ()) -> None:
    """Replace the file; raises `UsageError` where that is not possible."""
    try:
        path.write_text(junit_xml(run, gates), encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"--junit {path}: cannot be written ({error.strerror or error})"
        ) from error


def junit_xml(run: ComparedRun, gates: Sequence[GateResult] = ()) -> str:
    """A wrong answer is a failure, a missing one an error, an unscored one skipped; a gate that
    does not hold is a failure, too.
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
    """What a run is held against, and where its JUnit file goes."""

    thresholds: Sequence[Threshold] = ()
    base: Path | None = None
    junit: Path | None = None

    @classmethod
    def of(cls, fail_under: Sequence[str], base: Path | None, junit: Path | None) -> Self:
        """Read the options; raises `UsageError` for what cannot be checked later."""
        if base is not None:
            require_base(base)
        return cls([parse_threshold(text) for text in fail_under], base, junit)

    def check(self, path: Path) -> list[GateResult]:
        """Hold the run in `path` against every gate, and write its JUnit file."""
        if not (self.thresholds or self.base or self.junit):
            return []
        run = load_run(path)
        results = [threshold.check(run.report) for threshold in self.thresholds]
        if self.base is not None:
            results += check_regression(path, self.base)
        if self.junit is not None:
            write_junit(self.junit, run, results)
        return results
