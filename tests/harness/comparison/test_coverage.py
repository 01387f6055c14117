"""Which evidence only one of two runs had in its prompt."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benches import Finished
from made_runs import made_run

from harness.comparison.build import build_comparison
from harness.comparison.runs import load_runs

Harness = Callable[..., Finished]
VERDICTS = {"a": "yes", "b": "no", "c": "yes", "d": "no"}
FIRST = {"a": [True, True], "b": [False, False], "c": [True, False], "d": [True, True]}
SECOND = {"a": [True, False], "b": [False, True], "c": [False, True], "d": [True, True]}


def with_prompts(path: Path, found: Mapping[str, list[bool]], **made: Any) -> Path:
    run = made_run(path, **{"verdicts": VERDICTS} | made)
    lines = [
        {
            "question_id": key,
            "requests": 1,
            "characters": 40,
            "tokens_estimate": 10,
            "evidence_turns": [
                {
                    "position": 3,
                    "turn": 2 * i,
                    "role": "user",
                    "characters": 9,
                    "found": is_found,
                    "text": f"Told {i} of {key}.",
                }
                for i, is_found in enumerate(each)
            ],
        }
        for key, each in found.items()
    ]
    (run / "prompts.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return run


def covered(*paths: Path) -> dict[str, Any]:
    coverage: dict[str, Any] = build_comparison(load_runs(paths))["comparisons"][0]["coverage"]
    return coverage


def test_each_piece_that_only_one_prompt_held_is_named(tmp_path: Path) -> None:
    found = covered(with_prompts(tmp_path / "a", FIRST), with_prompts(tmp_path / "b", SECOND))
    assert (found["n"], found["by_basis"]) == (4, {"prompt": 4})
    assert {one["question_id"]: one["kind"] for one in found["questions"]} == {
        "a": "lost",
        "b": "gained",
        "c": "both",
    }
    lost = found["questions"][0]["evidence"]
    assert lost[1] == {
        "text": "session 3, turn 2, user: Told 1 of a.",
        "first": True,
        "second": False,
    }
    counts = {one["kind"]: (one["questions"], one["evidence"]) for one in found["kinds"]}
    assert counts == {"lost": (1, 1), "gained": (1, 1), "both": (1, 2), "same": (1, 0)}


def test_rankings_stand_for_prompts_that_nobody_recorded(tmp_path: Path) -> None:
    first = made_run(tmp_path / "a", VERDICTS)
    second = with_prompts(tmp_path / "b", {"a": [False]}, ranks={"a": 9, "b": 5})
    found = covered(first, second)
    assert found["by_basis"] == {"ranking": 4}
    (lost,) = found["questions"]
    assert (lost["question_id"], lost["kind"]) == ("a", "lost")
    assert "The kayak I bought is turquoise." in lost["evidence"][0]["text"]


def test_the_command_shows_them_on_the_terminal_and_on_its_page(
    harness: Harness, tmp_path: Path
) -> None:
    runs = with_prompts(tmp_path / "a", FIRST), with_prompts(tmp_path / "b", SECOND)
    short = harness("compare", *runs, "--out", tmp_path / "both")
    assert "only base has some" in short.out
    assert "Told 1 of a." not in short.out
    shown = " ".join(harness("compare", *runs, "--coverage").out.split())
    assert "Evidence that only one had" in shown
    page = (tmp_path / "both" / "compare.html").read_text()
    assert "<dt>only in a</dt><dd>session 3, turn 2, user: Told 1 of a.</dd>" in page
    assert "Told 1 of a." in (tmp_path / "both" / "compare.md").read_text()
