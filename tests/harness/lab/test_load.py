"""A store under the load of a leaderboard: what it loses, doubles or leaks is counted."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from benches import Finished
from scripted_store import scripted_store

Harness = Callable[..., Finished]
COUNTED = ("lost", "doubled", "leaked", "refused")


def tried(harness: Harness, **habits: Any) -> tuple[int, dict[str, Any]]:
    with scripted_store(**habits) as store:
        load = ("--memories", 48, "--users", 4, "--writers", 8)
        ended = harness("load", "--assistant", store.url, *load, "--json")
        assert {one["user_id"] for one in store.searched} >= {one.user for one in store.kept}
    return ended.code, json.loads(ended.out)


@pytest.mark.parametrize(
    ("habits", "wrong"),
    [
        ({}, {}),
        ({"busy_first": 5}, {}),
        ({"knows_requests": False}, {"doubled": 42}),
        ({"isolates": False}, {"leaked": 48}),
    ],
)
def test_faults_are_counted(
    harness: Harness, habits: dict[str, Any], wrong: dict[str, int]
) -> None:
    code, outcome = tried(harness, **habits)
    assert {name: outcome[name] for name in COUNTED if outcome[name]} == wrong
    assert code == bool(wrong)
    assert (outcome["memories"], outcome["requests"]) == (48, 90)


def test_what_a_store_says_it_keeps_and_does_not_is_lost(harness: Harness) -> None:
    code, outcome = tried(harness, loses_every=1)
    assert (code, outcome["lost"], outcome["doubled"]) == (1, 48, 0)


def test_a_store_that_refuses_everything_lost_nothing_and_that_is_said(harness: Harness) -> None:
    with scripted_store(refuses=400) as store:
        load = ("--memories", 6, "--users", 2, "--writers", 2, "--json")
        ended = harness("load", "--assistant", store.url, *load)
    outcome = json.loads(ended.out)
    assert (ended.code, outcome["written"], outcome["lost"], outcome["refused"]) == (1, 0, 0, 11)
    assert "Nothing was written" in ended.err


def test_a_store_that_lets_nobody_in_is_said_in_one_line(harness: Harness) -> None:
    with scripted_store(refuses=403) as store:
        ended = harness("load", "--assistant", store.url, "--memories", 2, "--users", 1)
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "refuses access (403)" in ended.err


def test_more_memories_than_a_search_gives_are_refused(harness: Harness) -> None:
    with scripted_store() as store:
        few = ("--memories", 200, "--users", 2)
        ended = harness("load", "--assistant", store.url, *few)
        assert store.added == []
    assert (ended.code, "add --users" in ended.err) == (2, True)
