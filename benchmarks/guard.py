"""`python -m benchmarks.guard [--record] [--runs N] [--twice]`: has anything become slower?

Measures a set of ratios (`ratios.py`) in some three minutes of two cores, and compares them
with those in `ratios.json`. Ends with 1 if one has fallen by more than 15 %, or could not be
measured, or was never recorded. Of several runs the middle value counts. Run by hand before a
release; record five runs of a quiet machine.
"""

import argparse
import json
import os
import platform
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from benchmarks import ratios
from benchmarks.processes import in_own_process
from benchmarks.ratios import Ratio

FILE = Path(__file__).parent / "ratios.json"
_KEPT = 0.85  # of a recorded ratio


@dataclass(frozen=True, slots=True)
class RatioRecord:
    """The ratios of a commit, and where they were measured."""

    commit: str
    day: str
    machine: str
    ratios: Mapping[str, float]


def verdicts(recorded: Mapping[str, float], measured: Sequence[Ratio]) -> dict[str, str]:
    """The verdict on each ratio: `held`, `worse`, `not measured` or `not recorded`."""
    values = {ratio.what: ratio.value for ratio in measured}
    return {what: _verdict(recorded.get(what), values.get(what)) for what in {**recorded, **values}}


def _verdict(before: float | None, now: float | None) -> str:
    if before is None:
        return "not recorded"
    if now is None:
        return "not measured"
    return "held" if now >= _KEPT * before else "worse"


def middle(runs: Sequence[Sequence[Ratio]]) -> list[Ratio]:
    """The median of each ratio that every run measured, and the widest range of its pairs."""
    of_each = defaultdict[str, list[Ratio]](list)
    for ratio in chain(*runs):
        of_each[ratio.what].append(ratio)
    return [
        Ratio(
            what,
            median(ratio.value for ratio in found),
            min(ratio.low for ratio in found),
            max(ratio.high for ratio in found),
        )
        for what, found in of_each.items()
        if len(found) == len(runs)
    ]


def read(file: Path) -> RatioRecord:
    """The recorded ratios; an empty record where there is no file."""
    if not file.exists():
        return RatioRecord("", "", "", {})
    return RatioRecord(**json.loads(file.read_text("utf-8")))


def record(file: Path, before: RatioRecord, measured: Sequence[Ratio], where: RatioRecord) -> None:
    """Write these ratios in place of the earlier record; raises `ValueError` if one of its ratios
    was not measured."""
    values = {ratio.what: round(ratio.value, 3) for ratio in measured}
    if missing := sorted(set(before.ratios) - set(values)):
        raise ValueError(f"not measured: {'; '.join(missing)}")
    kept = asdict(where) | {"ratios": values}
    file.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")


def here() -> RatioRecord:
    """A record of this commit, day and machine, without ratios."""
    git = ["git", "-C", str(FILE.parent), "describe", "--always", "--dirty", "--exclude=*"]
    commit = subprocess.run(git, capture_output=True, text=True).stdout.strip()
    information = Path("/proc/cpuinfo")
    found = re.search(
        r"model name\s*: (.+)", information.read_text() if information.exists() else ""
    )
    processor = found[1] if found else platform.machine()
    machine = f"{os.cpu_count()} x {processor}"
    return RatioRecord(commit, datetime.now(UTC).date().isoformat(), machine, {})


def main() -> None:
    """Measure, and compare or record."""
    parser = argparse.ArgumentParser(prog="benchmarks.guard", description=__doc__)
    parser.add_argument("--record", action="store_true", help=f"write {FILE.name} anew")
    parser.add_argument("--runs", type=int, default=1, metavar="N")
    parser.add_argument(
        "--twice", action="store_true", help="do ours twice each time, which must fail"
    )
    arguments = parser.parse_args()
    # Threads of numpy and torch that wait for each other use more time on a busy machine.
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    times = 2 if arguments.twice else 1
    measured = middle([in_own_process(ratios.measure, times) for _ in range(arguments.runs)])
    before, where, console = read(FILE), here(), Console()
    found = verdicts(before.ratios, measured)
    console.print(_table(before, measured, found))
    if arguments.record:
        try:
            record(FILE, before, measured, where)
        except ValueError as error:
            sys.exit(f"nothing is recorded: {error}")
        return
    if before.machine != where.machine:
        console.print(f"recorded on another machine: {before.machine}; this is {where.machine}")
    if failed := [f"{what}: {verdict}" for what, verdict in found.items() if verdict != "held"]:
        sys.exit("\n".join(failed))


def _table(before: RatioRecord, measured: Sequence[Ratio], found: Mapping[str, str]) -> Table:
    table = Table("how many times faster", f"at {before.commit or '-'}", "now", "half of pairs", "")
    now = {ratio.what: ratio for ratio in measured}
    for what, verdict in found.items():
        recorded = f"{before.ratios[what]:.2f}" if what in before.ratios else ""
        ratio = now.get(what)
        figures = (
            (f"{ratio.value:.2f}", f"{ratio.low:.2f} to {ratio.high:.2f}") if ratio else ("",) * 2
        )
        table.add_row(what, recorded, *figures, verdict)
    return table


if __name__ == "__main__":
    main()
