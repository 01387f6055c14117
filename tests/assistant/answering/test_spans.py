"""Lengths of time in words."""

from datetime import date

import pytest

from assistant.answering.layouts import print_span, whole_months


@pytest.mark.parametrize(
    ("first", "last", "text"),
    [
        ("2023-05-20", "2023-05-20", "0 days"),
        ("2023-05-20", "2023-05-21", "1 day"),
        ("2023-05-20", "2023-05-26", "6 days"),
        ("2023-05-20", "2023-05-27", "7 days (1 week)"),
        ("2023-05-20", "2023-06-10", "21 days (3 weeks)"),
        ("2023-05-20", "2023-06-20", "31 days (4 weeks 3 days; 1 month)"),
        ("2023-05-20", "2023-07-04", "45 days (6 weeks 3 days; 1 month 14 days)"),
        ("2022-05-20", "2023-05-20", "365 days (52 weeks 1 day; 1 year)"),
        ("2022-05-20", "2023-08-21", "458 days (65 weeks 3 days; 1 year 3 months 1 day)"),
        ("2023-06-10", "2023-05-20", "21 days (3 weeks)"),
    ],
)
def test_spans_in_words(first: str, last: str, text: str) -> None:
    assert print_span(date.fromisoformat(first), date.fromisoformat(last)) == text


@pytest.mark.parametrize(
    ("first", "last", "months", "days"),
    [
        ("2023-01-31", "2023-02-28", 0, 28),
        ("2023-01-31", "2023-03-01", 1, 1),
        ("2024-01-31", "2024-03-01", 1, 1),
        ("2023-01-15", "2023-02-14", 0, 30),
        ("2023-12-31", "2024-01-01", 0, 1),
    ],
)
def test_months_are_calendar_months(first: str, last: str, months: int, days: int) -> None:
    assert whole_months(date.fromisoformat(first), date.fromisoformat(last)) == (months, days)
