"""`assistant keys create | list | revoke`: the API keys in the file of the settings."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from assistant.access.key_file import KeyFile
from assistant.access.keys import Key, Scope, new_key
from assistant.clock import wall_clock

app = typer.Typer(help="Make, list and revoke API keys.", no_args_is_help=True)

_DataDir = Annotated[Path | None, typer.Option(help="Where the memory lies.")]
_Config = Annotated[Path | None, typer.Option(help="Settings file (TOML).")]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def create(
    label: Annotated[str, typer.Argument(help="What the key is for.")],
    user: Annotated[str | None, typer.Option("--user", help="The one user it is for.")] = None,
    scope: Annotated[
        list[Scope] | None, typer.Option("--scope", help="What else it allows; can be repeated.")
    ] = None,
    data_dir: _DataDir = None,
    config: _Config = None,
    as_json: _Json = False,
) -> None:
    """Make a key and print it. It is shown this once."""
    made = new_key(label, user, scope or [], created_at=_now())
    file = _key_file(data_dir, config)
    file.add(made.key)
    if as_json:
        _print_json(_body(made.key) | {"key": made.token})
    else:
        typer.echo(f"{_line(made.key)}\nin {file.path}; the key, shown this once:", err=True)
        typer.echo(made.token)


@app.command("list")
def list_keys(data_dir: _DataDir = None, config: _Config = None, as_json: _Json = False) -> None:
    """Print the keys: id, label, user, scopes, and when they were made."""
    keys = _key_file(data_dir, config).keys()
    if as_json:
        _print_json([_body(key) for key in keys])
    elif not keys:
        typer.echo("there are no keys", err=True)
    else:
        _print_lines(keys)


@app.command()
def revoke(
    key_id: Annotated[str, typer.Argument(help="The id that 'assistant keys list' shows.")],
    data_dir: _DataDir = None,
    config: _Config = None,
    as_json: _Json = False,
) -> None:
    """Take a key away. Running assistants refuse it from the next request on."""
    gone = _key_file(data_dir, config).remove(key_id)
    if as_json:
        _print_json(_body(gone) | {"revoked": True})
    else:
        typer.echo(f"revoked {_line(gone)}")


def _key_file(data_dir: Path | None, config: Path | None) -> KeyFile:
    from assistant.settings import load_settings

    return KeyFile(load_settings(data_dir=data_dir, config_file=config).keys_path)


def _now() -> str:
    return wall_clock().isoformat(timespec="seconds")


def _print_lines(keys: Sequence[Key]) -> None:
    for key in keys:
        typer.echo(_line(key))


def _line(key: Key) -> str:
    allows = ", ".join(sorted(key.scopes))
    whose = f"user {key.user_id}" if key.user_id is not None else "any user"
    return f"{key.id}  {key.label}  ({'; '.join(filter(None, (whose, allows)))}; {key.created_at})"


def _body(key: Key) -> dict[str, Any]:
    return {
        "id": key.id,
        "label": key.label,
        "user_id": key.user_id,
        "scopes": sorted(key.scopes),
        "created_at": key.created_at,
    }


def _print_json(body: Any) -> None:
    typer.echo(json.dumps(body, ensure_ascii=False, indent=2))
