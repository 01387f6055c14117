"""Who is a member of a shared space, in which role: a record each, in the memory itself.

So membership is durable, backed up, restored and moved as rounds are, and found where a user is
forgotten. The records stand under an owner of their own (`memory_store._owners`), which no
request can name.
"""

import secrets
import unicodedata
import uuid
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from assistant.errors import Forbidden, InvalidRequest, NotFound
from memory_store import (
    MemoryReader,
    MemoryStore,
    Record,
    Round,
    roster_of,
    round_id,
    shared_owner,
    where,
    whose,
)

_ROLE = "role"
_ID_BYTES = 8
# In a prompt or a quote these names mean the person who asks, or nobody.
_NO_NAMES = ("you", "i", "me", "user", "assistant", "system", "default")


class MemberRole(StrEnum):
    """What a member may do, from the least to the most."""

    READER = "reader"
    """Read all of it."""
    MEMBER = "member"
    """Also say something, and correct and forget what they said themselves."""
    OWNER = "owner"
    """Also forget what others said, and say who is a member."""

    def includes(self, other: "MemberRole") -> bool:
        """Whether it allows all that another role does."""
        order = list(MemberRole)
        return order.index(self) >= order.index(other)


_OWNERS = where({_ROLE: MemberRole.OWNER.value})


class Member(NamedTuple):
    """A member of a shared space, which has a name of its own for people."""

    space: str
    name: str
    user_id: str
    role: MemberRole
    since: datetime

    @property
    def owner(self) -> str:
        """The name by which the store knows the space."""
        return shared_owner(self.space)


async def members_of(store: MemoryReader, space: str) -> list[Member]:
    """The members of a space, the longest-standing first. Where none of them is its owner, the
    first who may say something is, else the first: somebody always can invite and forget."""
    found = sorted(
        (_member(record) for record in await store.records(roster_of(space))),
        key=lambda one: (one.since, one.user_id),
    )
    if found and not any(one.role is MemberRole.OWNER for one in found):
        heir = max(found, key=lambda one: one.role.includes(MemberRole.MEMBER))
        found[found.index(heir)] = heir._replace(role=MemberRole.OWNER)
    return found


async def member_of(store: MemoryReader, space: str, person: str) -> Member:
    """The member of this id. Raises `NotFound`, also where there is no such space.

    It is called for each request and each piece of an answer, so it reads one record, and all of
    them only where the space has no owner.
    """
    roster = roster_of(space)
    if record := await store.round(roster, round_id(roster, person, 0)):
        one = _member(record)
        if one.role is MemberRole.OWNER or await store.count(roster, _OWNERS):
            return one
        if heirs := [one for one in await members_of(store, space) if one.user_id == person]:
            return heirs[0]
    raise NotFound("this user is in no such space", code="space_not_found", param="space")


def new_space() -> str:
    """The name of a new shared space, which is no other's."""
    return f"shared-{secrets.token_hex(_ID_BYTES)}"


async def admit(store: MemoryStore, member: Member) -> None:
    """Make somebody a member, or give one another role. Raises `InvalidRequest` for a name that
    would be taken for another's, and `RoundTaken` where another change was faster."""
    members = await members_of(store, member.space)
    names = {_folded(one.user_id) for one in members if one.user_id != member.user_id}
    if _folded(member.user_id) in (*names, *_NO_NAMES):
        raise InvalidRequest(
            f"{member.user_id[:80]!r} would be taken for somebody else in this space",
            param="user_id",
        )
    round = Round(
        roster_of(member.space),
        member.user_id,
        0,
        next((one.since for one in members if one.user_id == member.user_id), member.since),
        user_name=member.user_id,
        turn_ids=(uuid.uuid4().hex,),
        session_title=member.name,
        labels={_ROLE: member.role.value},
    )
    there = await store.round(round.user_id, round.id)
    over = {there.id: there.round.turn_ids} if there else {}
    await store.remember([round], over=over)


def check_begun_by(person: str | None, rounds: Sequence[Round]) -> None:
    """Raise `Forbidden` where another member began the session: members only go on with sessions
    of their own."""
    if person is not None and any(round.person != person for round in rounds):
        raise not_theirs()


def not_theirs() -> Forbidden:
    """The refusal to change what another member said."""
    return Forbidden("another member of this space said it", code="not_yours")


def _member(record: Record) -> Member:
    round = record.round
    role = MemberRole(str(round.labels[_ROLE]))
    space = whose(round.user_id).space or ""
    return Member(space, round.session_title, round.session_id, role, round.session_date)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold().strip()
