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
    typer.Option(
        "--assistant", help="Base URL of the running assistant, if it has this memory open."
    ),
]
User = Annotated[
    str | None,
    typer.Option(
        "--user",
        envvar="ASSISTANT_USER",
        help="User whose memory to use. Default: the key's user, or 'default'.",
    ),
]
Key = Annotated[
    str | None,
    typer.Option(
        "--api-key",
        envvar="ASSISTANT_API_KEY",
        show_envvar=True,
        help="API key, if the server requires one.",
    ),
]
Session = Annotated[str | None, typer.Option("--session", help="Session to continue.")]
Time = Annotated[str | None, typer.Option("--time", help="Act as if it were this time (RFC 3339).")]
Model = Annotated[str | None, typer.Option(help="Profile to ask, such as aide-memoire-nomem.")]
From = Annotated[str | None, typer.Option("--from", help="First day to search (YYYY-MM-DD).")]
To = Annotated[str | None, typer.Option("--to", help="Last day to search (YYYY-MM-DD).")]
AsOf = Annotated[
    str | None, typer.Option("--as-of", help="Answer from what was known on this day (YYYY-MM-DD).")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

DataDir = Annotated[Path | None, typer.Option(help="Folder of the embedded memory.")]
Config = Annotated[Path | None, typer.Option(help="Settings file (TOML).")]
QdrantUrl = Annotated[str | None, typer.Option(help="The Qdrant server that holds the memory.")]
