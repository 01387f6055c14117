"""How accurate a run looks while it goes on: by the lexical judge, whatever judge comes after."""

from harness.judges.lexical.judge import decide, shipped_weights
from harness.runs.digest import QuestionDigest


class RunningAccuracy:
    """Right and wrong answers so far; a mere indication that is written nowhere."""

    def __init__(self) -> None:
        self._weights = shipped_weights()
        self._right = 0
        self._judged = 0

    def answered(self, question: QuestionDigest, hypothesis: str) -> None:
        """Count an answer."""
        self._judged += 1
        self._right += decide(question, hypothesis, self._weights).passed

    def __str__(self) -> str:
        return f"{100 * self._right / self._judged:.0f} % right" if self._judged else ""
