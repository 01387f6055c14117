"""Run directories written by hand, for everything that looks at finished runs."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.records.manifest import FORMAT

JUDGE = {"id": "lexical-2", "hash": "0123456789ab"}


def made_run(
    path: Path,
    verdicts: Mapping[str, str | None],
    *,
    selected: Sequence[str] | None = None,
    kinds: Mapping[str, str] | None = None,
    histories: Mapping[str, str] | None = None,
    ranks: Mapping[str, int] | None = None,
    said: str = "",
    rounds: int = 12,
    searched: Sequence[str] | None = None,
    looks: Sequence[int] = (),
    **manifest: Any,
) -> Path:
    """A judged run: the verdict of each question (null: unscored), none for a missing one.

    `ranks` places each question's evidence in the rankings, first where it says nothing; `said` is
    added to every answer, and `rounds` are ranked for each question, those `searched` for. `looks`
    are the searches that the model made for the first answers. Keywords
    replace fields of the manifest; `dataset` and `version` are merged into theirs.
    """
    path.mkdir(parents=True)
    names = list(verdicts) if selected is None else list(selected)
    digests = [
        _digest(name, (kinds or {}).get(name, "multi-session"), (histories or {}).get(name, name))
        for name in names
    ]
    _write(path / "questions.jsonl", digests)
    hypotheses = [_hypothesis(name, said) for name in verdicts]
    for line, made in zip(hypotheses, looks, strict=False):
        line |= {"looks": made, "look_tokens": made * 10, "look_ms": made * 20.0}
    _write(path / "hypotheses.jsonl", hypotheses)
    rankings = [_ranking(name, (ranks or {}).get(name, 1), rounds) for name in searched or verdicts]
    _write(path / "retrieval.jsonl", rankings)
    _write(
        path / "verdicts.jsonl",
        [
            {"question_id": name, "verdict": verdict, "judge": "lexical-2", "raw": "because"}
            for name, verdict in verdicts.items()
        ],
    )
    (path / "manifest.json").write_text(json.dumps(_manifest(len(names), **manifest)))
    return path


def _manifest(n: int, **changes: Any) -> dict[str, Any]:
    dataset = {
        "name": "longmemeval",
        "file": "data.json",
        "size": 9,
        "sha256": "ab" * 32,
        "edition": None,
        "questions": n,
        "gold": None,
    } | changes.pop("dataset", {})
    version = {"version": "1", "settings": {"port": 1}} | changes.pop("version", {})
    return {
        "format": FORMAT,
        "harness_version": "0",
        "dataset": dataset,
        "filters": {},
        "selected": n,
        "mode": "native",
        "assistant": {"url": "http://a", "model": "m", "version": version},
        "judge": JUDGE,
        "second_judge": None,
        "invocations": [{"stage": "replay", "seconds": 1.0}],
        **changes,
    }


def _digest(name: str, kind: str, history: str) -> dict[str, Any]:
    return {
        "question_id": name,
        "question_type": kind,
        "is_abstention": False,
        "question": f"What of {name}?",
        "answer": f"gold {name}",
        "question_date": "2023-05-30T10:00:00Z",
        "evidence_session_ids": ["s1"],
        "evidence_rounds": ["1:0"],
        "official_session_targets": ["s1"],
        "official_turn_targets": ["s1_1"],
        "history_id": history,
        "evidence_begins": ["2023-05-20 user: The kayak I bought is turquoise."],
    }


def _hypothesis(name: str, said: str) -> dict[str, Any]:
    return {
        "question_id": name,
        "hypothesis": f"said of {name}{said}",
        "question_date": "2023-05-30T10:00:00Z",
        "answer_ms": 100.0,
        "prompt_tokens": 1000 + 7 * (sum(name.encode()) % 50),
        "completion_tokens": 10,
    }


def _ranking(name: str, rank: int, rounds: int) -> dict[str, Any]:
    """So many sessions of one round each; the evidence is `s1`, at `rank`."""
    order = [f"s{i}" for i in range(2, rounds + 1)]
    order.insert(rank - 1, "s1")
    return {
        "question_id": name,
        "user_id": "u",
        "ranked_sessions": [
            {
                "session_id": session,
                "position": int(session[1:]),
                "session_date": "2023-05-20T10:00:00Z",
                "similarity": 1 - i / 100,
                "official_id": session,
            }
            for i, session in enumerate(order)
        ],
        "ranked_rounds": [
            {
                "session_id": session,
                "position": int(session[1:]),
                "round_index": 0,
                "session_date": "2023-05-20T10:00:00Z",
                "begins": f"This is how the round of {session} begins. " * 3,
                "similarity": 1 - i / 100,
                "characters": 4000 if rounds <= 12 else 1000,
                "official_id": f"{session}_1",
            }
            for i, session in enumerate(order)
        ],
        "search_ms": {"round": 5.0, "session": 5.0},
    }


def _write(path: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
