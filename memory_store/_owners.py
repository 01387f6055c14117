"""The owners of memories: users, spaces, and the assistant's own places beside them.

A space is a separate memory of a user, for example of an agent or a project. A shared space is a
memory of several people. To the store each of them is an owner, as a user is. So whatever keeps
users apart also keeps spaces apart: ids, filters, caches, links, recall. Only the rounds of a
shared space also name who said them.
"""

import re
from typing import NamedTuple

from memory_store.errors import InvalidRecord

# Callers may send no control characters, so no user and no space can be named with this one.
_BETWEEN = "\x1f"
_SPACE = re.compile(r"[a-z][a-z0-9_-]{0,31}:[^\x00-\x1f\x7f]{1,200}")
# It has no colon, so it cannot be the name of a user's own space.
_SHARED = re.compile(r"shared-[0-9a-f]{16}")
_MEMBERS = "members"


class Whose(NamedTuple):
    """The user that a memory belongs to, and the name of the space; None outside of spaces."""

    user_id: str
    space: str | None


def owner_of(user_id: str, space: str | None) -> str:
    """The name by which the store knows this memory. Raises `InvalidRecord` if `space` is not a
    valid name."""
    if space is None:
        return user_id
    if not _SPACE.fullmatch(space):
        raise InvalidRecord(
            "a space is named like agent:NAME or project:NAME: a kind in small letters, a colon "
            f"and up to 200 characters, not {space[:60]!r}"
        )
    return f"{user_id}{_BETWEEN}{space}"


def beside(user_id: str, name: str) -> str:
    """The owner of the assistant's own data beside the memory of a user. No caller can name this
    owner, and it is not one of the user's spaces."""
    return f"{user_id}{_BETWEEN}{name}"


def names_shared(space: str | None) -> bool:
    """Whether this has the form of the names that the server gives to shared spaces."""
    return space is not None and _SHARED.fullmatch(space) is not None


def shared_owner(space: str) -> str:
    """The name by which the store knows a shared space. The caller checks who may use it."""
    return f"{_BETWEEN}{space}"


def roster_of(space: str) -> str:
    """The owner of the records that say who is a member of a shared space."""
    return beside(shared_owner(space), _MEMBERS)


def is_shared(owner: str) -> bool:
    """Whether this owner is a shared space, or the roster of one."""
    return owner.startswith(_BETWEEN)


def is_beside(owner: str) -> bool:
    """Whether this owner holds the assistant's own data, and no memory."""
    if is_shared(owner):
        return owner.endswith(f"{_BETWEEN}{_MEMBERS}")
    return _BETWEEN in owner and whose(owner).space is None


def whose(owner: str) -> Whose:
    """The user and the space of an owner. The user of a shared space is empty, as it belongs to
    several people."""
    if is_shared(owner):
        return Whose("", owner[1:].removesuffix(f"{_BETWEEN}{_MEMBERS}"))
    user_id, between, space = owner.rpartition(_BETWEEN)
    if not between or not user_id or not _SPACE.fullmatch(space):
        return Whose(owner, None)
    return Whose(user_id, space)
