"""Compiled histories dated by the paper's rules."""

from pathlib import Path
from typing import Any

import pytest
from compiling import Compile, kayak_pool, shown
from histories import chat, history, write_data

from harness.datasets.longmemeval import load_longmemeval
from harness.datasets.questions import Question


def spread(question: Question) -> tuple[str, str]:
    """The first and the last day of the fillers."""
    evidence = set(question.evidence_session_ids)
    days = [s.session_date for s in question.sessions if s.session_id not in evidence]
    return f"{min(days):%m-%d}", f"{max(days):%m-%d}"


TWO_DAYS = history(
    ("answer_x_1", shown("2023/04/10 09:00"), chat("It was red.", has_answer=True)),
    ("answer_x_2", shown("2023/05/01 09:00"), chat("It is green now.", has_answer=True)),
    ("own", shown("2023/04/02 09:00"), chat("Morning!")),
    evidence=["answer_x_1", "answer_x_2"],
)
ONE_DAY = history(
    ("own", shown("2023/02/15 07:00"), chat("Morning!")),
    ("answer_x_1", shown("2023/02/15 09:00"), chat("Swam.", has_answer=True)),
    ("answer_x_2", shown("2023/02/15 18:00"), chat("Ran.", has_answer=True)),
    evidence=["answer_x_1", "answer_x_2"],
)


@pytest.mark.parametrize(
    ("kind", "facts", "asked", "first", "last", "evidence_stays"),
    [
        # Asked at the end of ten days, in which everything lies.
        ("single-session-user", {}, "2023/05/30 10:00", "05-20", "05-30", False),
        ("multi-session", TWO_DAYS, "2023/05/30 10:00", "05-20", "05-30", False),
        # What changes: within thirty days around the evidence, before the question.
        ("knowledge-update", TWO_DAYS, "2023/05/20 10:00", "03-11", "05-20", True),
        ("knowledge-update", TWO_DAYS, "2023/08/20 10:00", "03-11", "05-31", True),
        ("temporal-reasoning", TWO_DAYS, "2023/05/01 12:00", "03-11", "05-01", True),
        # A history of one day stays on it.
        ("temporal-reasoning", ONE_DAY, "2023/02/15 20:00", "02-15", "02-15", True),
        ("multi-session", ONE_DAY, "2023/02/15 20:00", "02-15", "02-15", True),
        ("temporal-reasoning", ONE_DAY, "2023/03/15 20:00", "02-15", "02-15", True),
        # Nobody wrote a rule for other types: their evidence keeps its dates.
        ("temporal", TWO_DAYS, "2023/05/20 10:00", "03-11", "05-20", True),
    ],
)
def test_dates_follow_the_paper_by_type(
    compiled: Compile,
    tmp_path: Path,
    kind: str,
    facts: dict[str, Any],
    asked: str,
    first: str,
    last: str,
    evidence_stays: bool,
) -> None:
    # Types of other benchmarks are only known to their loaders.
    told = kind if "-" in kind else "knowledge-update"
    records = kayak_pool(question_type=told, question_date=shown(asked), **facts)
    source = write_data(tmp_path / "d.json", records)
    question = compiled.question(source, "--sessions", 60, "--dates", "paper", "--depth", "0.5")
    found = spread(question)
    assert first <= found[0] <= found[1] <= last
    if first != last:
        assert found[0] < last
    before = {s.session_id: s.session_date for s in load_longmemeval(source)[0].sessions}
    kept = [
        s.session_date == before[s.session_id]
        for s in question.sessions
        if s.session_id in question.evidence_session_ids
    ]
    assert all(kept) if evidence_stays else not any(kept)
    assert question.question_date == load_longmemeval(source)[0].question_date


def test_evidence_keeps_its_own_order_under_new_dates(compiled: Compile, tmp_path: Path) -> None:
    records = kayak_pool(question_type="multi-session", **TWO_DAYS)
    source = write_data(tmp_path / "d.json", records)
    for seed in range(5):
        more = ("--sessions", 40, "--dates", "paper", "--seed", seed)
        ids = [s.session_id for s in compiled.question(source, *more).sessions]
        assert ids.index("answer_x_1") < ids.index("answer_x_2")
        assert len(set(ids)) == 40


def test_labels_survive_new_dates(compiled: Compile, tmp_path: Path) -> None:
    question = compiled.question(
        write_data(tmp_path / "d.json", kayak_pool()), "--tokens", 2000, "--dates", "paper"
    )
    labelled = [s.session_id for s in question.sessions if any(t.has_answer for t in s.turns)]
    assert labelled == list(question.evidence_session_ids)
