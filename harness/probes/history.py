"""The probe: a short history years ago, about a name that nobody can guess, and three questions."""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from harness.datasets.questions import HaystackSession, Question, Turn

_ONSETS = ("br", "d", "f", "gl", "k", "l", "m", "n", "p", "r", "st", "t", "v", "z")
_VOWELS = ("a", "e", "i", "o", "u")
_FIRST_DAY = datetime(2016, 3, 1, 10, tzinfo=UTC)
_DAYS = 900

Aspect = Literal["name", "day", "days_ago", "stranger"]


@dataclass(frozen=True, slots=True)
class Probe:
    """`name` was mentioned on `day`, and the questions are asked `days_ago` days later."""

    name: str
    day: datetime
    days_ago: int
    questions: dict[Aspect, Question]


def make_probe(salt: str) -> Probe:
    """A probe that no other run has: name and days follow from the run's secret."""
    digest = hashlib.sha256(f"probe\x1f{salt}".encode()).digest()
    name = _name(digest)
    day = _FIRST_DAY + timedelta(days=int.from_bytes(digest[8:10]) % _DAYS)
    days_ago = 35 + digest[10] % 40
    asked = day + timedelta(days=days_ago)
    sessions = (
        _session(
            0,
            day,
            f"This morning I adopted a greyhound and named her {name}.",
            f"Congratulations! {name} is a lovely name for a greyhound.",
        ),
        _session(
            1,
            day + timedelta(days=20),
            "How long should rice rest after cooking?",
            "About ten minutes, with the lid on.",
        ),
    )
    stranger = (_session(0, day, "Which herbs go with lemon?", "Thyme does, and so does dill."),)
    which = "What is the name of the greyhound that I adopted?"
    return Probe(
        name,
        day,
        days_ago,
        {
            "name": _question("name", which, asked, sessions),
            "day": _question("day", "On which date did I adopt my greyhound?", asked, sessions),
            "days_ago": _question(
                "days_ago",
                "How many days ago did I adopt my greyhound? Give the number of days.",
                asked,
                sessions,
            ),
            "stranger": _question("stranger", which, asked, stranger),
        },
    )


def _name(digest: bytes) -> str:
    parts = [
        _ONSETS[digest[2 * i] % len(_ONSETS)] + _VOWELS[digest[2 * i + 1] % len(_VOWELS)]
        for i in range(4)
    ]
    return "".join(parts).capitalize()


def _session(position: int, when: datetime, user: str, assistant: str) -> HaystackSession:
    turns = (Turn("user", user), Turn("assistant", assistant))
    return HaystackSession(position, f"probe-{position}", when, turns)


def _question(
    aspect: Aspect, text: str, asked: datetime, sessions: tuple[HaystackSession, ...]
) -> Question:
    return Question(
        question_id=f"probe-{aspect}",
        question_type="probe",
        question=text,
        answer="",
        answer_is_number=False,
        question_date=asked,
        sessions=sessions,
        evidence_session_ids=(),
        is_abstention=False,
        shared_history="probe-stranger" if aspect == "stranger" else "probe",
    )
