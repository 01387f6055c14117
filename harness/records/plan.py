"""A plan: what a run or a comparison is to show, written down before there is one. Whoever reads a
result later can see whether it is what was looked for.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypedDict, get_args

from harness.errors import UsageError, raising
from harness.records.schema import FiltersRecord, GoldRecord

FORMAT = 1
PLAN = "plan.json"

RunTest = Literal["value", "interval"]
ComparisonTest = Literal["difference", "bootstrap", "mcnemar"]
RUN_TESTS: tuple[str, ...] = get_args(RunTest)
COMPARISON_TESTS: tuple[str, ...] = get_args(ComparisonTest)


class PlannedData(TypedDict):
    name: str
    sha256: str
    gold: GoldRecord | None


class Plan(TypedDict):
    """`set_up` are settings that the run must have, by their dotted names in its manifest, and
    `base` those of the run that it is compared with. `plan_id` stays when a plan is edited.
    """

    format: int
    plan_id: str
    written_at: str
    hypothesis: str
    dataset: PlannedData
    filters: FiltersRecord
    n: int
    metric: str
    test: RunTest | ComparisonTest
    threshold: float
    set_up: dict[str, str]
    base: dict[str, str]


@dataclass(frozen=True, slots=True)
class KeptPlan:
    """A plan with the hash of the file that it stands in."""

    plan: Plan
    sha256: str
    text: str


def read_plan(path: Path) -> KeptPlan:
    """The plan in a file; raises `UsageError` where there is none."""
    with raising(UsageError, f"{path}: cannot be read"):
        content = path.read_bytes()
    try:
        text = content.decode()
        plan = json.loads(text)
    except ValueError as error:
        raise UsageError(f"{path}: not a plan ({error})") from error
    if not _is_plan(plan):
        raise UsageError(f"{path}: not a plan: harness plan writes one")
    return KeptPlan(plan, hashlib.sha256(content).hexdigest(), text)


def _is_plan(plan: Any) -> bool:
    return (
        isinstance(plan, dict)
        and plan.keys() >= Plan.__annotations__.keys()
        and plan["format"] == FORMAT
        and plan["test"] in (*RUN_TESTS, *COMPARISON_TESTS)
    )


def write_plan(path: Path, plan: Plan) -> None:
    """Write a new plan; raises `UsageError` where a file exists: plans are never overwritten."""
    text = json.dumps(plan, ensure_ascii=True, indent=2) + "\n"
    with raising(UsageError, f"--out {path}: cannot be written"):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x") as file:
            file.write(text)
