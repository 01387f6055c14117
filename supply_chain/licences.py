"""Write the table of docs/licences.md: `make licences`. A test keeps it in step with the lock."""

import re
from collections.abc import Iterable

from supply_chain.lock import ROOT
from supply_chain.packages import Package, shipped

PAGE = ROOT / "docs/licences.md"
_HEAD = "| package | version | licence | in |\n|---|---|---|---|\n"


def rows(packages: Iterable[Package]) -> list[str]:
    """A line of the table for each package."""
    return [f"| {p.name} | {p.version} | {p.licence} | {', '.join(p.parts)} |" for p in packages]


def main() -> None:
    """Replace the table; the rest of the page is written by hand."""
    lines = "".join(f"{row}\n" for row in rows(shipped()))
    table = re.compile(re.escape(_HEAD) + r"(?:\|.*\n)*")
    PAGE.write_text(table.sub(lambda _: _HEAD + lines, PAGE.read_text()))


if __name__ == "__main__":
    main()
