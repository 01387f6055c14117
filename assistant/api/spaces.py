"""Routes of spaces: separate memories of a user, and those that several people share, of which the
other routes take one by `space` (docs/api.md)."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from assistant.api import request_context as context
from assistant.api.description import READING, WRITING, failures
from assistant.api.parameters import UserId
from assistant.api.receipts import receipts_for
from assistant.api.replies import spaces as replies
from assistant.api.requests.spaces import GivenRole, NewSpace
from assistant.api.route import JsonRoute, Parts
from assistant.chat.members import Member, MemberRole, admit, member_of, members_of, new_space
from assistant.errors import InvalidRequest, NotFound
from memory_store import as_title, names_shared, owner_of, shared_owner

router = APIRouter(prefix="/v1/spaces", tags=["spaces"], route_class=JsonRoute)
# All members of a space are read whenever one of them asks for something.
_MOST_MEMBERS = 100
SharedName = Annotated[
    str, Path(description="A shared space.", examples=["shared-0123456789abcdef"])
]
MemberId = Annotated[str, Path(description="The user who is a member.", examples=["ben"])]


@router.get("", summary="List the spaces", responses=failures(*READING))
async def list_spaces(request: Request, parts: Parts, user_id: UserId = None) -> replies.SpaceList:
    """Every space of a user in which something is kept, by name, and every shared space of which
    they are a member."""
    person, store = await context.person_of(request, user_id), parts.store
    listed = [
        replies.Space(object="space", space=name, rounds=await store.count(owner_of(person, name)))
        for name in await store.spaces(person)
    ]
    for name in await store.shared_spaces(person):
        for one in await members_of(store, name):
            if one.user_id == person:
                count = await store.count(one.owner)
                listed.append(replies.Space.of(one, object="space", rounds=count))
    return replies.SpaceList(object="list", data=listed)


@router.post("", summary="Begin a shared space", responses=failures(*WRITING, 413))
async def begin_space(request: Request, parts: Parts, body: NewSpace) -> replies.SharedSpace:
    """A new space for several people, whose owner is the user. Its name for the other routes is
    given here, and nobody can choose it."""
    person = await context.person_of(request, body.user_id)
    name = as_title(body.name)
    if not name:
        raise InvalidRequest("a space needs a name that can be read", param="name")
    now = context.time_of(request).at
    owner = Member(new_space(), name, person, MemberRole.OWNER, now)
    await admit(parts.store, owner)
    return await _shared(parts, owner)


@router.get("/{space}", summary="Read a shared space", responses=failures(*READING, 404))
async def read_space(
    request: Request, parts: Parts, space: SharedName, user_id: UserId = None
) -> replies.SharedSpace:
    """A shared space of the user, and who is a member."""
    return await _shared(parts, await _member(request, space, user_id))


@router.delete("/{space}", summary="End a shared space", responses=failures(*WRITING, 404))
async def end_space(
    request: Request, parts: Parts, space: SharedName, user_id: UserId = None
) -> replies.EndedSpace:
    """Forget a shared space, with all that was said in it and who was a member. For its owners."""
    one = await _member(request, space, user_id, MemberRole.OWNER)
    receipts = await receipts_for(request)
    gone = await parts.recorder.end_space(space, one.user_id)
    receipt = await receipts.removed(one.owner, gone)
    return replies.EndedSpace.of(
        gone, object="space.deleted", space=space, dry_run=False, receipt=receipt
    )


@router.put(
    "/{space}/members/{member_id:path}",
    summary="Make somebody a member",
    responses=failures(*WRITING, 404, 413),
)
async def admit_member(
    request: Request, parts: Parts, space: SharedName, member_id: MemberId, body: GivenRole
) -> replies.SharedSpace:
    """Make a user a member of a shared space, or give a member another role. For its owners."""
    one = await _member(request, space, body.user_id, MemberRole.OWNER)
    person = context.checked_id(member_id, "member_id")
    members = await members_of(parts.store, space)
    if len(members) >= _MOST_MEMBERS and person not in {m.user_id for m in members}:
        raise InvalidRequest(f"a space has at most {_MOST_MEMBERS} members", param="member_id")
    now = context.time_of(request).at
    await admit(parts.store, Member(space, one.name, person, MemberRole(body.role), now))
    return await _shared(parts, one)


@router.delete(
    "/{space}/members/{member_id:path}",
    summary="Leave a shared space, or remove a member",
    responses=failures(*WRITING, 404),
)
async def part_with_member(
    request: Request,
    parts: Parts,
    space: SharedName,
    member_id: MemberId,
    user_id: UserId = None,
    forget: Annotated[bool, Query(description="Forget what they said there, too.")] = False,
) -> replies.PartedMember:
    """End a membership: one's own, or, for owners, another's. From then on that user reads nothing
    of the space. What they said stays there under their name, unless `forget` is set; who has left
    can still have it forgotten. With the last member the space goes."""
    person = await context.person_of(request, user_id)
    if person == member_id:
        # Former members too may take away what is theirs.
        if not names_shared(space) or space not in await parts.store.shared_spaces(person):
            raise NotFound("this user is in no such space", code="space_not_found", param="space")
    else:
        await _member(request, space, user_id, MemberRole.OWNER)
    receipts = await receipts_for(request)
    gone = await parts.recorder.part(space, member_id, forgets=forget)
    receipt = await receipts.removed(shared_owner(space), gone)
    return replies.PartedMember.of(
        gone,
        object="space.member.deleted",
        space=space,
        member_id=member_id,
        dry_run=False,
        receipt=receipt,
    )


async def _member(
    request: Request, space: str, user_id: str | None, role: MemberRole = MemberRole.READER
) -> Member:
    """The member of a shared space who asks, in this role. Raises as `memory_named`."""
    person = await context.person_of(request, user_id)
    if not names_shared(space):
        raise NotFound("this user is in no such space", code="space_not_found", param="space")
    await context.memory_named(request, person, space, role)
    return await member_of(context.services(request).store, space, person)


async def _shared(parts: Parts, one: Member) -> replies.SharedSpace:
    """The space as this member may know it."""
    members = await members_of(parts.store, one.space)
    return replies.SharedSpace.of(
        one,
        object="space",
        rounds=await parts.store.count(one.owner),
        members=list(map(replies.SpaceMember.of, members)),
    )
