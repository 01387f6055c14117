"""Histories compiled for a test: what from, and the command."""

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from benches import Finished
from histories import chat, history, instance, turn

from harness.datasets.files import read_records
from harness.datasets.longmemeval import load_longmemeval
from harness.datasets.questions import Question
from harness.lab.compilation.compiler import manifest_path

Harness = Callable[..., Finished]
TYPES = ("single-session-user", "temporal-reasoning", "multi-session")


def shown(day: str) -> str:
    """A day and time as the files write it."""
    return f"{datetime.strptime(day, '%Y/%m/%d %H:%M'):%Y/%m/%d (%a) %H:%M}"  # noqa: DTZ007


def numbered_pool() -> list[dict[str, Any]]:
    """Six questions, each with one evidence session and eight fillers under recurring ids."""
    return [
        instance(
            f"q{number}",
            question_type=TYPES[number % 3],
            answer=number,
            question_date=shown("2023/05/30 10:00"),
            **history(
                *(
                    (f"f_{i}", shown(f"2023/05/2{i} 08:00"), chat(f"Filler {i} of {number}."))
                    for i in range(8)
                ),
                (f"ev_{number}", shown(f"2023/05/2{number} 09:00"), _fact(number)),
                evidence=[f"ev_{number}"],
            ),
        )
        for number in range(6)
    ]


def _fact(number: int) -> list[dict[str, Any]]:
    return [turn("user", f"Fact {number} \ud83d", has_answer=True), turn("assistant", "Noted.")]


def kayak_pool(**first: Any) -> list[dict[str, Any]]:
    """A question about a kayak, and others whose sessions serve as its fillers."""
    records = [instance("q0", **first)]
    for number in range(1, 6):
        sessions = [
            (
                f"f{number}_{i}",
                shown(f"2023/05/2{i % 10} 08:00"),
                chat(f"I dreamt of number {number}{i}. " + "Well. " * 50),
            )
            for i in range(12)
        ]
        labelled = chat(f"Truth {number}.", has_answer=True)
        evidence = (f"e{number}", shown("2023/05/20 09:00"), labelled)
        facts = history(*sessions, evidence, evidence=[f"e{number}"])
        records.append(instance(f"q{number}", **facts))
    return records


class Compile:
    """Compiles in this process and reads back what was written."""

    def __init__(self, harness: Harness, folder: Path) -> None:
        self._harness = harness
        self.out = folder / "out.json"

    def __call__(
        self,
        source: Path,
        *arguments: object,
        sessions: int | None = None,
        dataset: str = "longmemeval",
    ) -> Finished:
        size = () if sessions is None else ("--sessions", sessions)
        return self._harness(
            *("compile", "--dataset", dataset, "--file", source),
            *("--out", self.out, *size, *arguments),
        )

    def records(self, source: Path, *arguments: object, sessions: int = 30) -> list[dict[str, Any]]:
        ended = self(source, *arguments, sessions=sessions)
        assert ended.code == 0, ended.err
        return list(read_records(self.out))

    def question(self, source: Path, *arguments: object) -> Question:
        """The question about the kayak, compiled alone."""
        ended = self(source, "--ids", "q0", *arguments)
        assert ended.code == 0, ended.err
        (question,) = load_longmemeval(self.out)
        return question

    @property
    def manifest(self) -> dict[str, Any]:
        made: dict[str, Any] = json.loads(manifest_path(self.out).read_text())
        return made


def places(question: Question) -> list[float]:
    """Where the evidence stands: the share of sessions before it."""
    ids = [session.session_id for session in question.sessions_by_date()]
    total = len(ids) - len(question.evidence_session_ids)
    before = [ids.index(name) - n for n, name in enumerate(question.evidence_session_ids)]
    return [number / total for number in before]


def sessions_of(record: dict[str, Any]) -> list[tuple[str, str, str]]:
    """(id, date, JSON of the turns) of every session."""
    fields = ("haystack_session_ids", "haystack_dates", "haystack_sessions")
    return [(i, d, json.dumps(t)) for i, d, t in zip(*(record[f] for f in fields), strict=True)]


def texts(record: dict[str, Any]) -> list[str]:
    """The turns of every session as JSON."""
    return [json.dumps(turns) for turns in record["haystack_sessions"]]
