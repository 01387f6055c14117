"""The order of a history: how much of its fillers comes before each evidence session."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.compilation.draws import Draws
from harness.compilation.pool import Filler, PlacedSession


@dataclass(frozen=True, slots=True)
class Arranged:
    """`gaps[i]` are the fillers before the evidence session `evidence[i]`, the last gap those after
    all of them.
    """

    evidence: list[PlacedSession]
    gaps: list[list[Filler]]

    def in_order(self) -> list[Filler | PlacedSession]:
        """All sessions as they follow each other."""
        order: list[Filler | PlacedSession] = []
        for number, gap in enumerate(self.gaps):
            order += [*gap, *self.evidence[number : number + 1]]
        return order


def arrange(
    evidence: Sequence[PlacedSession], fillers: Sequence[Filler], depth: float | None, draws: Draws
) -> Arranged:
    """Evidence by date, at this depth or, without one, each at a depth drawn for it.

    A depth is a share of the fillers' characters; a filler stands where its middle is.
    """
    ordered = sorted(evidence, key=lambda session: session.date)
    if depth is None:
        depths = sorted(draws.share("depth", session.content.key) for session in ordered)
    else:
        depths = [depth] * len(ordered)
    gaps: list[list[Filler]] = [[] for _ in range(len(ordered) + 1)]
    total = sum(filler.content.characters for filler in fillers) or 1
    passed = 0
    for filler in draws.order(fillers, "place"):
        size = filler.content.characters
        middle = (passed + size / 2) / total
        gaps[sum(one <= middle for one in depths)].append(filler)
        passed += size
    return Arranged(ordered, gaps)
