"""Options that several commands have in common."""

from pathlib import Path
from typing import Annotated

import typer

LOCAL = "http://127.0.0.1:8080"

Url = Annotated[
    str,
    typer.Option("--assistant", envvar="ASSISTANT_URL", help="Base URL of a running assistant."),
]
Running = Annotated[
    str | None,
    typer.Option("--assistant", help="Base URL of the running assistant that has the memory open."),
]
User = Annotated[
    str | None,
    typer.Option(
        "--user",
        envvar="ASSISTANT_USER",
        help="Whose memory; else the user of the key, or default.",
    ),
]
Key = Annotated[
    str | None,
    typer.Option(
        "--api-key",
        envvar="ASSISTANT_API_KEY",
        show_envvar=True,
        help="Key to send, if the server wants one.",
    ),
]
Session = Annotated[str | None, typer.Option("--session", help="Session to go on with.")]
Time = Annotated[str | None, typer.Option("--time", help="Pretend it is this time (RFC 3339).")]
Model = Annotated[str | None, typer.Option(help="Profile to ask, such as aide-memoire-nomem.")]
From = Annotated[str | None, typer.Option("--from", help="Only what was said from this day on.")]
To = Annotated[str | None, typer.Option("--to", help="Only what was said up to this day.")]
AsOf = Annotated[str | None, typer.Option("--as-of", help="Only what was known on this day.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

DataDir = Annotated[Path | None, typer.Option(help="Where the memory lies.")]
Config = Annotated[Path | None, typer.Option(help="Settings file (TOML).")]
QdrantUrl = Annotated[str | None, typer.Option(help="The Qdrant server that holds the memory.")]
