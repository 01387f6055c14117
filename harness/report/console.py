"""Tables on a terminal."""

from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from harness.report.table import Table
from harness.report.tables import report_tables


def print_report(console: Console, report: Mapping[str, Any]) -> None:
    """Print a run's tables."""
    print_tables(console, report_tables(report))


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
            # A metric's name may hold brackets, which are no markup.
            shown.add_row(*map(escape, row))
        console.print(shown)
        if table.note:
            console.print(table.note, style="dim", highlight=False, markup=False)
