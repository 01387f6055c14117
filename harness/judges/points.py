"""What a rubric's points add up to: both scorers of BEAM, and the order of events.

Each point is worth 0, 0.5 or 1. The fractional score is their mean; the released script counts
whole points only, so that a half is nothing. An order of events is Kendall's tau-b times F1; the
released report prints tau-b alone, as those say who ported it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from harness.judges.base import Decision
from harness.statistics.agreement import kendall_tau_b

WORTHS = (0.0, 0.5, 1.0)
# The least fractional score of a yes.
PASSES = 0.5


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of one answer, 0 to 1, with what they were made of."""

    fractional: float
    official: float
    details: dict[str, Any]

    @property
    def verdict(self) -> Decision:
        """Yes for half of what there is to get, by the fractional score."""
        return "yes" if self.fractional >= PASSES else "no"

    def to_json(self) -> dict[str, Any]:
        """The field of a verdict's line."""
        rounded = {"fractional": round(self.fractional, 4), "official": round(self.official, 4)}
        return {"rubric": rounded | self.details}


def scores_of_points(points: Sequence[float]) -> Scores:
    """Both means of the points of one rubric."""
    fractional = fmean(points)
    official = fmean(int(point) for point in points)
    return Scores(fractional, official, {"points": list(points)})


def scores_of_order(said: Sequence[int], expected: int) -> Scores:
    """How well an answer orders events: Kendall's tau-b, brought to [0, 1], times F1; officially
    without F1.

    `said` are the answer's events in its order, each the number (from 1) of one of the `expected`
    events, or 0 for another one. An event told again counts once, where it is told first. F1 is
    that of the answer's events and the expected ones. Tau compares the ranks of all events of
    either list; those that one list lacks share its last rank. An answer without events has 0.
    """
    told = [number for i, number in enumerate(said) if not number or number not in said[:i]]
    shared = sum(number > 0 for number in told)
    f1 = 2 * shared / (len(told) + expected)
    order = (_tau(told, expected) + 1) / 2 if told else 0.0
    details = {"order": list(said), "expected": expected, "tau": round(order, 4)}
    return Scores(order * f1, order, details | {"f1": round(f1, 4)})


def _tau(told: Sequence[int], expected: int) -> float:
    """Tau-b over the union of both lists; 1 for a single event."""
    others = sum(not number for number in told)
    last = expected + others + 1
    wanted = [*range(1, expected + 1), *([last] * others)]
    places = {number: place for place, number in enumerate(told, start=1) if number}
    strange = [place for place, number in enumerate(told, start=1) if not number]
    found = [*(places.get(number, last) for number in range(1, expected + 1)), *strange]
    tau = kendall_tau_b(wanted, found)
    return 1.0 if tau is None else tau
