"""The built-in sample: temporal answers derived once more, from the days of their events."""

from collections.abc import Callable
from datetime import date, timedelta

import pytest
from sampled import BY_ID, day_of, of_type, session_of

DayRule = Callable[[date], date]
TUESDAY, WEDNESDAY, SATURDAY = 1, 2, 5


def ago(days: int = 0, weeks: int = 0) -> DayRule:
    return lambda day: day - timedelta(days=days, weeks=weeks)


def latest(weekday: int) -> DayRule:
    """The nearest such weekday before the session."""
    return lambda day: day - timedelta(days=(day.weekday() - weekday - 1) % 7 + 1)


def fixed(month: int, day_of_month: int) -> DayRule:
    return lambda day: day.replace(month=month, day=day_of_month)


EVENTS: list[tuple[str, str, str, DayRule, date]] = [
    ("d2f98b46", "answer_d2f98b46_1", "this morning", ago(), date(2024, 5, 14)),
    ("d2f98b46", "answer_d2f98b46_2", "yesterday", ago(days=1), date(2024, 6, 11)),
    ("0b5ce731", "answer_0b5ce731_1", "last Tuesday", latest(TUESDAY), date(2024, 10, 15)),
    ("0b5ce731", "answer_0b5ce731_2", "three weeks ago", ago(weeks=3), date(2024, 10, 3)),
    ("e41d86fa", "answer_e41d86fa", "on Saturday", latest(SATURDAY), date(2025, 3, 8)),
    ("e41d86fa", "5ad80c1e_1", "On Saturday", latest(SATURDAY), date(2025, 3, 15)),
    ("e41d86fa", "5ad80c1e_2", "on Saturday", latest(SATURDAY), date(2025, 3, 1)),
    ("97b20fc4", "answer_97b20fc4_1", "last night", ago(days=1), date(2024, 9, 4)),
    ("97b20fc4", "answer_97b20fc4_2", "on Wednesday", latest(WEDNESDAY), date(2024, 12, 11)),
    ("3c08ad5b", "answer_3c08ad5b_1", "ten days ago", ago(days=10), date(2025, 5, 26)),
    ("3c08ad5b", "answer_3c08ad5b_2", "yesterday", ago(days=1), date(2025, 6, 18)),
    ("3c08ad5b", "answer_3c08ad5b_3", "on 7 June", fixed(6, 7), date(2025, 6, 7)),
    ("f60e94a2", "answer_f60e94a2", "yesterday", ago(days=1), date(2025, 9, 3)),
    ("f60e94a2", "4be17d90_1", "Yesterday", ago(days=1), date(2025, 8, 27)),
]


def test_every_temporal_question_has_its_events() -> None:
    listed = {session_id for _, session_id, *_ in EVENTS}
    for instance in of_type("temporal-reasoning"):
        assert set(instance["answer_session_ids"]) <= listed


@pytest.mark.parametrize(("question_id", "session_id", "words", "rule", "day"), EVENTS)
def test_event_days_follow_from_session_dates(
    question_id: str, session_id: str, words: str, rule: DayRule, day: date
) -> None:
    session = session_of(question_id, session_id)
    assert words in (session.evidence_text or session.text)
    assert rule(session.day) == day


def event_days(question_id: str) -> list[date]:
    """The days of the labelled events of a question, in the order of `EVENTS`."""
    return [
        rule(session_of(question_id, session_id).day)
        for event_question, session_id, _, rule, _ in EVENTS
        if event_question == question_id and session_id.startswith("answer_")
    ]


def test_days_between_application_and_card() -> None:
    posted, arrived = event_days("d2f98b46")
    assert BY_ID["d2f98b46"]["answer"] == f"{(arrived - posted).days} days"


def test_chimney_came_before_gutters_however_last_tuesday_is_read() -> None:
    gutters, chimney = event_days("0b5ce731")
    assert chimney < gutters - timedelta(weeks=1)
    assert "chimney" in BY_ID["0b5ce731"]["answer"]


def test_the_workshop_was_on_the_saturday_asked_for() -> None:
    assert event_days("e41d86fa") == [date(2025, 3, 8)]
    assert "Saturday, 8 March" in BY_ID["e41d86fa"]["question"]


def test_weeks_between_first_rehearsal_and_concert() -> None:
    first, concert = event_days("97b20fc4")
    weeks, rest = divmod((concert - first).days, 7)
    assert (BY_ID["97b20fc4"]["answer"], rest) == (f"{weeks} weeks", 0)


def test_order_of_workshops() -> None:
    names = ("Bookbinding", "stained glass", "cyanotype")
    by_day = [name for _, name in sorted(zip(event_days("3c08ad5b"), names, strict=True))]
    positions = [BY_ID["3c08ad5b"]["answer"].index(name) for name in by_day]
    assert positions == sorted(positions)


def test_the_umbrella_was_lost_last_wednesday() -> None:
    asked = latest(WEDNESDAY)(day_of(BY_ID["f60e94a2"]["question_date"]))
    assert event_days("f60e94a2") == [asked]
    assert "Line 31" in BY_ID["f60e94a2"]["answer"]
