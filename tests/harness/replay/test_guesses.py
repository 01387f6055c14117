"""Controls that guess: what they answer and rank, alone and beside an accuracy."""

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benches import Finished
from histories import chat, instance, write_data

Harness = Callable[..., Finished]
OPTIONS = {
    "Try the new bakery": ["Try the new bakery by the old harbour, which opens at six", "Rest"],
    "Take the night train": ["Fly", "Walk"],
    "Order the red enamel pan": ["Order none", "Order two"],
}


@pytest.fixture
def chosen(tmp_path: Path) -> Path:
    """Three questions with three options: the longest is right in two of them."""
    said = {"role": "user", "content": "User: I would rather walk than sit in a train."}
    (tmp_path / "chat.json").write_text(json.dumps({"chat_history": [said]}))
    rows = [
        {
            "chat_history_32k_link": "chat.json",
            "user_query": json.dumps({"role": "user", "content": f"What about number {n}?"}),
            "correct_answer": right,
            "incorrect_answers": json.dumps(wrong),
            "pref_type": "way",
        }
        for n, (right, wrong) in enumerate(OPTIONS.items())
    ]
    with (tmp_path / "benchmark.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return tmp_path / "benchmark.csv"


@pytest.fixture
def dated(tmp_path: Path) -> Path:
    """Two questions over four sessions; the evidence lies in the newest and in the oldest."""
    records = []
    for name, place in (("new", 3), ("old", 0)):
        sessions = [chat(f"I planted bed {n} today.", has_answer=n == place) for n in range(4)]
        ids = [f"{name}-{n}" for n in range(4)]
        records.append(
            instance(
                name,
                question="Which bed did I plant?",
                answer=f"bed {place}",
                haystack_session_ids=ids,
                haystack_dates=[f"2023/05/1{n} (Wed) 10:00" for n in range(4)],
                haystack_sessions=sessions,
                answer_session_ids=[ids[place]],
            )
        )
    return write_data(tmp_path / "data.json", records)


def lines(path: Path) -> dict[str, dict[str, Any]]:
    read = [json.loads(line) for line in path.read_text().splitlines()]
    return {line["question_id"]: line for line in read}


def guess(harness: Harness, mode: str, name: str, file: Path, out: Path, *more: str) -> Finished:
    given = ("--dataset", name, "--file", file, "--mode", mode, "--out", out, *more)
    return harness("run", *given)


def test_the_longest_option_is_taken_without_any_assistant(
    harness: Harness, chosen: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    ended = guess(harness, "longest-option", "personamem-v2", chosen, out)
    assert ended.code == 0, ended.err
    said = [line["hypothesis"] for line in lines(out / "hypotheses.jsonl").values()]
    longest = [OPTIONS["Try the new bakery"][0], "Take the night train", "Order the red enamel pan"]
    assert said == longest
    report = json.loads((out / "report.json").read_text())
    assert report["assistant"] is None
    assert round(report["accuracy"]["overall"]["value"], 3) == 0.667


def test_an_accuracy_over_options_is_shown_beside_what_guessing_reaches(
    harness: Harness, chosen: Path, tmp_path: Path
) -> None:
    for name in ("random-session", "newest-session"):
        assert guess(harness, name, "personamem-v2", chosen, tmp_path / name).code == 0
    out = tmp_path / "newest-session"
    report = json.loads((out / "report.json").read_text())
    assert report["accuracy"]["guesses"]["longest_option"]["n"] == 3
    said = (
        "the longest of the options is right in 66.7 % of 3 questions, one drawn by lot in 33.3 %"
    )
    for face in ("report.md", "report.html"):
        assert said in (out / face).read_text()
    board = harness("leaderboard", tmp_path, "--out", tmp_path / "board")
    assert board.code == 0, board.err
    assert "longest option" in (tmp_path / "board/leaderboard.md").read_text()
    compared = harness("compare", tmp_path / "random-session", out)
    assert said in " ".join(compared.out.split())


def test_of_options_the_one_that_the_session_names_is_taken(
    harness: Harness, chosen: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    assert guess(harness, "newest-session", "personamem-v2", chosen, out).code == 0
    assert lines(out / "hypotheses.jsonl")["q00001"]["hypothesis"] == "Walk"


def test_the_newest_session_is_said_and_ranked_first(
    harness: Harness, dated: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    ended = guess(harness, "newest-session", "longmemeval", dated, out)
    assert ended.code == 0, ended.err
    assert "bed 3" in lines(out / "hypotheses.jsonl")["old"]["hypothesis"]
    ranked = lines(out / "retrieval.jsonl")["new"]["ranked_sessions"]
    assert [one["session_id"] for one in ranked] == ["new-3", "new-2", "new-1", "new-0"]
    report = json.loads((out / "report.json").read_text())
    assert report["retrieval"]["session"]["recall_all@1"]["value"] == 0.5
    assert report["accuracy"]["guesses"] is None


def test_a_random_session_is_drawn_by_the_seed_alone(
    harness: Harness, dated: Path, tmp_path: Path
) -> None:
    orders = []
    for number, seed in enumerate(("1", "1", "2", "3", "4")):
        out = tmp_path / str(number)
        ended = guess(harness, "random-session", "longmemeval", dated, out, "--seed", seed)
        assert ended.code == 0, ended.err
        found = lines(out / "retrieval.jsonl").values()
        orders.append([[one["position"] for one in line["ranked_sessions"]] for line in found])
    assert orders[0] == orders[1]
    assert len({str(order) for order in orders}) > 2
    assert all(sorted(order) == [0, 1, 2, 3] for order in orders[0])


def test_what_cannot_be_guessed_is_refused_in_words(
    harness: Harness, dated: Path, tmp_path: Path
) -> None:
    ended = guess(harness, "longest-option", "longmemeval", dated, tmp_path / "a")
    assert ended.code == 2
    assert "has no options" in ended.err
    ended = guess(harness, "no-memory", "longmemeval", dated, tmp_path / "b")
    assert ended.code == 2
    assert "--assistant is missing" in ended.err


def test_a_dry_run_of_a_guess_counts_no_calls(
    harness: Harness, dated: Path, tmp_path: Path
) -> None:
    ended = guess(harness, "newest-session", "longmemeval", dated, tmp_path / "a", "--dry-run")
    assert ended.code == 0, ended.err
    assert re.search(r"chat calls\W+0\b", ended.out)
