"""Which questions a run is about."""

import hashlib

import pytest
from histories import instance

from harness.datasets.longmemeval import parse_instances
from harness.datasets.questions import Question
from harness.datasets.selection import Filters, part_of, select
from harness.errors import UsageError

TYPES = ("multi-session", "knowledge-update")


@pytest.fixture
def questions() -> list[Question]:
    records = [instance(f"q{i}", question_type=TYPES[i % 2]) for i in range(10)]
    return parse_instances(records, source="f")


def ids(questions: list[Question], **filters: object) -> list[str]:
    return [q.question_id for q in select(questions, Filters(**filters))]  # type: ignore[arg-type]


def test_filters_combine_in_file_order(questions: list[Question]) -> None:
    assert ids(questions) == [f"q{i}" for i in range(10)]
    assert ids(questions, limit=2) == ["q0", "q1"]
    assert ids(questions, types=("knowledge-update",), limit=2) == ["q1", "q3"]
    assert ids(questions, ids=("q7", "q2")) == ["q2", "q7"]


def test_a_limit_takes_the_types_in_turn() -> None:
    kinds = ("temporal-reasoning",) * 3 + ("knowledge-update",) + ("multi-session",) * 2
    records = [instance(f"q{i}", question_type=kind) for i, kind in enumerate(kinds)]
    ordered = parse_instances(records, source="f")
    assert ids(ordered, limit=3) == ["q0", "q3", "q4"]
    assert ids(ordered, limit=5) == ["q0", "q1", "q3", "q4", "q5"]
    assert ids(ordered, limit=3, spread=False) == ["q0", "q1", "q2"]
    assert ids(ordered, limit=99) == [f"q{i}" for i in range(6)]


def test_a_draw_is_fair_by_type_and_repeats_with_its_seed(questions: list[Question]) -> None:
    drawn = ids(questions, per_type=2, seed=5)
    assert len(drawn) == 4
    assert sum(int(name[1:]) % 2 for name in drawn) == 2
    assert drawn == ids(questions, per_type=2, seed=5)
    assert len({tuple(ids(questions, per_type=2, seed=seed)) for seed in range(8)}) > 1
    assert len(ids(questions, per_type=99)) == 10


def test_abstention_is_a_type_of_its_own() -> None:
    names = ("q0", "q1", "q2_abs", "q3_abs", "q4", "q5", "q6_abs")
    records = [instance(name, question_type=TYPES[i // 4]) for i, name in enumerate(names)]
    ordered = parse_instances(records, source="f")
    drawn = ids(ordered, per_type=1, seed=3)
    assert (len(drawn), sum(name.endswith("_abs") for name in drawn)) == (3, 1)
    assert len(ids(ordered, per_type=1, seed=3, spread=False)) == 2
    assert ids(ordered, limit=3) == ["q0", "q2_abs", "q4"]


def test_each_question_of_longmemeval_is_in_one_of_two_parts() -> None:
    names = [f"q{i}" for i in range(40)] + [f"q{i}_abs" for i in range(40)]
    records = [instance(name, question_type="multi-session") for name in names]
    ordered = parse_instances(records, source="f")
    developed, rest = ids(ordered, split="dev"), ids(ordered, split="rest")
    assert (sorted(developed + rest), set(developed) & set(rest)) == (sorted(names), set())
    by_hash = sorted(names, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    for is_abstention in (False, True):
        group = [name for name in by_hash if name.endswith("_abs") is is_abstention]
        first = [name for name in developed if name.endswith("_abs") is is_abstention]
        assert 0 < len(first) < 20
        assert set(first) == set(group[: len(first)])
    with pytest.raises(UsageError, match="has no type multi-hop"):
        part_of("q1", "multi-hop", False)
    assert part_of("q1", "single-session-preference", True) == "rest"


def test_what_the_data_does_not_have_is_named(questions: list[Question]) -> None:
    with pytest.raises(UsageError, match="no question of id q77"):
        ids(questions, ids=("q1", "q77"))
    with pytest.raises(UsageError, match="type riddle; it has knowledge-update, multi-session"):
        ids(questions, types=("riddle",))
    with pytest.raises(UsageError, match="no question matches"):
        ids(questions, ids=("q1",), types=("multi-session",))
