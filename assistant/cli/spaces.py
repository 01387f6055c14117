"""`assistant spaces`: the spaces of a user, and who shares them."""

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assistant.cli.console import confirmed, memory_count, one_line
from assistant.cli.options import CommandResult, PersonOptions, Yes, declared

if TYPE_CHECKING:
    from assistant.cli.connection import ServerConnection

app = typer.Typer(help="See, begin, share, leave and end spaces.", no_args_is_help=True)

Space = Annotated[str, typer.Argument(help="A shared space: its id, or its name.")]
Person = Annotated[str, typer.Argument(help="The user who is a member.")]
Forget = Annotated[bool, typer.Option("--forget", help="Also forget what they said there.")]


class SpaceRole(StrEnum):
    """What a member may do, from the least to the most."""

    READER = "reader"
    MEMBER = "member"
    OWNER = "owner"


@declared(app, "list")
def list_spaces(person: PersonOptions) -> CommandResult:
    """List your spaces: id, role, memories, name."""
    with person.connect() as connection:
        found = connection.mine("GET", "/v1/spaces")
    lines = [
        "\t".join(
            (
                one["space"],
                one.get("role", "own"),
                str(one["rounds"]),
                one_line(one.get("name", "")),
            )
        )
        for one in found["data"]
    ]
    return CommandResult(found, "\n".join(lines) or "you have no spaces")


@declared(app)
def begin(
    name: Annotated[str, typer.Argument(help="What people call it.")], person: PersonOptions
) -> CommandResult:
    """Begin a shared space, which you own, and print its id."""
    with person.connect() as connection:
        made = connection.mine("POST", "/v1/spaces", name=name)
    return CommandResult(made, made["space"])


@declared(app)
def show(space: Space, person: PersonOptions) -> CommandResult:
    """Show who is a member of a space: user, role, since when."""
    with person.connect() as connection:
        found = connection.mine("GET", connection.space_path(space))
    return CommandResult(found, _members(found))


@declared(app)
def admit(
    space: Space,
    member: Person,
    person: PersonOptions,
    role: Annotated[
        SpaceRole, typer.Option(help="Read all; also say something; also forget it, and admit.")
    ] = SpaceRole.MEMBER,
) -> CommandResult:
    """Make somebody a member, or give a member another role. For owners."""
    with person.connect() as connection:
        found = connection.mine("PUT", connection.space_path(space, member), role=role.value)
    return CommandResult(found, _members(found))


@declared(app)
def remove(
    space: Space, member: Person, person: PersonOptions, forget: Forget = False, yes: Yes = False
) -> CommandResult:
    """Remove a member, who reads nothing of the space from then on. For owners."""
    with person.connect() as connection:
        path = connection.space_path(space, member)
        gone = _if_agreed(connection, path, f"remove {member} from {space}?", forget, yes=yes)
    return _gone(gone, f"{member} is no member of {space}")


@declared(app)
def leave(
    space: Space, person: PersonOptions, forget: Forget = False, yes: Yes = False
) -> CommandResult:
    """Leave a space. With its last member it goes."""
    with person.connect() as connection:
        path = connection.space_path(space, connection.user_id)
        gone = _if_agreed(connection, path, f"leave {space}?", forget, yes=yes)
    return _gone(gone, f"you left {space}")


@declared(app)
def end(space: Space, person: PersonOptions, yes: Yes = False) -> CommandResult:
    """Forget a space, with all that was said in it. For owners."""
    with person.connect() as connection:
        path = connection.space_path(space)
        count = memory_count(connection.mine("GET", path)["rounds"])
        question = f"end {space}, and forget {count} for everybody?"
        gone = _if_agreed(connection, path, question, yes=yes)
    return _gone(gone, f"{space} is gone")


def _members(space: Mapping[str, Any]) -> str:
    return "\n".join(
        "\t".join((one["user_id"], one["role"], one["since"])) for one in space["members"]
    )


def _if_agreed(
    connection: "ServerConnection", path: str, question: str, forget: bool = False, *, yes: bool
) -> dict[str, Any] | None:
    """Delete what the path names if the user agrees. Return what went; None where nobody agreed."""
    if not yes and not confirmed(question, "spaces"):
        return None
    return connection.mine("DELETE", path, forget=forget or None)


def _gone(gone: Mapping[str, Any] | None, done: str) -> CommandResult:
    if gone is None:
        return CommandResult({"agreed": False}, "nothing was changed", exit_code=1)
    forgotten = f"; {memory_count(gone['rounds'])} forgotten" if gone["rounds"] else ""
    return CommandResult(gone, done + forgotten)
