"""Charts as inline SVG: shares with their intervals, and curves.

Places along a chart are percentages, so that a chart fits any width and its letters keep their
size. Colours are the style sheet's; every chart's numbers also stand in a table of the page.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

_ROW_HEIGHT = 22
_HEIGHT, _TOP, _BOTTOM = 230, 12, 28
_LEFT, _RIGHT = 7.0, 97.0
_GRID = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True)
class Mark:
    """One row of a chart of shares: a value from 0 to 1, its bounds, and what is said beside it."""

    label: str
    value: float
    low: float
    high: float
    said: str


@dataclass(frozen=True, slots=True)
class Curve:
    """One line of a chart: its values by x."""

    label: str
    values: Sequence[tuple[float, float]]


def figure(title: str, chart: str, note: str = "") -> str:
    """A chart under its title."""
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
    """A bar from 0 to each value and a thinner one on to its high bound, all on one scale."""
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
    """Shares from 0 to 1 over x on a logarithmic scale, ticks where there are values."""
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
