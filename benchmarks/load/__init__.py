"""Many chats at once: what the assistant adds to the first token, its memory, its start."""

from benchmarks.load.measure import measure, measure_start
from benchmarks.load.soak import measure_soak

__all__ = ["measure", "measure_soak", "measure_start"]
