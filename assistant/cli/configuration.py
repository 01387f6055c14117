"""`assistant config`: the settings in use and where each comes from; `config init`."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from assistant.cli import options
from assistant.cli.console import one_line
from assistant.cli.memory_table import say
from assistant.settings.listing import SettingInUse
from assistant.settings.sources import SettingSource


def print_settings(console: Console, settings: Sequence[SettingInUse]) -> None:
    """Name, value and source, tabs between in a pipe; a table shows the defaults dimmed."""
    file = next(str(one.value) for one in settings if one.name == "config_file")
    table = Table("setting", "value", "from", box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name, value, source in settings:
        # A settings file goes by its name.
        fields = (
            name,
            _text(value),
            one_line(file) if source is SettingSource.FILE else source.value,
        )
        if not console.is_terminal:
            say(console, "\t".join(fields))
        style = "dim" if source is SettingSource.DEFAULT else ""
        table.add_row(*(Text(field, style, overflow="fold") for field in fields))
    if console.is_terminal:
        console.print(table)


def _text(value: Any) -> str:
    """A value in one line; nothing for what is not set."""
    if value is None:
        return ""
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


app = typer.Typer()


@app.callback(invoke_without_command=True)
def config(
    context: typer.Context,
    data_dir: options.DataDir = None,
    qdrant_url: options.QdrantUrl = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    """Show each setting in use and where it comes from; `init` writes a settings file."""
    if context.invoked_subcommand is not None:
        return
    from rich.console import Console

    from assistant.cli.configuration import print_settings
    from assistant.settings.listing import settings_in_use

    shown = settings_in_use(data_dir=data_dir, qdrant_url=qdrant_url, config_file=config)
    warn_about_names()
    if as_json:
        body = {name: {"value": value, "source": source} for name, value, source in shown}
        typer.echo(json.dumps(body, ensure_ascii=False, indent=2))
    else:
        print_settings(Console(), shown)


@app.command()
def init(
    file: Annotated[Path, typer.Argument(help="The file to write.")] = Path("assistant.toml"),
) -> None:
    """Write a settings file with every default explained. Never overwrites a file."""
    from assistant.cli.files import new_file
    from assistant.settings.listing import default_file

    with new_file(file) as out:
        out.write(default_file())
    typer.echo(f"written: {file}")


def warn_about_names() -> None:
    """Say on stderr which variables look like settings and are none."""
    from assistant.settings.listing import warnings_about_names

    for line in warnings_about_names():
        typer.echo(f"assistant: {line}", err=True)
