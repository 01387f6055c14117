"""'The last n sessions', from its server through the harness to the table: as every rival goes."""

import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from nursery import NURSERY

from benchmarks.rivals.__main__ import table
from benchmarks.rivals.last_sessions import SESSIONS, LastSessions
from benchmarks.rivals.measuring import OURS, PROFILE, Place, measure
from benchmarks.rivals.serving import Assistant, RivalServer
from benchmarks.rivals.speed import asking, history, speeds, telling
from harness.assistants.profile import load_profile
from harness.assistants.template import Occasion, filled, merged

NAME = "last-10-sessions"


def instance(question_id: str, evidence: int) -> dict[str, Any]:
    """Twelve sessions, a day each; the answer is in one of them."""
    days = range(1, 13)
    return {
        "question_id": question_id,
        "question_type": "single-session-user",
        "question": "What colour is my kayak?",
        "answer": "turquoise",
        "question_date": "2023/05/30 (Tue) 10:00",
        "haystack_session_ids": [f"s{day}" for day in days],
        "haystack_dates": [f"2023/05/{day:02} (Mon) 08:00" for day in days],
        "haystack_sessions": [
            [
                {"role": "user", "content": f"Day {day}: it rained."}
                if day != evidence
                else {"role": "user", "content": "My kayak is turquoise.", "has_answer": True},
                {"role": "assistant", "content": f"Noted for day {day}."},
                {"role": "user", "content": f"Goodbye, day {day}."},
            ]
            for day in days
        ],
        "answer_session_ids": [f"s{evidence}"],
    }


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """One question about the first session, one about the last."""
    file = tmp_path / "data.json"
    file.write_text(json.dumps([instance("q-early", 1), instance("q-late", 12)]))
    return file


def test_a_run_from_the_first_session_to_the_table(tmp_path: Path, data: Path) -> None:
    place = Place(tmp_path / "runs", tmp_path / "environments")
    measure(NAME, place, ["--dataset", "longmemeval", "--file", str(data)])
    report = json.loads((place.out / NAME / "report.json").read_text())
    assert (report["n"], report["missing"], report["ingest"]["rounds"]) == (2, 0, 48)
    assert report["retrieval"]["session"]["recall_all@10"] == {"value": 0.5, "n": 2}
    assert report["retrieval"]["session"]["recall_all@1"] == {"value": 0.5, "n": 2}
    assert report["retrieval"]["round"]["recall_all@5"] == {"value": 0.5, "n": 2}
    prompts = report["evidence_in_prompt"]
    assert (prompts["value"], prompts["n"]) == (0.5, 2)
    speed = speeds(place, [NAME], rounds=10, asked=3)[NAME]
    assert min(speed.rounds_a_second, speed.answer_ms) > 0
    head, _, row = table(place.out, [NAME], {NAME: speed}).splitlines()
    assert row.startswith(f"| {NAME} | 50.0 % | 50.0 % | 50.0 % |")
    assert head.count("|") == row.count("|")


@contextmanager
def serving(folder: Path, reader: str = "") -> Iterator[str]:
    server = RivalServer(Assistant(LastSessions(folder), reader))
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield server.url
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_history_can_be_chatted_as_well(tmp_path: Path, data: Path) -> None:
    folder = tmp_path / "memory"
    folder.mkdir()
    with serving(folder) as url:
        command = NURSERY.command("harness", "run", "--dataset", "longmemeval")
        command += ["--file", str(data), "--ids", "q-late", "--mode", "teacher", "--no-probe"]
        command += ["--keep"]
        command += ["--assistant", url, "--profile", str(PROFILE), "--out", str(tmp_path / "run")]
        subprocess.run(command, check=True, capture_output=True)
    report = json.loads((tmp_path / "run/report.json").read_text())
    assert report["retrieval"]["session"]["recall_all@1"]["value"] == 1.0
    assert report["retrieval"]["round"]["recall_all@1"]["value"] == 1.0
    (file,) = folder.iterdir()
    # All but the last reply of a session, which nobody is sent; nothing of the question.
    assert len(file.read_text().splitlines()) == 12 * 3


def test_what_a_server_cannot_do_is_an_error_with_its_reason(tmp_path: Path) -> None:
    with serving(tmp_path, reader="http://127.0.0.1:9/v1") as url:
        body = {"user": "ann", "session": "s", "when": "2024-01-01T10:00:00Z"}
        asked = {**body, "messages": [{"role": "user", "content": "Hello?"}]}
        reply = httpx.post(f"{url}/v1/chat/completions", json=asked)
        assert reply.status_code == 500
        assert "refused" in reply.json()["error"]["message"]
        assert httpx.post(f"{url}/v1/else", json={}).status_code == 404
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", [OURS, NAME])
def test_a_timed_question_is_put_as_the_profile_says(name: str) -> None:
    profile = load_profile("aide-memoire" if name == OURS else str(PROFILE))
    when = Occasion("ann", "q", datetime(2024, 6, 1, 9, tzinfo=UTC))
    extras = (profile.extra.body, profile.kinds["question"].body)
    put = merged(*(filled(extra, when) for extra in extras))
    asked = asking(name, "Hello?").body
    assert {key: asked[key] for key in put} == put
    assert asked["messages"] == [{"role": "user", "content": "Hello?"}]


def test_all_are_told_the_same_turns() -> None:
    ours, theirs = telling(OURS, "s", history(3)), telling(NAME, "s", history(3))
    assert (len(ours), len(theirs)) == (3, 1)
    assert [turn for one in ours for turn in one.body["messages"]] == theirs[0].body["turns"]


def test_the_number_of_sessions_is_in_its_name() -> None:
    assert str(SESSIONS) in NAME
