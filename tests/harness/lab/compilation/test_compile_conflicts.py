"""Fillers that could say something about what is asked are kept out."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from compiling import Compile, kayak_pool, shown
from histories import chat, write_data

from harness.datasets.files import read_records
from harness.datasets.questions import HaystackSession, Turn
from harness.lab.compilation.pool import Statements

NOON = datetime(2023, 5, 20, 12, tzinfo=UTC)
KAYAK = "What colour is the kayak I bought?"


@pytest.mark.parametrize(
    ("question", "said", "is_near"),
    [
        (KAYAK, "I just bought a red kayak.", True),
        (KAYAK, "My kayaks were both bought used.", True),
        (KAYAK, "Which colour should my kayak have?", True),
        (KAYAK, "My brother is in a kayak.", False),
        (KAYAK, "People have bought a kayak of any colour.", False),
        (KAYAK, "I like colour. My kayak is fine.", True),
        ("How many days ago did I adopt a cat?", "I adopted a cat last week.", True),
        ("How many days ago did I adopt a cat?", "How many days ago did I call?", False),
        ("What is my name?", "My name is Ada.", False),
    ],
)
def test_what_users_say_of_themselves_is_near_a_question(
    question: str, said: str, is_near: bool
) -> None:
    statements = Statements()
    statements.add(b"other", _session(Turn("user", "I sleep well.")))
    statements.add(b"key", _session(Turn("user", f"Hello! {said} Bye.")))
    statements.add(b"heard", _session(Turn("user", "Hm."), Turn("assistant", said)))
    assert statements.nearest(question) == ({b"key"} if is_near else set())


@pytest.mark.parametrize(("sessions", "nearest"), [(4, 4), (1000, 5), (2000, 8)])
def test_no_more_sessions_are_near_than_can_be_about_one_thing(sessions: int, nearest: int) -> None:
    statements = Statements()
    said = ["I bought a kayak."] * (sessions - 1) + ["I bought a kayak, its colour is red."]
    for number, text in enumerate(said):
        statements.add(b"%04d" % number, _session(Turn("user", text)))
    nearest_first = [b"%04d" % (sessions - 1), *(b"%04d" % i for i in range(nearest - 1))]
    assert statements.nearest(KAYAK) == set(nearest_first)


def test_of_no_session_none_is_near() -> None:
    assert Statements().nearest(KAYAK) == set()


def _session(*turns: Turn) -> HaystackSession:
    return HaystackSession(0, "s", NOON, turns)


def test_what_a_filler_says_about_the_question_keeps_it_out(
    compiled: Compile, tmp_path: Path
) -> None:
    records = kayak_pool()
    rival = chat("I bought a second kayak, its colour is olive.")
    records[1]["haystack_session_ids"].append("rival")
    records[1]["haystack_dates"].append(shown("2023/05/22 11:00"))
    records[1]["haystack_sessions"].append(rival)
    source = write_data(tmp_path / "d.json", records)
    assert "olive" not in json.dumps(_read(compiled, source, "q0", 60))
    assert compiled.manifest["conflicts_a_question"] == 1.0
    about_dreams = [dict(records[0], question_id="q9", question="Where did I sleep?"), *records[1:]]
    source = write_data(tmp_path / "other.json", about_dreams)
    assert "olive" in json.dumps(_read(compiled, source, "q9", 62))


def _read(compiled: Compile, source: Path, name: str, sessions: int) -> list[dict[str, Any]]:
    ended = compiled(source, "--ids", name, "--sessions", sessions)
    assert ended.code == 0, ended.err
    return list(read_records(compiled.out))
