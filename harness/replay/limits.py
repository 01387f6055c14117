"""When a run is not worth going on with."""

from collections import Counter

from harness.errors import TooManyErrors

# Fewer questions say too little about the rest.
ENOUGH = 10


class ErrorRate:
    """Stops a run when a larger share of its questions than `limit` failed in this command."""

    def __init__(self, limit: float | None) -> None:
        self._limit = limit
        self._ended = 0
        self._problems: Counter[str] = Counter()

    def ended(self, problem: str | None) -> None:
        """A question ended, with a problem or well; `TooManyErrors` if that was one too many."""
        self._ended += 1
        if problem is not None:
            self._problems[problem] += 1
        failed = self._problems.total()
        if self._limit is None or self._ended < ENOUGH or failed <= self._limit * self._ended:
            return
        reason, times = self._problems.most_common(1)[0]
        raise TooManyErrors(
            f"stopped: {failed} of {self._ended} questions failed, more than --max-error-rate "
            f"{self._limit:g} allows. Most often ({times} times): {reason}. Nothing finished is "
            "lost: the same command continues, --retry-errors tries the failed ones alone."
        )
