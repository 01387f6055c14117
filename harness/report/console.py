"""The report's tables on a terminal."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable

from harness.report.tables import report_tables


def print_report(console: Console, report: Mapping[str, Any]) -> None:
    """Print the tables with their notes; details are left to the files."""
    for table in report_tables(report):
        if table.is_detail:
            continue
        shown = RichTable(title=table.title, title_justify="left", title_style="bold")
        for i, name in enumerate(table.header):
            shown.add_column(name, justify="right" if i else "left", no_wrap=True)
        for row in table.rows:
            shown.add_row(*row)
        console.print(shown)
        if table.note:
            console.print(table.note, style="dim", highlight=False)
