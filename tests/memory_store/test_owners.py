"""How spaces are named to the store."""

import pytest

from memory_store import Whose, owner_of, whose
from memory_store.errors import InvalidRecord

NAMES = ["agent:coder", "project:a:b", "project:Büro 7", "x:y"]


@pytest.mark.parametrize("space", [None, *NAMES])
@pytest.mark.parametrize("user_id", ["ann", "a b", "agent:coder", "茶"])
def test_an_owner_says_whose_it_is(user_id: str, space: str | None) -> None:
    assert whose(owner_of(user_id, space)) == Whose(user_id, space)


def test_no_two_are_one_owner() -> None:
    users = ["ann", "ann:", "ann:agent", "agent:coder", "annagent:coder"]
    owners = [owner_of(user, space) for user in users for space in [None, *NAMES]]
    assert len(set(owners)) == len(owners)


@pytest.mark.parametrize(
    "space", ["", "coder", "agent:", "Agent:x", ":x", "agent:a\x1fb", "a" * 33 + ":x", "a:\n"]
)
def test_what_names_no_space_is_refused(space: str) -> None:
    with pytest.raises(InvalidRecord):
        owner_of("ann", space)
