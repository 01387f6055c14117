"""Spaces: separate memories of one user, such as that of an agent or of a project.

To the store a space is an owner of its own, as a user is. So whatever keeps users apart keeps
spaces apart: ids, filters, caches, links, recall. Nothing else knows that there are spaces.
"""

import re
from typing import NamedTuple

from memory_store.errors import InvalidRecord

# No user and no space can be named with it: callers may send no control characters.
_BETWEEN = "\x1f"
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}:[^\x00-\x1f\x7f]{1,200}")


class Whose(NamedTuple):
    """The user whose a memory is, and which space of that user; None for the user's own."""

    user_id: str
    space: str | None


def owner_of(user_id: str, space: str | None) -> str:
    """By what the store knows this memory. Raises `InvalidRecord` for what names no space."""
    if space is None:
        return user_id
    if not _NAME.fullmatch(space):
        raise InvalidRecord(
            "a space is named like agent:NAME or project:NAME: a kind in small letters, a colon "
            f"and up to 200 characters, not {space[:60]!r}"
        )
    return f"{user_id}{_BETWEEN}{space}"


def whose(owner: str) -> Whose:
    """The user and the space of an owner."""
    user_id, between, space = owner.rpartition(_BETWEEN)
    if not between or not user_id or not _NAME.fullmatch(space):
        return Whose(owner, None)
    return Whose(user_id, space)
