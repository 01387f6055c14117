"""Tables on a terminal and in Markdown."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from harness.report.schema import Report
from harness.report.table import Table
from harness.report.tables import report_tables


def print_report(console: Console, report: Report) -> None:
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


def render_markdown(report: Report, failures: Mapping[str, Mapping[str, Any]]) -> str:
    """A page with every table, its note, and the questions that failed."""
    data = report["data"]
    facts = (
        f"{report['n']} of {data['questions']} questions, "
        f"{report['missing']} without a hypothesis. Data SHA-256 `{data['sha256']}`."
    )
    page = markdown_page(f"Benchmark report: {report['dataset']}", [facts], report_tables(report))
    if failures:
        lines = [f"- `{key}`: {_inline(line['message'])}" for key, line in failures.items()]
        page += "\n## Failed questions\n\n" + "\n".join(lines) + "\n"
    return page


def markdown_page(title: str, paragraphs: Sequence[str], tables: Sequence[Table]) -> str:
    """A titled page: paragraphs, then tables."""
    parts = [f"# {title}", *paragraphs, *(_table(table) for table in tables)]
    return "\n\n".join(parts) + "\n"


def _table(table: Table) -> str:
    side = "---" if table.in_words else "---:"
    lines = [_line(table.header), _line(("---", *(side for _ in table.header[1:])))]
    lines += [_line(row) for row in table.rows]
    note = f"\n\n{table.note}" if table.note else ""
    return f"## {table.title}\n\n" + "\n".join(lines) + note


def _line(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(_inline(cell) for cell in cells) + " |"


def _inline(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
