"""Records refuse what could not be found again."""

import uuid
from datetime import UTC, date, datetime

import pytest

from memory_store import (
    Days,
    Query,
    Round,
    round_id,
)
from memory_store.engines._engine import UserScope
from memory_store.errors import InvalidRecord

NOON = datetime(2023, 5, 20, 12, tzinfo=UTC)


def test_the_id_of_a_round_is_its_place() -> None:
    first = Round("ann", "s1", 0, NOON, "one text")
    again = Round("ann", "s1", 0, NOON, "another text")
    assert first.id == again.id == round_id("ann", "s1", 0)


def test_ids_do_not_collide_over_where_a_name_ends() -> None:
    places = [("ann", "as"), ("anna", "s"), ("an", "nas"), ("3:ann", "s")]
    assert len({round_id(user, session, 0) for user, session in places}) == len(places)


@pytest.mark.parametrize(
    "wrong",
    [
        {"user_id": ""},
        {"session_id": ""},
        {"round_index": -1},
        {"session_date": datetime(2023, 5, 20)},  # noqa: DTZ001 - that is the point
    ],
)
def test_a_round_refuses(wrong: dict[str, object]) -> None:
    right = {"user_id": "ann", "session_id": "s", "round_index": 0, "session_date": NOON}
    with pytest.raises(InvalidRecord):
        Round(**{**right, **wrong})  # type: ignore[arg-type]


def test_no_scope_without_a_user() -> None:
    with pytest.raises(InvalidRecord):
        UserScope("")


def test_a_range_of_days_runs_forward() -> None:
    with pytest.raises(InvalidRecord):
        Days(date(2023, 5, 21), date(2023, 5, 20))


FIRST, MIDDLE, LAST = date(2023, 5, 1), date(2023, 5, 15), date(2023, 5, 31)


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        (Days(), Days(), Days()),
        (Days(FIRST, MIDDLE), Days(), Days(FIRST, MIDDLE)),
        (Days(FIRST, LAST), Days(MIDDLE, None), Days(MIDDLE, LAST)),
        (Days(None, MIDDLE), Days(MIDDLE, None), Days(MIDDLE, MIDDLE)),
        (Days(None, FIRST), Days(LAST, None), None),
    ],
)
def test_the_days_that_two_ranges_share(one: Days, other: Days, both: Days | None) -> None:
    assert one.within(other) == other.within(one) == both


@pytest.mark.parametrize(("text", "limit"), [(" ", 1), ("cat", 0)])
def test_a_query_refuses(text: str, limit: int) -> None:
    with pytest.raises(InvalidRecord):
        Query("ann", text, limit)


@pytest.mark.parametrize("user_id", ["ann", "", "ann/1:s", "Zoë 東京"])
def test_an_id_is_the_uuid_of_the_place(user_id: str) -> None:
    space = uuid.UUID("6d0d9f5c-3c5e-5b7a-9a0e-9a4c8f1f2b61")
    name = f"{len(user_id)}:{user_id}/2:s1/7"
    assert round_id(user_id, "s1", 7) == str(uuid.uuid5(space, name))
