"""All runs under a folder in one table."""

import csv
from collections.abc import Callable
from pathlib import Path

from benches import Finished
from made_runs import made_run

from harness.lab.leaderboard import leaderboard_tables, read_leaderboard

Harness = Callable[..., Finished]


def test_runs_are_ranked_within_what_can_be_compared(tmp_path: Path) -> None:
    made_run(tmp_path / "low", {"a": "no", "b": "yes"})
    made_run(tmp_path / "deep" / "high", {"a": "yes", "b": "yes"})
    made_run(tmp_path / "other", {"a": "yes"}, judge={"id": "strict-1", "hash": "1" * 12})
    made_run(tmp_path / "unjudged", {"a": "yes"}, judge=None)
    board = read_leaderboard(tmp_path)
    ranked = {
        name.split(", ")[1]: [row["run"] for row in rows] for name, rows in board.groups.items()
    }
    assert ranked == {
        "judge lexical-2 0123456789ab": ["deep/high", "low"],
        "judge strict-1 111111111111": ["other"],
        "not judged": ["unjudged"],
    }
    first = leaderboard_tables(board)[0]
    assert first.title == "longmemeval: data.json (abababababab), judge lexical-2 0123456789ab, %"
    assert first.rows[0][:8] == (
        *("deep/high", "native", "m", "100.0", "34.2–100.0", "2", "0", "0"),
    )


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    made_run(tmp_path / "good", {"a": "yes"})
    made_run(tmp_path / "old", {"a": "yes"}, format=1)
    board = read_leaderboard(tmp_path)
    assert len(board.unread) == 1
    assert "old: made by another version" in board.unread[0]


def test_the_command_writes_three_files(harness: Harness, tmp_path: Path) -> None:
    runs, out = tmp_path / "runs", tmp_path / "out"
    made_run(runs / "a", {"a": "yes", "b": "no"})
    ended = harness("leaderboard", runs, "--out", out)
    assert ended.code == 0
    assert {path.name for path in out.iterdir()} == {
        "leaderboard.md",
        "leaderboard.html",
        "leaderboard.csv",
    }
    (row,) = csv.DictReader((out / "leaderboard.csv").read_text().splitlines())
    assert (row["run"], row["accuracy"], row["recall_all@5"]) == ("a", "0.5", "1.0")
    assert harness("leaderboard", out).code == 2
