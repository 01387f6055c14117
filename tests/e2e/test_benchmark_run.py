"""A benchmark through the two commands: a history in, a report with exact figures out."""

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from commands import Running, Server

Harness = Callable[..., Running]


def chat(user: str, assistant: str, *, evidence: bool = False) -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": user, "has_answer": evidence},
        {"role": "assistant", "content": assistant, "has_answer": False},
    ]


def question(id: str, type: str, text: str, answer: str, **sessions: Any) -> dict[str, Any]:
    return {
        "question_id": id,
        "question_type": type,
        "question": text,
        "answer": answer,
        "question_date": "2024/03/20 (Wed) 09:00",
        "haystack_session_ids": list(sessions),
        "haystack_dates": [f"2024/03/{day + 1:02} (Fri) 10:00" for day in range(len(sessions))],
        "haystack_sessions": list(sessions.values()),
        "answer_session_ids": [name for name in sessions if name.startswith("answer")],
    }


KAYAK = chat("I painted my kayak turquoise.", "Bold!", evidence=True)
SOUP = chat("How do I thicken a soup?", "With a little starch.")
CHOIR = chat("I sing in a choir on Mondays.", "Which voice?")
QUESTIONS = [
    question(
        "q1",
        "single-session-user",
        "What colour did I paint my kayak?",
        "turquoise",
        soup=SOUP,
        answer_1=KAYAK,
        choir=CHOIR,
    ),
    question(
        "q2",
        "single-session-assistant",
        "What did you suggest to thicken a soup?",
        "starch",
        answer_2=SOUP,
        choir=CHOIR,
        empty=[],
    ),
    question(
        "q3_abs", "single-session-user", "Zzyzx?", "You never mentioned it.", soup=SOUP, choir=CHOIR
    ),
]


def write(path: Path, questions: list[dict[str, Any]]) -> Path:
    path.write_text(json.dumps(questions))
    return path


def run(harness: Harness, file: Path, server: Server, out: Path) -> tuple[int, str]:
    process = harness(
        *("run", "--keep", "--dataset", "longmemeval", "--file", file),
        *("--assistant", server.url, "--out", out),
    )
    output, _ = process.communicate(timeout=120)
    return process.returncode, output


def test_a_run_ends_in_a_report_with_exact_figures(
    shared_server: Server, harness: Harness, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    code, output = run(harness, write(tmp_path / "data.json", QUESTIONS), shared_server, out)
    assert code == 0, output
    report = json.loads((out / "report.json").read_text())
    assert (report["n"], report["missing"], report["unscored"]) == (3, 0, 0)
    assert report["accuracy"]["overall"]["value"] == 1.0
    assert report["retrieval"]["session"]["recall_all@1"] == {"value": 1.0, "n": 2}
    assert "turquoise" in (out / "report.html").read_text()
    answers = hypotheses_of(out)
    assert "On 2024-03-02 (Sat) you said: “I painted my kayak turquoise.”" in answers["q1"]
    assert answers["q3_abs"].startswith("I don't know")


def hypotheses_of(out: Path) -> dict[str, str]:
    lines = (out / "hypotheses.jsonl").read_text().splitlines()
    return {line["question_id"]: line["hypothesis"] for line in map(json.loads, lines)}


def users_of(out: Path) -> set[str]:
    """The users of the questions whose searches are written down.

    A run may be writing the last line at this moment: only whole lines count.
    """
    path = out / "retrieval.jsonl"
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return {json.loads(line)["user_id"] for line in lines if line.endswith("\n")}


def rounds_of(server: Server, user_id: str) -> list[int]:
    listed = httpx.get(f"{server.url}/v1/sessions", params={"user_id": user_id}).json()
    return [session["rounds"] for session in listed["data"]]


def test_asking_the_benchmark_question_leaves_nothing_behind(
    shared_server: Server, harness: Harness, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    run(harness, write(tmp_path / "data.json", QUESTIONS[:1]), shared_server, out)
    (user_id,) = users_of(out)
    assert rounds_of(shared_server, user_id) == [1, 1, 1]


def test_a_run_survives_a_killed_server_and_no_round_is_lost_or_doubled(
    server: Server, harness: Harness, tmp_path: Path
) -> None:
    talk = [turn for number in range(80) for turn in chat(f"I saw bird {number}.", "Nice.")]
    questions = [
        question(f"q{n}", "single-session-user", "Did I see bird 7?", "bird 7", answer_1=talk)
        for n in range(4)
    ]
    file, out = write(tmp_path / "data.json", questions), tmp_path / "run"
    first = harness(
        *("run", "--dataset", "longmemeval", "--file", file),
        *("--assistant", server.url, "--out", out, "--retry-seconds", "1"),
    )
    deadline = time.monotonic() + 60
    while not users_of(out):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert server.end(signal.SIGKILL) == -signal.SIGKILL
    output, _ = first.communicate(timeout=60)
    assert first.returncode == 2, output
    assert "same command" in output

    server.start()
    code, output = run(harness, file, server, out)
    assert code == 0, output
    assert sorted(hypotheses_of(out)) == ["q0", "q1", "q2", "q3"]
    users = users_of(out)
    assert len(users) == 4
    assert {user_id: rounds_of(server, user_id) for user_id in users} == {
        user_id: [80] for user_id in users
    }
