"""`assistant config`: the settings in use and where each comes from; `config init`."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assistant.cli import options
from assistant.cli.console import new_console, new_file, one_line, say
from assistant.cli.options import CommandResult, declared, flat

if TYPE_CHECKING:
    from rich.console import Console

    from assistant.settings.listing import SettingInUse

app = typer.Typer()


@app.callback(invoke_without_command=True)
@flat
def config(context: typer.Context, memory: options.MemoryOptions) -> CommandResult | None:
    """Show each setting in use and where it comes from; `init` writes a settings file."""
    if context.invoked_subcommand is not None:
        return None
    from assistant.settings.listing import settings_in_use

    shown = settings_in_use(
        data_dir=memory.data_dir, qdrant_url=memory.qdrant_url, config_file=memory.config
    )
    warn_about_names()
    body = {name: {"value": value, "source": source} for name, value, source in shown}
    return CommandResult(body, lambda: print_settings(new_console(), shown))


@declared(app)
def init(
    file: Annotated[Path, typer.Argument(help="The file to write.")] = Path("assistant.toml"),
) -> None:
    """Write a settings file with every default explained. Never overwrites a file."""
    from assistant.settings.listing import default_file

    with new_file(file) as out:
        out.write(default_file())
    typer.echo(f"written: {file}")


def warn_about_names() -> None:
    """Say on stderr which variables look like settings and are none."""
    from assistant.settings.listing import warnings_about_names

    for line in warnings_about_names():
        typer.echo(f"assistant: {line}", err=True)


def print_settings(console: "Console", settings: "Sequence[SettingInUse]") -> None:
    """Name, value and source, tabs between in a pipe; a table shows the defaults dimmed."""
    from rich.table import Table
    from rich.text import Text

    file = next(str(one.value) for one in settings if one.name == "config_file")
    table = Table("setting", "value", "from", box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name, value, source in settings:
        # The source of a value from the settings file is shown as the file's name.
        fields = (name, _text(value), one_line(file) if source == "file" else str(source.value))
        if not console.is_terminal:
            say(console, "\t".join(fields))
        style = "dim" if source == "default" else ""
        table.add_row(*(Text(field, style, overflow="fold") for field in fields))
    if console.is_terminal:
        console.print(table)


def _text(value: Any) -> str:
    """A value in one line; nothing for what is not set."""
    if value is None:
        return ""
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
