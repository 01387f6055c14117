"""`--fail-on-regression BASE`: a run must not be worse than an earlier one, neither in its answers
nor in what it finds.

Worse means: one-sided p below 0.05 for one of the figures, each tested alone. Where the base is a
run directory, over the questions of both runs: by the exact McNemar test for figures that are yes
or no for each question, else by the sign-flip permutation test. Where only its report is left, by
Fisher's exact test of the two shares.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.comparison.build import common_questions
from harness.comparison.compatibility import require_comparable
from harness.comparison.figures import question_figures
from harness.comparison.paired import paired_accuracy
from harness.comparison.runs import ComparedRun, load_run, load_runs
from harness.errors import RunMismatch, UsageError
from harness.gates.result import GateResult
from harness.gates.thresholds import cell_of
from harness.report.table import p_value, percent
from harness.runs.digest import QuestionDigest
from harness.runs.run_dir import MANIFEST
from harness.statistics.intervals import ALPHA
from harness.statistics.pairs import Pairs, mcnemar_worse, signs_worse, unpaired_worse

OPTION = "--fail-on-regression"
BINARY = ("recall_all@5", "recall_all@10")
FRACTIONS = ("round.recall_fraction@10", "turn.recall_fraction@10")


def check_regression(path: Path, base: Path) -> list[GateResult]:
    """Hold the run in `path` against a base; raises for a base it cannot be compared with."""
    if base.is_dir() or (base.parent / MANIFEST).exists():
        results = _against_run(path, base if base.is_dir() else base.parent)
    else:
        results = _against_report(load_run(path), _report(base), base)
    found = list(results)
    if not found:
        raise UsageError(f"{OPTION} {base}: neither answers that were judged nor rankings in it")
    return found


def require_base(base: Path) -> None:
    """Refuse a base that is neither a run nor a report, before anything is run."""
    if not (base / MANIFEST).exists() and not base.is_file():
        raise UsageError(f"{OPTION} {base}: neither a run directory nor a report.json")


def _against_run(path: Path, base: Path) -> Iterator[GateResult]:
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
) -> GateResult:
    accuracy = paired_accuracy(first, second, questions)
    pairs = Pairs(**accuracy["pairs"])
    shares = accuracy["second"]["value"], accuracy["first"]["value"]
    return _judged("accuracy", mcnemar_worse(pairs), _lost("accuracy", shares, first.name, pairs))


def _retrieval(
    first: ComparedRun, second: ComparedRun, questions: Sequence[QuestionDigest]
) -> Iterator[GateResult]:
    """Every figure that the base has; one that is missing now does not pass."""
    before, after = question_figures(first), question_figures(second)
    for name in (*BINARY, *FRACTIONS):
        known = [q.question_id for q in questions if q.question_id in before.get(name, {})]
        if not known:
            continue
        shared = [key for key in known if key in after.get(name, {})]
        if len(shared) < len(known):
            lost = f"{name}: {len(known) - len(shared)} of {len(known)} questions of {first.name} "
            yield GateResult(f"{OPTION} {name}", False, lost + "have no ranking in this run")
            continue
        was, now = ([run[name][key] for key in shared] for run in (before, after))
        yield _figure(name, was, now, first.name)


def _figure(name: str, was: Sequence[float], now: Sequence[float], base: str) -> GateResult:
    n = len(was)
    shares = sum(now) / n, sum(was) / n
    if name in BINARY:
        pairs = Pairs.of([value == 1 for value in was], [value == 1 for value in now])
        return _judged(name, mcnemar_worse(pairs), _lost(name, shares, base, pairs))
    changes = [b - a for a, b in zip(was, now, strict=True)]
    said = (
        f"{name} {percent(shares[0])} % against {percent(shares[1])} % of {base} over {n} "
        f"questions, {sum(c < 0 for c in changes)} worse and {sum(c > 0 for c in changes)} better"
    )
    return _judged(name, signs_worse(changes), said)


def _lost(name: str, shares: tuple[float, float], base: str, pairs: Pairs) -> str:
    return (
        f"{name} {percent(shares[0])} % against {percent(shares[1])} % of {base} over {pairs.n} "
        f"questions, {pairs.only_first} lost and {pairs.only_second} gained"
    )


def _against_report(run: ComparedRun, base: Mapping[str, Any], path: Path) -> Iterator[GateResult]:
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
            yield GateResult(f"{OPTION} {name}", False, said)
            continue
        said = (
            f"{name} {percent(after['value'])} % of {after['n']} against "
            f"{percent(before['value'])} % of {before['n']} in {path.name}"
        )
        yield _judged(name, unpaired_worse(_counts(before), _counts(after)), said)


def _meaning(report: Mapping[str, Any]) -> dict[str, Any]:
    judged = report["accuracy"] or {}
    named = {name: judged.get(name) for name in ("judge", "judge_hash")}
    return {"data": report["data"]["sha256"], **named}


def _judged(name: str, p: float, said: str) -> GateResult:
    return GateResult(f"{OPTION} {name}", p >= ALPHA, f"{said}; p of being worse {p_value(p)}")


def _counts(cell: Mapping[str, Any]) -> tuple[int, int]:
    return round((cell["value"] or 0.0) * cell["n"]), cell["n"]


def _report(path: Path) -> Any:
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        report["accuracy"], report["data"]["sha256"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{OPTION} {path}: not a report.json ({error})") from error
    return report
