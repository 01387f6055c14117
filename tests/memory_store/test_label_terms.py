"""Labels and filters by them."""

from typing import Any

import pytest

from memory_store import checked_labels, where
from memory_store._labels import from_terms, holds, shared, terms_of
from memory_store.errors import InvalidRecord

EVERY = {"topic": "my = “home”", "year": 2023, "weight": 1.5, "private": False, "a.b:c-d": ""}


def test_terms_say_all_of_the_labels() -> None:
    assert from_terms(terms_of(checked_labels(EVERY))) == EVERY
    assert terms_of({}) == ()


@pytest.mark.parametrize(
    "given",
    [
        *([], "topic=home", None, {"topic": None}, {"topic": ["home"]}, {"topic": {"a": 1}}),
        *({"": "x"}, {"a b": "x"}, {"a=b": "x"}, {"ä": "x"}, {"n" * 65: "x"}),
        *({"long": "x" * 513}, {"n": float("nan")}, {"n": float("inf")}, {"n": 2**60}),
        *({"n": 10**400}, {f"n{i}": i for i in range(17)}),
    ],
)
def test_what_is_no_label_is_refused(given: Any) -> None:
    with pytest.raises(InvalidRecord):
        checked_labels(given)


@pytest.mark.parametrize("given", [[], {"topic": []}, {"topic": [None]}, {"t": list(range(17))}])
def test_what_is_no_filter_is_refused(given: Any) -> None:
    with pytest.raises(InvalidRecord):
        where(given)


@pytest.mark.parametrize(
    ("labels", "wanted", "passes"),
    [
        ({"topic": "home"}, {}, True),
        ({"topic": "home"}, {"topic": "home"}, True),
        ({"topic": "home"}, {"topic": "work"}, False),
        ({"topic": "home"}, {"topic": ["work", "home"]}, True),
        ({"topic": "home"}, {"topic": "home", "year": 1}, False),
        ({"topic": "home", "year": 1}, {"topic": "home", "year": 1}, True),
        ({"year": 1}, {"year": 1.0}, True),
        ({"year": 1}, {"year": True}, False),
        ({"year": 1}, {"year": "1"}, False),
        ({}, {"year": 1}, False),
        ({"topic": "home"}, {"Topic": "home"}, False),
    ],
)
def test_a_filter_wants_each_of_its_names(
    labels: dict[str, Any], wanted: dict[str, Any], passes: bool
) -> None:
    assert holds(labels, where(wanted)) is passes


def test_what_all_rounds_share() -> None:
    assert shared([{"a": 1, "b": 2}, {"a": 1.0, "b": 3}, {"a": 1}]) == {"a": 1}
    assert shared([{"a": 1}, {"a": True}]) == {}
