"""How commands are declared: the options that several have in common, some in groups; and what a
command tells, as text or as JSON."""

import json
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar, get_type_hints

import typer

from assistant.cli.console import plain

if TYPE_CHECKING:
    from assistant.cli.connection import ServerConnection
    from assistant.settings import Settings

_Command = TypeVar("_Command", bound=Callable[..., "CommandResult | None"])
LOCAL = "http://127.0.0.1:8080"

Key = Annotated[
    str | None,
    typer.Option(
        envvar="ASSISTANT_API_KEY", show_envvar=True, help="API key, if the server requires one."
    ),
]
Session = Annotated[str | None, typer.Option(help="Session to continue.")]
Time = Annotated[str | None, typer.Option(help="Act as if it were this time (RFC 3339).")]
Model = Annotated[str | None, typer.Option(help="Profile to ask, such as aide-memoire-nomem.")]
From = Annotated[str | None, typer.Option("--from", help="First day to search (YYYY-MM-DD).")]
To = Annotated[str | None, typer.Option("--to", help="Last day to search (YYYY-MM-DD).")]
AsOf = Annotated[
    str | None, typer.Option(help="Answer from what was known on this day (YYYY-MM-DD).")
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only count what would be forgotten.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


class CommandResult(NamedTuple):
    """What a command tells: with `--json` the body, else the text, or what `text` prints."""

    body: Any
    text: str | Callable[[], None]
    exit_code: int = 0

    def print(self, *, as_json: bool) -> None:
        if as_json:
            typer.echo(json.dumps(self.body, ensure_ascii=False, indent=2))
        elif callable(self.text):
            self.text()
        else:
            typer.echo(plain(self.text))
        if self.exit_code:
            raise typer.Exit(self.exit_code)


# Groups import what they need only when a command runs, because importing takes long.


@dataclass(frozen=True)
class PersonOptions:
    """A running assistant, and as whom it is asked."""

    assistant: Annotated[
        str, typer.Option(envvar="ASSISTANT_URL", help="Base URL of a running assistant.")
    ] = LOCAL
    user: Annotated[
        str | None,
        typer.Option(
            envvar="ASSISTANT_USER",
            help="User whose memory to use. Default: the key's user, or 'default'.",
        ),
    ] = None
    api_key: Key = None

    def connect(self, **how: float) -> "ServerConnection":
        from assistant.cli.connection import ServerConnection

        return ServerConnection(self.assistant, self.user, self.api_key, **how)


@dataclass(frozen=True)
class ServerOptions(PersonOptions):
    """A running assistant, as whom it is asked, and which memory of that user is meant."""

    space: Annotated[
        str | None,
        typer.Option(
            envvar="ASSISTANT_SPACE",
            help="A space in place of the user's own memory: its id, or its name.",
        ),
    ] = None

    def connect(self, **how: float) -> "ServerConnection":
        connection = super().connect(**how)
        connection.enter(self.space)
        return connection


@dataclass(frozen=True)
class RunningOptions:
    """A running assistant that has a memory open, if there is one."""

    assistant: Annotated[
        str | None,
        typer.Option(help="Base URL of the running assistant, if it has this memory open."),
    ] = None
    api_key: Key = None

    def connect(self) -> "ServerConnection | None":
        if self.assistant is None:
            return None
        return PersonOptions(self.assistant, None, self.api_key).connect()


@dataclass(frozen=True)
class SettingsOptions:
    """Where the settings are read from, and those that most commands take."""

    data_dir: Annotated[Path | None, typer.Option(help="Folder of the embedded memory.")] = None
    config: Annotated[Path | None, typer.Option(help="Settings file (TOML).")] = None

    def read(self, **given: Any) -> "Settings":
        from assistant.settings import load_settings

        return load_settings(data_dir=self.data_dir, config_file=self.config, **given)


@dataclass(frozen=True)
class MemoryOptions(SettingsOptions):
    """The settings' options for commands whose memory may be on a Qdrant server."""

    qdrant_url: Annotated[
        str | None, typer.Option(help="The Qdrant server that holds the memory.")
    ] = None

    def read(self, **given: Any) -> "Settings":
        return super().read(qdrant_url=self.qdrant_url, **given)


def declared(app: typer.Typer, name: str | None = None) -> Callable[[_Command], _Command]:
    """Make a function a command of the app."""

    def declare(command: _Command) -> _Command:
        app.command(name)(flat(command))
        return command

    return declare


def flat(command: _Command) -> Callable[..., None]:
    """The command as Typer reads it: the options of its groups, after its own, take the place of
    the groups. A command that returns a result also gets `--json`, and the result is printed."""
    hints: dict[str, type[Any]] = get_type_hints(command)
    groups = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    given = signature(command).parameters
    own = [parameter for name, parameter in given.items() if name not in groups]
    if hints["return"] is not NoneType:
        own.append(Parameter("as_json", Parameter.KEYWORD_ONLY, default=False, annotation=Json))
    options = {name: list(signature(kind).parameters.values()) for name, kind in groups.items()}
    shown = [
        parameter.replace(kind=Parameter.KEYWORD_ONLY)
        for parameter in (*own, *(one for group in options.values() for one in group))
    ]

    @wraps(command)
    def run(**values: Any) -> None:
        as_json = values.pop("as_json", False)
        for name, group in options.items():
            values[name] = groups[name](**{one.name: values.pop(one.name) for one in group})
        if told := command(**values):
            told.print(as_json=as_json)

    run.__signature__ = Signature(shown)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in shown}
    return run
