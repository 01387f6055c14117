"""One request stops nobody: hostile and large ones at the documented limits, and who waits."""

from benchmarks.fairness.measure import measure

__all__ = ["measure"]
