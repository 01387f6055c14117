"""Many chats at once: what the assistant adds to the first token, its memory, its start."""

from benchmarks.load.measure import measure, measure_soak, measure_start

__all__ = ["measure", "measure_soak", "measure_start"]
