"""DialSim: what a character of a TV show knows when somebody asks, by multiple choice.

The layout is what jiho283/Simulator's simulator.py reads: episodes of scenes with `date` and
`script` (lines `Name: words`), and questions in `hard_q` and `easy_q` by type, with `questions`
by who asks, `options` and `answer`. The published file is a pickle, which could run anything when
opened: convert it with `json.dump(pickle.load(file), out)` where you trust it. The simulator
draws one question for a scene and asks it in the middle. Here all questions are asked, each by the
first of its askers, when the scene has ended, without a time limit. A question sees the scenes up
to its own, so every scene with questions makes a history. Evidence is in files of its own, which
are not read. Questions of types named `unans` or `fu` have right options like the others.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

from harness.datasets.benchmark import Benchmark, reader
from harness.datasets.entries import Entry, Sessions, checked_options, entries_of, put_options
from harness.datasets.questions import HaystackSession, Question, Turn
from harness.errors import DatasetError

_LEVELS = ("hard_q", "easy_q")
_LEFT_OUT = ("Teleplay: ", "Story: ")
_LINE = re.compile(r"([^:\n]{1,60}):\s*(.*)")


def questions(file: Path) -> Iterator[Question]:
    if ".pickle" in file.name or file.name.endswith(".pkl"):
        raise DatasetError(f"{file}: a pickle is not opened: convert it to JSON (docs/datasets.md)")
    for show in entries_of(file):
        told: list[HaystackSession] = []
        for episode, scenes in show.members():
            for number, scene in scenes.members():
                turns = _turns(scene)
                if turns:
                    told.append(_session(scene, told, turns))
                yield from _asked(f"{episode}:{number}", scene, tuple(told))


def _session(
    scene: Entry, told: Sequence[HaystackSession], turns: tuple[Turn, ...]
) -> HaystackSession:
    """The scene as a session, a minute after the scene before if that is of the same day."""
    date, position = scene.date("date"), len(told)
    if told and told[-1].session_date.date() == date.date():
        date = told[-1].session_date + timedelta(minutes=1)
    return HaystackSession(position, f"session-{position + 1}", date, turns)


def _turns(scene: Entry) -> tuple[Turn, ...]:
    """Return the lines as turns; a line without a speaker continues the turn before it."""
    said: list[tuple[str, str]] = []
    for line in scene.text("script").splitlines():
        if not line.strip() or any(mark in line for mark in _LEFT_OUT):
            continue
        if match := _LINE.fullmatch(line.strip()):
            said.append((match[1].strip(), match[2]))
        elif said:
            said[-1] = (said[-1][0], f"{said[-1][1]}\n{line.strip()}")
    return tuple(Turn("user", words, name=name) for name, words in said if words.strip())


def _asked(place: str, scene: Entry, told: Sessions) -> Iterator[Question]:
    for level in _LEVELS:
        if not scene.has(level):
            continue
        kinds = scene.entry(level)
        for kind, value in kinds.fields.items():
            where = f"{kinds.where}: {kind}"
            if not isinstance(value, dict | list | None):
                raise kinds.error(kind, f"expected questions, found {type(value).__name__}")
            items = value.items() if isinstance(value, dict) else enumerate(value or [])
            for name, item in items:
                entry = Entry(item, f"{where}[{name}]")
                if not told:
                    raise entry.error("questions", "nothing was said before")
                yield _question(f"{place}:{kind}:{name}", f"{level[:4]}-{kind}", entry, place, told)


def _question(name: str, kind: str, entry: Entry, place: str, told: Sessions) -> Question:
    by_asker = entry.entry("questions")
    asker = next(iter(by_asker.fields), None)
    if asker is None:
        raise entry.error("questions", "empty")
    given = [option for option in entry.items("options") if isinstance(option, str)]
    wanted = entry.text("answer").strip()
    answer = next((o.strip() for o in given if o.strip().lower() == wanted.lower()), wanted)
    options = checked_options(entry, "options", entry.items("options"), answer)
    last = told[-1]
    asked = by_asker.text(asker)
    spoken = asked if asker == "default" else f"{asker}: {asked}"
    return Question(
        question_id=name,
        question_type=kind,
        question=put_options(spoken, options),
        answer=answer,
        answer_is_number=False,
        question_date=last.session_date + timedelta(seconds=len(last.turns)),
        sessions=told,
        shared_history=place,
        options=options,
    )


DIALSIM = Benchmark("dialsim", reader(questions), judge="choice")
