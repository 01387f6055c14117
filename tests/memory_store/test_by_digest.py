"""What was worked out of a text is not worked out again, and stays right."""

import random
import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from assistant.answering.context import beside
from memory_store import Record, Round
from memory_store.by_digest import ByDigest
from memory_store.language import ENGLISH
from memory_store.language.dates import reading

MAY = datetime(2023, 5, 20, 10, tzinfo=UTC)


def test_those_asked_for_longest_ago_are_made_again() -> None:
    made: list[str] = []
    kept = ByDigest[str](2)

    def of(text: str) -> str:
        def upper() -> str:
            made.append(text)
            return text.upper()

        return kept.of(text, upper)

    assert [of(text) for text in ("a", "b", "a", "c", "a", "b")] == ["A", "B", "A", "C", "A", "B"]
    assert made == ["a", "b", "c", "b"]


def test_nothing_is_kept_of_what_failed() -> None:
    kept = ByDigest[int](2)
    with pytest.raises(ZeroDivisionError):
        kept.of("a", lambda: 1 // 0)
    assert kept.of("a", lambda: 7) == 7


def test_days_go_by_the_day_that_a_text_was_said_on() -> None:
    record = Record(Round("ann", "s", 0, MAY, "I sold the cello yesterday."))
    later = replace(record, round=replace(record.round, session_date=MAY.replace(day=25)))
    for _ in range(2):
        assert beside(record, ENGLISH).days == ("yesterday = 2023-05-19",)
        assert beside(later, ENGLISH).days == ("yesterday = 2023-05-24",)


WORDS = (
    "yesterday tomorrow Last NEXT ago night before evening week weekend month year Friday in March "
    "the day days three two a few since until on after morning we sold it . , and 5/3 2021"
).split()


def test_texts_that_are_not_read_name_no_days(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(0)
    texts = [" ".join(chance.choices(WORDS, k=chance.randrange(1, 14))) for _ in range(300)]
    found = [reading.counted_days(text, MAY) for text in texts]
    monkeypatch.setattr(reading, "_MAY_COUNT", re.compile(""))
    assert found == [reading.counted_days(text, MAY) for text in texts]
    assert sum(map(bool, found)) > 30
