"""The loader on real files: counts that the benchmark documents."""

import pickle
from collections import Counter
from pathlib import Path

import pytest

from harness.datasets.files import read_records
from harness.datasets.longmemeval import iterate_instances, load_longmemeval
from harness.datasets.questions import rounds_of
from harness.datasets.selection import part_of
from harness.lab.compilation.pool import Statements, read_pool

SHARED = Path(__file__).parents[4] / "shared" / "data"
pytestmark = pytest.mark.real_data


def real(name: str) -> Path:
    path = SHARED / name
    if not path.exists():
        pytest.skip("the development data is not there")
    return path


def test_the_oracle_slice() -> None:
    questions = load_longmemeval(real("longmemeval_oracle_dev100.json.xz"))
    assert len(questions) == 100
    assert sum(question.is_abstention for question in questions) == 6
    kept = {(q.question_id, q.question_type, q.is_abstention) for q in questions}
    assert {part_of(*one) for one in kept} == {"dev"}
    assert sum(question.answer_is_number for question in questions) == 7
    for question in questions:
        listed = {session.session_id for session in question.sessions}
        assert listed == set(question.evidence_session_ids)


def test_the_s_slice() -> None:
    questions = load_longmemeval(real("longmemeval_s_dev100.json.xz"))
    sessions = [session for question in questions for session in question.sessions]
    assert len(sessions) == 4781
    assert sum(len(session.turns) for session in sessions) == 49669
    started = [s.turns[0].role for s in sessions if s.turns]
    assert started.count("assistant") == 384
    assert {turn for s in sessions for r in rounds_of(s.turns) for turn in r.turns[:1]} >= {0}
    repeated = [q for q in questions if len({s.session_id for s in q.sessions}) < len(q.sessions)]
    assert len(repeated) == 3


def test_evidence_that_stands_as_a_filler_elsewhere_is_withheld_from_the_pool() -> None:
    records = read_records(real("longmemeval_s_dev100.json.xz"))
    pool = read_pool(iterate_instances(records, source="s"))
    assert (len(pool.outlines), pool.sessions) == (100, 4781)
    assert (len(pool.fillers), pool.withheld) == (4361, 16)


@pytest.mark.slow
def test_most_evidence_would_be_kept_out_as_a_filler() -> None:
    """What docs/benchmark.md says of the rule: the evidence stands for fillers that conflict."""
    questions = load_longmemeval(real("longmemeval_s_dev100.json.xz"))
    fillers, evidence = Statements(), {}
    for question in questions:
        for session in question.sessions:
            if session.session_id in question.evidence_session_ids:
                evidence[question.question_id, session.session_id] = session
    told = {session.turns for session in evidence.values()}
    for turns, session in {s.turns: s for q in questions for s in q.sessions}.items():
        if turns not in told:
            fillers.add(str(turns).encode(), session)
    kept_out = [len(fillers.nearest(question.question)) for question in questions]
    assert max(kept_out) / 4361 < 0.005
    without, found, counted = pickle.dumps(fillers), Counter[str](), Counter[str]()
    for question in questions:
        for session_id in question.evidence_session_ids:
            if question.is_abstention:
                continue
            statements = pickle.loads(without)
            statements.add(b"it", evidence[question.question_id, session_id])
            found[question.question_type] += b"it" in statements.nearest(question.question)
            counted[question.question_type] += 1
    one_fact, several = (
        [sum(count[name] for name in names) for count in (found, counted)]
        for names in (
            ("single-session-user", "knowledge-update"),
            ("multi-session", "temporal-reasoning"),
        )
    )
    assert (one_fact[1], several[1]) == (41, 115)
    assert one_fact[0] >= 37
    assert several[0] >= 72
