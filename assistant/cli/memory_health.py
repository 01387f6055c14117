"""`assistant memories health` and `settle`: which facts may be wrong, and up to when one holds."""

from functools import partial
from typing import Annotated, Any

import typer

from assistant.cli import memories, printing
from assistant.cli.memories import Id, Limit, memory_of, print_list
from assistant.cli.options import CommandResult, ServerOptions, declared

app = memories.app


@declared(app)
def health(
    server: ServerOptions,
    finding: Annotated[
        str | None,
        typer.Option(
            metavar="FINDING",
            help="Only: stale, contradictory, replaced, duplicate, expiring, unused or used.",
        ),
    ] = None,
    limit: Limit = 50,
) -> CommandResult:
    """List facts that may be wrong, and how much facts are used."""
    with memory_of(server) as memory:
        found = memory.health(finding, limit)
    counts = ", ".join(f"{count} {name}" for name, count in found["counts"].items())
    return CommandResult(found, partial(print_list, found["data"], printing.print_health, counts))


@declared(app)
def settle(
    id: Id,
    server: ServerOptions,
    fact: Annotated[
        str | None, typer.Option(metavar="WORDS", help="Words of the fact, where it has several.")
    ] = None,
    confirm: Annotated[bool, typer.Option("--confirm", help="It still holds.")] = False,
    until: Annotated[
        str | None, typer.Option(metavar="DAY", help="The last day on which it holds.")
    ] = None,
    while_: Annotated[
        str | None,
        typer.Option("--while", metavar="STATE", help='It holds while "I live in Ghent" does.'),
    ] = None,
    always: Annotated[bool, typer.Option("--always", help="It holds without condition.")] = False,
    ask_on: Annotated[
        str | None,
        typer.Option(metavar="DAY", help="From this day on, be asked once if it still holds."),
    ] = None,
) -> CommandResult:
    """Say that a fact still holds, up to when, or when to be asked about it."""
    conditions = [one for one in (until, while_) if one is not None]
    if len(conditions) + always > 1:
        raise typer.BadParameter("give one of --until, --while and --always")
    said: dict[str, Any] = {"confirmed": True} if confirm else {}
    if conditions or always:
        given = {"until": until} if until is not None else {"while": while_}
        said["condition"] = None if always else given
    if ask_on is not None:
        said["ask_on"] = ask_on
    if not said:
        raise typer.BadParameter("give --confirm, --until, --while, --always or --ask-on")
    with memory_of(server) as memory:
        return CommandResult(memory.settle(id, fact, said), "settled")
