"""`assistant keys create | list | revoke`: the API keys in the file of the settings, or on the
Qdrant server that assistants share."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assistant.access.keys import ApiKey, KeyFile, KeyScope, SharedKeys, body_of, new_key
from assistant.cli.options import CommandResult, SettingsOptions, declared
from assistant.clock import wall_clock

if TYPE_CHECKING:
    from assistant.settings import Settings

app = typer.Typer(help="Make, list and revoke API keys.", no_args_is_help=True)


@declared(app)
def create(
    label: Annotated[str, typer.Argument(help="What the key is for.")],
    settings: SettingsOptions,
    user: Annotated[str | None, typer.Option(help="Limit the key to this user.")] = None,
    scope: Annotated[
        list[KeyScope] | None,
        typer.Option(help="Scope to grant: act_as, set_time or admin. Can be given several times."),
    ] = None,
) -> CommandResult:
    """Create a key and print it. It cannot be shown again."""
    now = wall_clock().isoformat(timespec="seconds")
    made = new_key(label, user, scope or [], created_at=now)
    place = asyncio.run(_add(settings.read(), made.key))

    def show() -> None:
        about = f"{_line(made.key)}\nstored in {place}. The key (it cannot be shown again):"
        typer.echo(about, err=True)
        typer.echo(made.token)

    return CommandResult(_body(made.key) | {"key": made.token}, show)


@declared(app, "list")
def list_keys(settings: SettingsOptions) -> CommandResult:
    """Print the keys: id, label, user, scopes, and when they were made."""
    from assistant.services import shared_keys

    read = settings.read()
    keys = (*KeyFile(read.keys_path).keys(), *asyncio.run(shared_keys(read)))

    def show() -> None:
        for key in keys:
            typer.echo(_line(key))
        if not keys:
            typer.echo("there are no keys", err=True)

    return CommandResult([_body(key) for key in keys], show)


@declared(app)
def revoke(
    key_id: Annotated[str, typer.Argument(help="The id that 'assistant keys list' shows.")],
    settings: SettingsOptions,
) -> CommandResult:
    """Take a key away. Running assistants refuse it from the next request on, or, where they share
    keys on a Qdrant server, within five seconds."""
    gone = asyncio.run(_remove(settings.read(), key_id))
    return CommandResult(_body(gone) | {"revoked": True}, f"revoked {_line(gone)}")


async def _add(settings: "Settings", key: ApiKey) -> str:
    """Put a key where new keys go. Return where that is, in words."""
    if settings.shares_keys:
        async with _on_server(settings) as keys:
            await keys.add(key)
        return f"Qdrant at {settings.public()['qdrant_url']}"
    KeyFile(settings.keys_path).add(key)
    return str(settings.keys_path)


async def _remove(settings: "Settings", key_id: str) -> ApiKey:
    """Take a key away, wherever it is."""
    if settings.shares_keys:
        async with _on_server(settings) as keys:
            if gone := await keys.remove(key_id):
                return gone
    return KeyFile(settings.keys_path).remove(key_id)


@asynccontextmanager
async def _on_server(settings: "Settings") -> AsyncIterator[SharedKeys]:
    from assistant.services import make_documents

    documents = make_documents(settings)
    await documents.open()
    try:
        yield SharedKeys(documents)
    finally:
        await documents.close()


def _line(key: ApiKey) -> str:
    allows = ", ".join(sorted(key.scopes))
    whose = f"user {key.user_id}" if key.user_id is not None else "any user"
    return f"{key.id}  {key.label}  ({'; '.join(filter(None, (whose, allows)))}; {key.created_at})"


def _body(key: ApiKey) -> dict[str, Any]:
    return {name: value for name, value in body_of(key).items() if name != "sha256"}
