"""Who is a member of a shared space: read by the one who asks, and of all where nobody owns it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from counting import CountingEngine

from assistant.chat.members import Member, MemberRole, admit, member_of, new_space
from assistant.errors import NotFound
from memory_store import MemoryStore
from memory_store.embedding import Embedder, HashEncoder

SINCE = datetime(2023, 5, 3, tzinfo=UTC)
MANY = 12


@pytest.mark.parametrize("owned", [True, False])
async def test_one_membership_is_read_and_all_where_there_is_no_owner(
    tmp_path: Path, owned: bool
) -> None:
    engine = CountingEngine(tmp_path)
    store = MemoryStore(engine, Embedder(HashEncoder()))
    await store.open()
    space = new_space()
    for number in range(MANY):
        is_owner = owned and number == 1
        role = MemberRole.OWNER if is_owner else MemberRole.MEMBER
        since = SINCE + timedelta(days=number)
        await admit(store, Member(space, "Ours", f"m{number}", role, since))
    roles = {}
    for number in range(MANY):
        engine.reads = 0
        roles[number] = (await member_of(store, space, f"m{number}")).role
        assert engine.reads == (1 if owned else 1 + MANY)
    with pytest.raises(NotFound):
        await member_of(store, space, "nobody")
    await store.close()
    owners = [number for number, role in roles.items() if role is MemberRole.OWNER]
    assert owners == [1 if owned else 0]
