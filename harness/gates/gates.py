"""All gates of one command, read before it starts and checked when it is done."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from harness.comparison.runs import load_run
from harness.gates.junit import write_junit
from harness.gates.regression import check_regression, require_base
from harness.gates.result import GateResult
from harness.gates.thresholds import Threshold, parse_threshold


@dataclass(frozen=True, slots=True)
class Gates:
    """What a run is held against, and where its JUnit file goes."""

    thresholds: Sequence[Threshold] = ()
    base: Path | None = None
    junit: Path | None = None

    @classmethod
    def of(cls, fail_under: Sequence[str], base: Path | None, junit: Path | None) -> Self:
        """Read the options; raises `UsageError` for what cannot be checked later."""
        if base is not None:
            require_base(base)
        return cls([parse_threshold(text) for text in fail_under], base, junit)

    def check(self, path: Path) -> list[GateResult]:
        """Hold the run in `path` against every gate, and write its JUnit file."""
        if not (self.thresholds or self.base or self.junit):
            return []
        run = load_run(path)
        results = [threshold.check(run.report) for threshold in self.thresholds]
        if self.base is not None:
            results += check_regression(path, self.base)
        if self.junit is not None:
            write_junit(self.junit, run, results)
        return results
