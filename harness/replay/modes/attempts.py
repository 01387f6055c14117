"""How often each history was begun. A user who heard half a history once is never used again: not
every assistant can be told to forget.
"""

from collections import Counter

from harness.records.run_dir import ATTEMPTS, RunDir


class Attempts:
    """Kept in `attempts.jsonl`, written before the first message of each attempt."""

    def __init__(self, run_dir: RunDir) -> None:
        self._run_dir = run_dir
        lines = run_dir.records(ATTEMPTS, "history_id")
        self._begun = Counter(line["history_id"] for line in lines)

    def begin(self, history_id: str) -> None:
        """Begin a history anew."""
        self._begun[history_id] += 1
        line = {"history_id": history_id, "attempt": self._begun[history_id]}
        self._run_dir.append(ATTEMPTS, line)

    def of(self, history_id: str) -> int:
        """The number of the present attempt; the first is 1."""
        return max(1, self._begun[history_id])
