"""The loader on real files: counts that the benchmark documents."""

from pathlib import Path

import pytest

from harness.compilation.pool import read_pool
from harness.datasets.files import read_records
from harness.datasets.longmemeval import iterate_instances, load_longmemeval
from harness.datasets.questions import rounds_of

SHARED = Path(__file__).parents[3] / "shared" / "data"
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
