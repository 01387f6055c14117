"""`assistant config`: the settings in use and where each comes from; `config init`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from assistant.cli import options

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

    from assistant.cli.settings_table import print_settings
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
