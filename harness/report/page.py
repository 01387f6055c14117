"""The frame of every HTML page: one file that asks nothing of any server. Tables and facts."""

from collections.abc import Mapping
from html import escape
from importlib import resources

from harness.report.table import Table

# Whatever a text smuggles in, the page loads and sends nothing.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def html_page(title: str, body: str, *, script: str = "") -> str:
    """A whole document; `body` is HTML, the script is inline and must not be needed to read it."""
    scripted = f"<script>\n{script}</script>\n" if script else ""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<style>
{asset("report.css")}</style>
</head>
<body>
<main>
{body}
</main>
{scripted}</body>
</html>
"""


def asset(name: str) -> str:
    """A file that lies beside this module."""
    return (resources.files("harness.report") / name).read_text(encoding="utf-8")


def html_header(title: str, facts: Mapping[str, str]) -> str:
    """The page's title over a list of named facts."""
    items = (f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in facts.items())
    return f"<header>\n<h1>{escape(title)}</h1>\n<dl>{''.join(items)}</dl>\n</header>"


def html_table(table: Table) -> str:
    """A table as a section with its title and note."""
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in table.header)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows
    )
    note = f"<p>{escape(table.note)}</p>" if table.note else ""
    words = ' class="words"' if table.in_words else ""
    # A table that is wider than the screen can be scrolled from the keyboard.
    frame = f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(table.title)}">'
    return (
        f"<section><h2>{escape(table.title)}</h2>{frame}<table{words}><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>{note}</section>"
    )
