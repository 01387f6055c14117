"""Whose a memory is: a user's, a space's, or the assistant's own beside them.

A space is a separate memory of a user, such as that of an agent or of a project; a shared space is
one of several people. To the store each is an owner of its own, as a user is. So whatever keeps
users apart keeps spaces apart: ids, filters, caches, links, recall. Only a round of a shared space
says beside that who said it.
"""

import re
from typing import NamedTuple

from memory_store.errors import InvalidRecord

# Callers may send no control characters, so no user and no space can be named with this one.
_BETWEEN = "\x1f"
_SPACE = re.compile(r"[a-z][a-z0-9_-]{0,31}:[^\x00-\x1f\x7f]{1,200}")
# Without a colon it names no space of one user.
_SHARED = re.compile(r"shared-[0-9a-f]{16}")
_MEMBERS = "members"


class Whose(NamedTuple):
    """The user whose a memory is, and which space of that user; None for the user's own."""

    user_id: str
    space: str | None


def owner_of(user_id: str, space: str | None) -> str:
    """The name by which the store knows this memory. Raises `InvalidRecord` for what names no
    space."""
    if space is None:
        return user_id
    if not _SPACE.fullmatch(space):
        raise InvalidRecord(
            "a space is named like agent:NAME or project:NAME: a kind in small letters, a colon "
            f"and up to 200 characters, not {space[:60]!r}"
        )
    return f"{user_id}{_BETWEEN}{space}"


def beside(user_id: str, name: str) -> str:
    """The name of a place beside the memory of a user, for something of the assistant's own: no
    caller can name it, and it is none of the user's spaces."""
    return f"{user_id}{_BETWEEN}{name}"


def names_shared(space: str | None) -> bool:
    """Whether a shared space may have this name, which the server gives."""
    return space is not None and _SHARED.fullmatch(space) is not None


def shared_owner(space: str) -> str:
    """The name by which the store knows a shared space. Who may use it is the caller's to know."""
    return f"{_BETWEEN}{space}"


def roster_of(space: str) -> str:
    """The owner of the records that say who is a member of a shared space."""
    return beside(shared_owner(space), _MEMBERS)


def is_shared(owner: str) -> bool:
    """Whether several people say what this owner has."""
    return owner.startswith(_BETWEEN)


def is_beside(owner: str) -> bool:
    """Whether what this owner has is the assistant's own, and no memory."""
    if is_shared(owner):
        return owner.endswith(f"{_BETWEEN}{_MEMBERS}")
    return _BETWEEN in owner and whose(owner).space is None


def whose(owner: str) -> Whose:
    """The user and the space of an owner; a shared space is nobody's alone, and has an empty
    user."""
    if is_shared(owner):
        return Whose("", owner[1:].removesuffix(f"{_BETWEEN}{_MEMBERS}"))
    user_id, between, space = owner.rpartition(_BETWEEN)
    if not between or not user_id or not _SPACE.fullmatch(space):
        return Whose(owner, None)
    return Whose(user_id, space)
