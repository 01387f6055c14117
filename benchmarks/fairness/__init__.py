"""No request stops other users: hostile and large requests at the limits, and others' waits."""

from benchmarks.fairness.measure import measure

__all__ = ["measure"]
