"""Times on the wire: what is read, what is refused, what is printed."""

from datetime import UTC, date, datetime
from typing import Any

import pytest

from assistant.dates import parse_day, parse_instant, print_day, print_instant
from assistant.errors import InvalidRequest

READ = {
    "2023-05-20T02:21:00Z": datetime(2023, 5, 20, 2, 21, tzinfo=UTC),
    "2023-05-20t02:21:00z": datetime(2023, 5, 20, 2, 21, tzinfo=UTC),
    "2023-05-20 02:21:00": datetime(2023, 5, 20, 2, 21, tzinfo=UTC),
    "2023-05-20T02:21": datetime(2023, 5, 20, 2, 21, tzinfo=UTC),
    "2023-05-20T02:21:00.5Z": datetime(2023, 5, 20, 2, 21, 0, 500_000, tzinfo=UTC),
    "2023-05-20T02:21:00+02:00": datetime(2023, 5, 20, 0, 21, tzinfo=UTC),
    "2023-05-20T02:21:00-0530": datetime(2023, 5, 20, 7, 51, tzinfo=UTC),
    "2023-05-20": datetime(2023, 5, 20, tzinfo=UTC),
    "  2023-05-20T02:21:00Z\n": datetime(2023, 5, 20, 2, 21, tzinfo=UTC),
    "2023/05/20 (Sat) 02:21": datetime(2023, 5, 20, 2, 21, tzinfo=UTC),
    "2023/5/2 (Tue) 2:21": datetime(2023, 5, 2, 2, 21, tzinfo=UTC),
    "2023/05/20 02:21": datetime(2023, 5, 20, 2, 21, tzinfo=UTC),
    "2023/05/20 (Sat) 02:21:07": datetime(2023, 5, 20, 2, 21, 7, tzinfo=UTC),
    "2024-02-29": datetime(2024, 2, 29, tzinfo=UTC),
}

REFUSED: list[Any] = [
    "",
    "   ",
    "yesterday",
    "2023",
    "20230520",
    "2023-W20-6",
    "2023-02-30",
    "2023-02-29T10:00:00Z",
    "2023/02/30 (Thu) 10:00",
    "2023-05-20T25:00:00Z",
    "2023-05-20T02:21:00 somewhere",
    "1684549260",
    "0001-01-01T00:00:00+10:00",
    "9999-12-31",
    "9999-12-31T23:59:59-10:00",
    1684549260,
    1684549260.5,
    True,
    [],
    {},
]


@pytest.mark.parametrize(("text", "instant"), READ.items())
def test_reads(text: str, instant: datetime) -> None:
    assert parse_instant(text) == instant
    assert parse_instant(text).tzinfo is UTC


@pytest.mark.parametrize("given", REFUSED, ids=repr)
def test_refuses_with_a_code_and_an_example(given: Any) -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse_instant(given, param="now")
    assert refused.value.code == "invalid_timestamp"
    assert refused.value.param == "now"
    for form in SHOWN:
        assert form in refused.value.message


SHOWN = (
    "2023-05-20",
    "2023-05-20T02:21:00Z",
    "2023-05-20T04:21+02:00",
    "2023/05/20 (Sat) 02:21",
)


@pytest.mark.parametrize("form", SHOWN)
def test_what_a_refusal_recommends_is_read(form: str) -> None:
    assert parse_instant(form).date() == date(2023, 5, 20)


def test_a_refusal_repeats_only_the_beginning_of_what_was_sent() -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse_instant("x" * 5000)
    assert len(refused.value.message) < 300


def test_a_day_is_the_day_in_utc() -> None:
    assert parse_day("2023-05-20", param="from") == date(2023, 5, 20)
    assert parse_day("2023-05-20T23:30:00-02:00", param="from") == date(2023, 5, 21)


def test_prints_in_utc_without_fractions() -> None:
    instant = parse_instant("2023-05-20T02:21:00.9+02:00")
    assert print_instant(instant) == "2023-05-20T00:21:00Z"
    assert print_day(instant) == "2023-05-20 (Sat)"
