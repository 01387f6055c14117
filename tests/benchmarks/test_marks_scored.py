"""Marks against labels: which messages a mark brings together."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.marks.__main__ import MarkCounts, measure
from benchmarks.marks.labelled import HELD_OUT, PEOPLE, person
from memory_store import MemoryStore

LONG = "I filed the guest lists, the seating plans and the bills of the spring ball, " * 3


def test_no_person_is_in_both_halves() -> None:
    assert PEOPLE
    assert HELD_OUT
    assert not {file.name for file in PEOPLE} & {file.name for file in HELD_OUT}


@pytest.mark.parametrize("behind", ["", LONG])
async def test_a_mark_that_shows_a_part_of_a_message_is_of_that_message(
    store: MemoryStore, tmp_path: Path, behind: str
) -> None:
    lines: list[dict[str, Any]] = [
        {"at": "2023-05-20T10:00:00+00:00", "say": "I have shown prints at the Kunsthalle."},
        {
            "at": "2023-05-21T10:00:00+00:00",
            "say": f"{behind}and I have never shown any prints at the Kunsthalle.",
            "contradicts": [0],
        },
    ]
    file = tmp_path / "ida.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    tally = MarkCounts()
    await measure(store, person(file), tally)
    assert tally.counts["contradicted"] == {"right": 1, "wrong": 0, "missing": 0}
    assert tally.otherwise == []
