"""PerLTQA: questions about a person of whom profile, relations, events and dialogues are stored.

The layout is that of Elvin-Yiming-Du/PerLTQA (Dataset/README.md): `perltqa*.json` holds the
questions by person, `perltmem*.json` beside it what is stored. Only dialogues are conversations,
between people. Each other record is told as one user's message, its fields as `field: value`. A
dialogue has its own date; the other records have dates only in words, and are told one session a
day before the first dialogue. Evidence is the record that the question names; for a dialogue it is
the dialogue's sessions, in which no turn is labelled. Anchors are not read. The README describes
the layout; the English files (`en_v2`) have been looked at, the Chinese ones not.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from harness.datasets.benchmark import Benchmark, reader
from harness.datasets.entries import (
    FIRST_DAY,
    Entry,
    Sessions,
    beside,
    entries_of,
    just_after,
    parse_date,
)
from harness.datasets.questions import HaystackSession, Question, Turn, with_evidence
from harness.errors import DatasetError
from harness.text import encodable

_SECTIONS = ("social_relationship", "events")


@dataclass(slots=True)
class _Person:
    """What is stored of somebody; `places` names the session and turn of each section's records,
    `talks` the sessions of each dialogue.
    """

    sessions: Sessions = ()
    places: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    talks: dict[str, list[int]] = field(default_factory=dict)


def files(file: Path) -> list[Path]:
    if not file.name.startswith("perltqa"):
        raise DatasetError(f"{file}: expected the questions, a file named perltqa….json")
    stored = file.name.removesuffix(".gz").removesuffix(".xz").replace("perltqa", "perltmem", 1)
    return [file, beside(file, stored, "the stored records")]


def questions(file: Path) -> Iterator[Question]:
    people = {name: _person(name, stored) for name, stored in _stored(files(file)[1])}
    for entry in entries_of(file):
        for name, sections in entry.members():
            if name not in people:
                raise entry.error(name, "nothing is stored of this person")
            yield from _asked(name, people[name], sections)


def _stored(path: Path) -> Iterator[tuple[str, Entry]]:
    for entry in entries_of(path):
        if "profile" in entry.fields:
            yield entry.entry("profile").text("Protagonist"), entry
        else:
            yield from entry.members()


def _person(name: str, stored: Entry) -> _Person:
    person = _Person()
    told: list[HaystackSession] = []
    for section, record, text in _records(name, stored):
        position = len(told)
        if section == "profile" and told:
            position = 0
            first = replace(told[0], turns=(*told[0].turns, Turn("user", text)))
            told[0] = first
        else:
            told.append(_session(position, (Turn("user", text),)))
        person.places[section, record] = (position, len(told[position].turns) - 1)
    told = _dialogues(stored, told, person)
    if not told:
        raise DatasetError(f"{stored.where}: nothing is stored")
    person.sessions = tuple(told)
    return person


def _records(name: str, stored: Entry) -> Iterator[tuple[str, str, str]]:
    for key, value in stored.entry("profile").fields.items():
        yield "profile", key, f"{name}, {key}: {_words(value)}"
    for section in _SECTIONS:
        if stored.has(section):
            for key, record in stored.entry(section).members():
                said = "; ".join(f"{k}: {_words(v)}" for k, v in record.fields.items() if v)
                yield section, key, f"{name}, {section.replace('_', ' ')}: {said}"
    if stored.has("profile_description"):
        yield "profile_description", "", stored.text("profile_description")


def _dialogues(
    stored: Entry, records: list[HaystackSession], person: _Person
) -> list[HaystackSession]:
    """All sessions: the records get a day each, up to the day before the first dialogue."""
    talks: list[HaystackSession] = []
    if stored.has("dialogues"):
        for key, dialogue in stored.entry("dialogues").members():
            contents = dialogue.entry("contents")
            for moment in contents.fields:
                turns = tuple(_turn(contents, moment, line) for line in contents.items(moment))
                position = len(records) + len(talks)
                person.talks.setdefault(key, []).append(position)
                date = parse_date(moment, contents.where)
                talks.append(replace(_session(position, turns), session_date=date))
    first = min((talk.session_date for talk in talks), default=None)
    begin = first - timedelta(days=len(records)) if first else FIRST_DAY
    days = (begin + timedelta(days=i) for i in range(len(records)))
    dated = [replace(s, session_date=day) for s, day in zip(records, days, strict=True)]
    return dated + talks


def _turn(contents: Entry, moment: str, line: Any) -> Turn:
    if not isinstance(line, str) or not line.strip():
        raise contents.error(moment, "expected lines like 'Name: words'")
    speaker, colon, words = encodable(line).partition(": ")
    return Turn("user", words, name=speaker) if colon else Turn("user", encodable(line))


def _session(position: int, turns: tuple[Turn, ...]) -> HaystackSession:
    return HaystackSession(position, f"session-{position + 1}", FIRST_DAY, turns)


def _asked(name: str, person: _Person, sections: Entry) -> Iterator[Question]:
    for section in sections.fields:
        for number, (asked, names) in enumerate(_groups(sections, section)):
            places = [p for key in names if (p := person.places.get((section, key)))]
            sessions = with_evidence(person.sessions, places)
            answer, is_number = asked.answer("Answer")
            positions = [position for position, _ in places]
            if section == "dialogues":
                positions += [position for key in names for position in person.talks.get(key, ())]
            held = dict.fromkeys(sessions[position].session_id for position in positions)
            yield Question(
                question_id=f"{name}:{section}:{number}",
                question_type=section.replace("_", "-").replace(" ", "-"),
                question=asked.text("Question"),
                answer=answer,
                answer_is_number=is_number,
                question_date=just_after(sessions),
                sessions=sessions,
                evidence_session_ids=tuple(held),
                shared_history=name,
            )


def _groups(sections: Entry, section: str) -> Iterator[tuple[Entry, list[str]]]:
    """Yield a section's questions, each with the names of the records that hold its answer."""
    groups = sections.entries(section)
    for group in groups:
        if "Question" in group.fields:
            yield group, [group.text("Reference Memory")]
            continue
        for key in group.fields:
            for asked in group.entries(key):
                names = asked.literal("Reference Memory")
                if not isinstance(names, list) or not all(isinstance(n, str) for n in names):
                    raise asked.error("Reference Memory", "expected a list of ids")
                yield asked, names


def _words(value: Any) -> str:
    items = value if isinstance(value, list) else [value]
    return encodable(", ".join(str(item) for item in items))


PERLTQA = Benchmark("perltqa", reader(questions, files))
