"""Which charts a report shows."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.metrics.retrieval_metrics import CUT_OFFS
from harness.report.accuracy_tables import CONTROL_NAMES
from harness.report.charts import (
    Curve,
    Mark,
    curve_chart,
    figure,
    interval_chart,
    span_chart,
)
from harness.report.schema import Report
from harness.report.table import number, percent

_STEPS = {"ingest_round_ms": "store a round", "search_ms": "search", "answer_ms": "answer"}


def charts(report: Report) -> list[str]:
    """Every chart this report has numbers for."""
    return [*_accuracy(report["accuracy"]), *_retrieval(report["retrieval"]), *_latency(report)]


def shares(cells: Iterable[tuple[str, Mapping[str, Any]]]) -> str:
    """A chart of the cells that have a value; bounds by conversation where those are known."""
    return interval_chart([_mark(name, cell) for name, cell in cells if cell["n"]])


def bounds_of(cell: Mapping[str, Any]) -> tuple[float, float]:
    """The interval to show: by conversation where questions share conversations, else Wilson's."""
    clustered = cell.get("clustered") or {}
    if clustered.get("low") is not None:
        return clustered["low"], clustered["high"]
    return cell["low"], cell["high"]


def _accuracy(accuracy: Mapping[str, Any] | None) -> Iterator[str]:
    if not accuracy:
        return
    by_type = [("overall", accuracy["overall"]), *accuracy["by_type"].items()]
    yield figure("Accuracy by question type, %", shares(by_type))
    if accuracy["by_ability"]:
        yield figure("Accuracy by ability, %", shares(accuracy["by_ability"].items()))
    if accuracy["by_prompt_tokens"]:
        cells = [
            (f"{group['low_tokens']:,}–{group['high_tokens']:,}", group["accuracy"])
            for group in accuracy["by_prompt_tokens"]
        ]
        note = "Questions in groups of about equal number, by the tokens of their prompt."
        yield figure("Accuracy against context tokens, %", shares(cells), note)
    if accuracy["controls"]:
        cells = [(CONTROL_NAMES[kind], cell) for kind, cell in accuracy["controls"].items()]
        note = "Made-up answers. Only the reference itself should pass."
        yield figure("What the judge lets pass, %", shares(cells), note)


def _retrieval(retrieval: Mapping[str, Any] | None) -> Iterator[str]:
    if not retrieval or not retrieval["session"]:
        return
    named = [
        ("session, all evidence", "session", "recall_all@{k}"),
        ("session, any evidence", "session", "recall_any@{k}"),
        ("round, all evidence", "round", "recall_all@{k}"),
        ("session NDCG", "session", "ndcg@{k}[standard]"),
    ]
    curves = [_by_k(label, retrieval[level], pattern) for label, level, pattern in named]
    shown = [curve for curve in curves if curve.values]
    yield figure("Retrieval by k, %", curve_chart(shown, x_label="first k of the ranking"))
    held = [
        (float(budget), cell["value"])
        for budget, cell in retrieval["evidence_by_budget"].items()
        if cell["value"] is not None
    ]
    if not held:
        return
    chart = curve_chart([Curve("all evidence sessions", held)], x_label="tokens of best rounds")
    yield figure("Evidence against context tokens, %", chart)


def _by_k(label: str, figures: Mapping[str, Any], pattern: str) -> Curve:
    names = {k: pattern.format(k=k) for k in CUT_OFFS}
    return Curve(
        label, [(k, figures[name]["value"]) for k, name in names.items() if name in figures]
    )


def _latency(report: Report) -> Iterator[str]:
    marks = [
        Mark(
            _STEPS.get(name, name),
            cell["p50"] or 0.0,
            0.0,
            cell["p95"] or 0.0,
            f"{number(cell['p50'])} (p95 {number(cell['p95'])})",
        )
        for name, cell in report["latency"].items()
        if cell["n"]
    ]
    if marks:
        yield figure("Latency, ms", span_chart(marks), "Median, and the 95th percentile behind it.")


def _mark(label: str, cell: Mapping[str, Any]) -> Mark:
    low, high = bounds_of(cell)
    said = f"{percent(cell['value'])} ({percent(low)}–{percent(high)}), n = {cell['n']}"
    return Mark(label, cell["value"], low, high, said)
