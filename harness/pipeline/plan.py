"""A plan made of what a command names: its data are opened, hashed and counted here."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from harness.datasets.registry import open_source
from harness.datasets.selection import QuestionSource, select
from harness.errors import UsageError
from harness.pipeline.run import plain_filters
from harness.records.manifest import now
from harness.records.plan import (
    COMPARISON_TESTS,
    FORMAT,
    RUN_TESTS,
    ComparisonTest,
    Plan,
    RunTest,
)
from harness.report.figures import is_figure


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """What is expected: `metric` passes `test` at `threshold`, in a run with this `set_up`, beside
    one with that of the `base`.
    """

    said: str
    metric: str
    test: str
    threshold: float
    set_up: Mapping[str, str]
    base: Mapping[str, str]


def make_plan(source: QuestionSource, expected: Hypothesis) -> Plan:
    """Raises `UsageError` for a test or figure that there is not."""
    _require_testable(expected)
    dataset = open_source(source)
    chosen = select(dataset.outlines, source.filters)
    return {
        "format": FORMAT,
        "plan_id": uuid.uuid4().hex,
        "written_at": now(),
        "hypothesis": expected.said,
        "dataset": {
            "name": dataset.name,
            "sha256": dataset.fingerprint.sha256(),
            "gold": dataset.gold,
        },
        "filters": plain_filters(source.filters),
        "n": len(chosen),
        "metric": expected.metric,
        "test": cast(RunTest | ComparisonTest, expected.test),
        "threshold": expected.threshold,
        "set_up": dict(expected.set_up),
        "base": dict(expected.base),
    }


def parse_settings(given: Sequence[str], option: str) -> dict[str, str]:
    """`NAME=VALUE`, each a setting by its dotted name in a manifest."""
    settings = {}
    for text in given:
        name, found, value = text.partition("=")
        if not found or not name:
            raise UsageError(f"{option} {text!r}: expected NAME=VALUE, as in mode=native")
        settings[name] = value
    return settings


def _require_testable(expected: Hypothesis) -> None:
    tests = (*RUN_TESTS, *COMPARISON_TESTS)
    if expected.test not in tests:
        raise UsageError(f"--test {expected.test!r}: expected one of {', '.join(tests)}")
    if not is_figure(expected.metric):
        raise UsageError(f"--metric {expected.metric!r}: unknown; see the benchmark's docs")
    if expected.base and expected.test in RUN_TESTS:
        raise UsageError(f"--base: the test {expected.test} compares with no other run")
    lowest = -1 if expected.test in COMPARISON_TESTS else 0
    if not lowest <= expected.threshold <= 1:
        raise UsageError(f"--threshold {expected.threshold:g}: expected a share from {lowest} to 1")
