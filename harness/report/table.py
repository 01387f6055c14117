"""One table of a report, and how its numbers are printed."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    """A titled table with what its numbers mean; a detail is for the files, not the terminal.

    `in_words`: its cells are sentences, read from the left, and no figures.
    """

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]] = ()
    note: str = ""
    is_detail: bool = False
    in_words: bool = False


def percent(value: float | None) -> str:
    """A share as a percentage with one decimal."""
    return "–" if value is None else f"{100 * value:.1f}"


def points(value: float | None) -> str:
    """A difference of two shares in percentage points, with its sign."""
    return "–" if value is None else f"{100 * value:+.1f}".replace("-", "−")


def p_value(value: float | None) -> str:
    """A p-value with as many digits as anyone should read."""
    if value is None:
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def number(value: float | None) -> str:
    """A count or a measurement."""
    if value is None:
        return "–"
    if isinstance(value, int):
        return str(value)
    return f"{value:.1f}" if value < 1000 else f"{value:.0f}"
