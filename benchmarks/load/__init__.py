"""Many chats at once: the time that the assistant adds to a first token, its memory, its start."""

from benchmarks.load.measure import measure, measure_start
from benchmarks.load.soak import measure_soak

__all__ = ["measure", "measure_soak", "measure_start"]
