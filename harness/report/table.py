"""One table of a report, the format of its numbers, and its output: terminal, Markdown, HTML page.
A page is one file that loads nothing from any server.
"""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

if TYPE_CHECKING:
    from jinja2 import Environment

_HERE = "harness.report"


@dataclass(frozen=True, slots=True)
class Table:
    """A titled table, with a `note` on what its numbers mean.

    A table that `is_detail` goes into the files, not to the terminal. The cells of a table
    `in_words` are sentences, aligned to the left, and not figures.
    """

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]] = ()
    note: str = ""
    is_detail: bool = False
    in_words: bool = False


Columns = Mapping[str, Callable[[Any], str]]
"""The head of each column, and the function that writes a cell of the column."""


def table_of(title: str, rows: Iterable[Any], columns: Columns, note: str = "") -> Table:
    """A table with a row for each item; the columns' functions write the item's cells."""
    cells = [tuple(written(row) for written in columns.values()) for row in rows]
    return Table(title, tuple(columns), cells, note)


def csv_of(rows: Sequence[Mapping[str, object]], empty: Sequence[str] = ()) -> str:
    """All rows under a header, as CSV; a cell is empty where nothing is known. `empty` is the
    header where there are no rows.
    """
    names = list(dict.fromkeys(name for row in rows for name in row)) or empty
    text = io.StringIO()
    writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"


def points(value: float | None) -> str:
    """A difference of two shares in percentage points, with its sign."""
    return "–" if value is None else f"{100 * value:+.1f}".replace("-", "−")


def bounds(cell: Mapping[str, Any]) -> str:
    """The bounds of a difference in percentage points."""
    if cell["low"] is None:
        return "–"
    return f"{points(cell['low'])} to {points(cell['high'])}"


def p_value(value: float | None) -> str:
    """A p-value with three decimals, or `< 0.001`."""
    if value is None:
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def number(value: float | None) -> str:
    """A count as it is, a measurement with one decimal below 1000 and none above."""
    if value is None:
        return "–"
    if isinstance(value, int):
        return str(value)
    return f"{value:.1f}" if value < 1000 else f"{value:.0f}"


def print_tables(console: Console, tables: Iterable[Table]) -> None:
    """Print tables with their notes; details are left to the files."""
    for table in tables:
        if table.is_detail:
            continue
        shown = RichTable(title=table.title, title_justify="left", title_style="bold")
        for i, name in enumerate(table.header):
            is_figure = bool(i) and not table.in_words
            shown.add_column(name, justify="right" if is_figure else "left", no_wrap=not i)
        for row in table.rows:
            # A metric's name may hold brackets, which rich would read as markup.
            shown.add_row(*map(escape, row))
        console.print(shown)
        if table.note:
            console.print(table.note, style="dim", highlight=False, markup=False)


def markdown_page(title: str, paragraphs: Sequence[str], tables: Sequence[Table]) -> str:
    parts = [f"# {title}", *paragraphs, *(_markdown_table(table) for table in tables)]
    return "\n\n".join(parts) + "\n"


def _markdown_table(table: Table) -> str:
    side = "---" if table.in_words else "---:"
    lines = [
        _markdown_line(table.header),
        _markdown_line(("---", *(side for _ in table.header[1:]))),
    ]
    lines += [_markdown_line(row) for row in table.rows]
    note = f"\n\n{table.note}" if table.note else ""
    return f"## {table.title}\n\n" + "\n".join(lines) + note


def _markdown_line(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(inline(cell) for cell in cells) + " |"


def inline(text: str) -> str:
    """A text that fits a line of a Markdown table."""
    return text.replace("|", "\\|").replace("\n", " ")


def render_page(
    template: str, *, title: str, facts: Mapping[str, str], package: str = _HERE, **values: Any
) -> str:
    """A page of a package's own `templates`, under a title and a list of named facts; every text
    in the values is escaped.
    """
    page = _environment(package).get_template(template)
    return page.render(title=title, facts=facts, **values)


@cache
def _environment(package: str) -> "Environment":
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    loader = ChoiceLoader([PackageLoader(package), PackageLoader(_HERE)])
    made = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals["asset"] = _asset
    return made


def _asset(name: str) -> str:
    """The text of a style sheet or script that lies beside this module."""
    return (resources.files(_HERE) / name).read_text(encoding="utf-8")
