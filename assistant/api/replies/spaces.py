"""Replies about spaces and who shares them."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from assistant.api.replies import Instant, Reply, one_of
from assistant.api.replies.removal import Forgotten
from assistant.chat.members import MemberRole

RoleWord = Annotated[MemberRole, one_of(MemberRole)]
"""What a member may do: read all; also say something; also forget it, and invite."""
_SHARED = "shared-0123456789abcdef"


def _absent(held: Any) -> bool:
    return held is None


class Space(Reply):
    """A space of a user, and how many rounds are kept in it; of a shared one also what people call
    it, and the user's role."""

    object: Literal["space"]
    space: str
    rounds: int
    name: str | None = Field(default=None, exclude_if=_absent)
    role: RoleWord | None = Field(default=None, exclude_if=_absent)


class SpaceList(Reply):
    """Every space of a user in which something is kept, and those that they share."""

    object: Literal["list"]
    data: list[Space]
    example: ClassVar[Mapping[str, Any]] = {"object": "list", "data": []}


class SpaceMember(Reply):
    """A member of a shared space."""

    user_id: str
    role: RoleWord
    since: Instant


class SharedSpace(Space):
    """A shared space with its members, the longest-standing first."""

    name: str
    role: RoleWord
    members: list[SpaceMember]
    example: ClassVar[Mapping[str, Any]] = {
        "object": "space",
        "space": _SHARED,
        "rounds": 0,
        "name": "Our household",
        "role": "owner",
        "members": [{"user_id": "ann", "role": "owner", "since": "2023-06-10T09:00:00Z"}],
    }


class EndedSpace(Forgotten):
    """A shared space that went, with all that was said in it."""

    object: Literal["space.deleted"]
    space: str
    example: ClassVar[Mapping[str, Any]] = {
        "object": "space.deleted",
        "space": _SHARED,
        "dry_run": False,
        "rounds": 0,
        "facts": 0,
        "sessions": 0,
        "answers": 0,
    }


class PartedMember(Forgotten):
    """A membership that ended, and what of theirs was forgotten."""

    object: Literal["space.member.deleted"]
    space: str
    member_id: str
    example: ClassVar[Mapping[str, Any]] = {
        **EndedSpace.example,
        "object": "space.member.deleted",
        "member_id": "ben",
    }
