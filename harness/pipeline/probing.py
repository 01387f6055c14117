"""A short trial of an assistant before a run, in the mode that the run uses."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from harness.datasets.questions import HaystackSession, Question, Turn
from harness.errors import AssistantError
from harness.replay.mode import ReplayMode
from harness.text import YEAR, names_day

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
        shared_history="probe-stranger" if aspect == "stranger" else "probe",
    )


Finding = Literal["yes", "no", "unclear", "not tried"]

_NUMBER = re.compile(r"\b\d+\b")
_NOW = re.compile(r"\b(?:today|just now|earlier today|0 days|zero days)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Findings:
    """Whether the assistant remembers across sessions, keeps users apart, dates what it hears by
    the session's time, and counts from the question's time. `answers` are its own words.
    """

    remembers: Finding
    isolates_users: Finding
    honours_session_time: Finding
    honours_question_time: Finding
    answers: dict[str, str]

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"sentences": sentences(self)}


def read_answers(probe: Probe, answers: Mapping[str, str], today: datetime) -> Findings:
    """Findings from the answers; `today` is the date if the assistant goes by its own clock."""
    remembers = _remembers(probe, answers)
    leaks = _says(answers["stranger"], probe.name)
    session_time: Finding = "not tried"
    question_time: Finding = "not tried"
    if remembers == "yes":
        session_time = _session_time(probe, answers["day"], today)
        question_time = _question_time(probe, answers["days_ago"], today)
    return Findings(
        remembers=remembers,
        isolates_users="no" if leaks == "yes" else "yes" if remembers == "yes" else "not tried",
        honours_session_time=session_time,
        honours_question_time=question_time,
        answers=dict(answers),
    )


def sentences(findings: Findings) -> list[str]:
    said = [_MEMORY[findings.remembers]]
    if findings.isolates_users in _USERS:
        said.append(_USERS[findings.isolates_users])
    times = (findings.honours_session_time, findings.honours_question_time)
    if "no" in times:
        what = "what it was told" if times[0] == "no" else "the questions"
        said.append(f"ignores time: dates {what} by its own clock, answers relative to today")
    elif times == ("yes", "yes"):
        said.append("honours replayed time")
    elif times[0] == "yes":
        said.append("honours the sessions' time; whether the question's too is unclear")
    elif "not tried" not in times:
        said.append("whether it honours replayed time is unclear: it named no date")
    return said


_MEMORY: Mapping[Finding, str] = {
    "yes": "remembers across sessions",
    "no": "does not remember across sessions; so its sense of time cannot be tried",
}
_USERS: Mapping[Finding, str] = {
    "yes": "keeps users apart",
    "no": "USERS ARE NOT KEPT APART: one was told what another said",
}


def _remembers(probe: Probe, answers: Mapping[str, str]) -> Literal["yes", "no"]:
    """Whether the name or the day came back: neither can be guessed, and some assistants quote
    another sentence than the one asked for.
    """
    told = _says(" ".join(answers[aspect] for aspect in ("name", "day", "days_ago")), probe.name)
    return "yes" if told == "yes" or names_day(answers["day"], probe.day) else "no"


def _says(answer: str, name: str) -> Literal["yes", "no"]:
    return "yes" if name.lower() in answer.lower() else "no"


def _session_time(probe: Probe, answer: str, today: datetime) -> Finding:
    if names_day(answer, probe.day):
        return "yes"
    return "no" if names_day(answer, today) or _is_present(answer, probe) else "unclear"


def _question_time(probe: Probe, answer: str, today: datetime) -> Finding:
    numbers = {int(number) for number in _NUMBER.findall(answer)}
    if numbers & {probe.days_ago - 1, probe.days_ago, probe.days_ago + 1}:
        return "yes"
    by_the_clock = (today.date() - probe.day.date()).days
    if numbers & {by_the_clock - 1, by_the_clock, by_the_clock + 1} or _NOW.search(answer):
        return "no"
    return "unclear"


def _is_present(answer: str, probe: Probe) -> bool:
    """Whether an answer puts the day into the present: says `today`, without the day's year."""
    return bool(_NOW.search(answer)) and str(probe.day.year) not in YEAR.findall(answer)


async def probe_assistant(mode: ReplayMode, salt: str) -> dict[str, Any]:
    """Return the findings for a manifest, or the failure of an assistant that fails meanwhile."""
    probe = make_probe(salt)
    answers: dict[str, str] = {}
    try:
        ingested: set[str] = set()
        for aspect, question in probe.questions.items():
            if question.history_id not in ingested:
                await mode.ingest(question)
                ingested.add(question.history_id)
            answers[aspect] = (await mode.ask(question)).hypothesis["hypothesis"]
        for aspect in ("name", "stranger"):
            question = probe.questions[aspect]
            await mode.forget(question.history_id, question.question_date)
    except AssistantError as error:
        return {"failed": str(error), "answers": answers, "sentences": [f"not tried: {error}"]}
    return read_answers(probe, answers, datetime.now(UTC)).to_json()
