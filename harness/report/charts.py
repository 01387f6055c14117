"""Charts as inline SVG: shares with their intervals, and curves.

Horizontal positions are percentages, so that a chart fits any width and its letters keep their
size. The style sheet sets the colours. Every chart's numbers also stand in a table of the page.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Any

from harness.metrics.retrieval_metrics import CUT_OFFS
from harness.report.accuracy_tables import CONTROL_NAMES
from harness.report.figures import bounds_of
from harness.report.schema import Report
from harness.report.table import number, percent

_ROW_HEIGHT = 22
_HEIGHT, _TOP, _BOTTOM = 230, 12, 28
_LEFT, _RIGHT = 7.0, 97.0
_GRID = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True)
class Mark:
    """One row of a chart: a value from 0 to 1, its bounds, and the text `said` beside it."""

    label: str
    value: float
    low: float
    high: float
    said: str


@dataclass(frozen=True, slots=True)
class Curve:
    label: str
    values: Sequence[tuple[float, float]]


def figure(title: str, chart: str, note: str = "") -> str:
    caption = f"<p>{escape(note)}</p>" if note else ""
    return f'<figure class="card"><h3>{escape(title)}</h3>{chart}{caption}</figure>'


def interval_chart(marks: Sequence[Mark]) -> str:
    """A row for each mark: a dot on the line of its interval, on a scale from 0 to 1."""
    return f'<div class="rows">{"".join(map(_interval_row, marks))}</div>'


def _interval_row(mark: Mark) -> str:
    middle = _ROW_HEIGHT / 2
    grid = "".join(_vertical(f"{100 * x:g}%", 0, _ROW_HEIGHT) for x in _GRID)
    low, high, value = (f"{100 * x:.1f}%" for x in (mark.low, mark.high, mark.value))
    drawn = (
        f'<line class="whisker" x1="{low}" x2="{high}" y1="{middle:g}" y2="{middle:g}"/>'
        f'<circle class="dot" cx="{value}" cy="{middle:g}" r="5"/>'
    )
    return _row(mark.label, grid + drawn, mark.said)


def span_chart(marks: Sequence[Mark]) -> str:
    """A row for each mark: a bar from 0 to the value and a thinner bar to the high bound. All rows
    share one scale."""
    longest = max((mark.high for mark in marks), default=0) or 1
    return f'<div class="rows">{"".join(_span_row(mark, longest) for mark in marks)}</div>'


def _span_row(mark: Mark, longest: float) -> str:
    value, high = (f"{100 * x / longest:.1f}%" for x in (mark.value, mark.high))
    drawn = (
        f'<rect class="beyond" x="0" y="8" width="{high}" height="6"/>'
        f'<rect class="bar" x="0" y="5" width="{value}" height="12"/>'
    )
    return _row(mark.label, drawn, mark.said)


def _row(label: str, drawn: str, said: str) -> str:
    svg = f'<svg role="img" aria-label="{escape(label)}: {escape(said)}" height="{_ROW_HEIGHT}">'
    return (
        f'<div class="row"><span>{escape(label)}</span>{svg}{drawn}</svg>'
        f"<span>{escape(said)}</span></div>"
    )


def curve_chart(curves: Sequence[Curve], *, x_label: str) -> str:
    """Curves of shares from 0 to 1 over x on a logarithmic scale, with a tick at every x value."""
    xs = sorted({x for curve in curves for x, _ in curve.values})
    place = _x_scale(xs)
    grid = "".join(_level(y) for y in _GRID) + "".join(_tick(x, place(x)) for x in xs)
    drawn = "".join(_curve(number, curve, place) for number, curve in enumerate(curves))
    keys = "".join(
        f'<li class="s{number}">{escape(curve.label)}</li>' for number, curve in enumerate(curves)
    )
    names = ", ".join(curve.label for curve in curves)
    return (
        f'<ul class="keys">{keys}</ul><svg role="img" aria-label="{escape(names)}" '
        f'height="{_HEIGHT}">{grid}{drawn}</svg><p class="axis">{escape(x_label)}</p>'
    )


def _x_scale(xs: Sequence[float]) -> Callable[[float], float]:
    first, last = math.log(xs[0]), math.log(xs[-1])
    width = (last - first) or 1.0
    return lambda x: _LEFT + (_RIGHT - _LEFT) * (math.log(x) - first) / width


def _y(value: float) -> float:
    return _TOP + (1 - value) * (_HEIGHT - _TOP - _BOTTOM)


def _level(y: float) -> str:
    at = _y(y)
    return (
        f'<line class="grid" x1="{_LEFT}%" x2="{_RIGHT}%" y1="{at:g}" y2="{at:g}"/>'
        f'<text x="{_LEFT - 1}%" y="{at + 4:g}" text-anchor="end">{100 * y:g}</text>'
    )


def _tick(x: float, place: float) -> str:
    bottom = _HEIGHT - _BOTTOM
    return _vertical(f"{place:.1f}%", _TOP, bottom) + (
        f'<text x="{place:.1f}%" y="{bottom + 18}" text-anchor="middle">{x:,g}</text>'
    )


def _vertical(x: str, top: float, bottom: float) -> str:
    return f'<line class="grid" x1="{x}" x2="{x}" y1="{top:g}" y2="{bottom:g}"/>'


def _curve(number: int, curve: Curve, place: Callable[[float], float]) -> str:
    points = [(f"{place(x):.1f}%", f"{_y(value):.1f}") for x, value in curve.values]
    lines = (
        f'<line class="curve" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>'
        for (x1, y1), (x2, y2) in pairwise(points)
    )
    dots = (
        f'<circle class="point" cx="{x}" cy="{y}" r="3.5"><title>{100 * value:.1f} at {at:,g}'
        "</title></circle>"
        for (x, y), (at, value) in zip(points, curve.values, strict=True)
    )
    return f'<g class="s{number}">{"".join(lines)}{"".join(dots)}</g>'


_STEPS = {"ingest_round_ms": "store a round", "search_ms": "search", "answer_ms": "answer"}


def charts(report: Report) -> list[str]:
    return [*_accuracy(report["accuracy"]), *_retrieval(report["retrieval"]), *_latency(report)]


def shares(cells: Iterable[tuple[str, Mapping[str, Any]]]) -> str:
    """A chart of the cells that have a value; bounds by conversation where those are known."""
    return interval_chart([_mark(name, cell) for name, cell in cells if cell["n"]])


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
