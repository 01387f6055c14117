"""`python -m benchmarks.rates [--release NAME]`: how often memory is wrong, release by release.

Counts on the sets in this repository that nothing was made with, adds them to `rates.jsonl`, and
writes the page of all releases, `docs/rates.md`.
"""

import argparse
import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console

from assistant import __version__
from benchmarks.authorship.__main__ import cases, is_replaced_by_rules
from benchmarks.plain.chats import HELD_OUT, HitCounts, put_all

HISTORY = Path(__file__).parent / "rates.jsonl"
PAGE = Path(__file__).parents[1] / "docs" / "rates.md"
_PASTED = ("held", "fresh", "others")

RATES: Mapping[str, str] = {
    "false denial": "The user had told it, and the answer begins by saying that it never came up.",
    "missed update": "The answer quotes the older of two values first.",
    "unmarked update": "The older of two values is not marked as replaced.",
    "false overwrite": "A statement that holds is marked as replaced by another of the user's.",
    "false overwrite, pasted": "A statement of the user's is replaced by another's words in a "
    "text that the user pasted.",
    "false merge": "Two statements are taken for one.",
    "lost": "A message that tells something is not kept.",
}
"""The counted rates, and for each what counts as wrong."""


@dataclass(frozen=True, slots=True)
class Release:
    """The rates of one release: for each, the number of wrong cases and of all cases."""

    name: str
    day: str
    rates: Mapping[str, Sequence[int]]


def released(name: str, day: str, counts: HitCounts) -> Release:
    """The rates of a release, from the counts of plain messages and from the pasted texts."""
    pasted = [case for part in _PASTED for case in cases(f"pasted_{part}")]
    wrong = {
        "false denial": counts.of["told and denied"],
        "missed update": counts.of["changed: old first"],
        "unmarked update": [not right for right in counts.of["changed: old is marked"]],
        "false overwrite": [not right for right in counts.of["told, holds"]],
        "false overwrite, pasted": list(map(is_replaced_by_rules, pasted)),
        "false merge": [not right for right in counts.of["told, one of its kind"]],
        "lost": [not right for right in counts.of["told, kept"]],
    }
    return Release(name, day, {rate: (sum(each), len(each)) for rate, each in wrong.items()})


def history(lines: Iterable[str]) -> list[Release]:
    """The releases of a file, oldest first."""
    return [Release(**json.loads(line)) for line in lines]


def page(releases: Sequence[Release]) -> str:
    """The page of all releases, newest first."""
    heads = ["release", *RATES]
    rows = [[f"{one.name}, {one.day}", *(_rate(one, rate) for rate in RATES)] for one in releases]
    lines = [
        "# How often it is wrong",
        "",
        "Messages as people type them, of three people whom nothing was made with, told and asked",
        "about over the API without a language model; and texts that users paste. Wrong, of how",
        "many:",
        "",
        *(f"| {' | '.join(row)} |" for row in (heads, ["---"] * len(heads), *reversed(rows))),
        "",
        *(f"- **{rate}**: {what}" for rate, what in RATES.items()),
        "",
        "Few cases: of 0 wrong among 210, the true rate may be up to 1.7 % (95 %). A dash: not",
        "counted for that release. `python -m benchmarks.rates --release NAME --day DAY` counts,",
        "and writes this page.",
    ]
    return "\n".join(lines) + "\n"


def _rate(release: Release, rate: str) -> str:
    wrong, of = release.rates.get(rate, (0, 0))
    return f"{wrong} of {of}" if of else "–"


def main() -> None:
    """Count, add the release, and write the page."""
    parser = argparse.ArgumentParser(prog="benchmarks.rates", description=__doc__)
    parser.add_argument("--release", default=__version__, help="its name; default: the version")
    parser.add_argument("--day", required=True, help="when it was made, as YYYY-MM-DD")
    arguments = parser.parse_args()
    counts = asyncio.run(put_all(HELD_OUT))
    now = released(arguments.release, arguments.day, counts)
    others = [
        one for one in history(HISTORY.read_text("utf-8").splitlines()) if one.name != now.name
    ]
    every = sorted([*others, now], key=lambda one: one.day)
    lines = (json.dumps(asdict(one), ensure_ascii=False) for one in every)
    HISTORY.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    PAGE.write_text(page(every), encoding="utf-8")
    Console().print(f"{PAGE} has {len(every)} releases")


if __name__ == "__main__":
    main()
