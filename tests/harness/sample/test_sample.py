"""The built-in sample: its format, its pool, its odd but legal cases, and that nothing varies."""

import json
import os
import subprocess
import sys
from collections import Counter
from importlib.resources import files
from itertools import pairwise

import pytest
from sampled import (
    BY_ID,
    FIELDS,
    POOL,
    SAMPLE,
    TYPES,
    Dated,
    Instance,
    day_of,
    evidence,
    haystack,
    instant_of,
    is_abstention,
)

from harness.datasets.sample import build_sample

# Format


@pytest.mark.parametrize("instance", SAMPLE, ids=lambda i: i["question_id"])
def test_instances_have_the_format_of_longmemeval(instance: Instance) -> None:
    assert set(instance) == FIELDS
    assert instance["question_type"] in TYPES
    assert isinstance(instance["answer"], str | int)
    assert 12 <= len(haystack(instance)) <= 30
    for stamp in [instance["question_date"], *instance["haystack_dates"]]:
        assert f"{instant_of(stamp):%Y/%m/%d (%a) %H:%M}" == stamp
        assert day_of(stamp).year in (2024, 2025)
        assert day_of(stamp) <= day_of(instance["question_date"])


@pytest.mark.parametrize("instance", SAMPLE, ids=lambda i: i["question_id"])
def test_turns_have_a_role_and_labels_stand_on_evidence_only(instance: Instance) -> None:
    for session in haystack(instance):
        is_evidence = session.session_id.startswith("answer_")
        assert is_evidence == (session.session_id in instance["answer_session_ids"])
        for turn in session.turns:
            assert set(turn) == {"role", "content"} | ({"has_answer"} if is_evidence else set())
            assert turn["role"] in ("user", "assistant")
            assert turn["content"] == turn["content"].strip() != ""


@pytest.mark.parametrize("instance", SAMPLE, ids=lambda i: i["question_id"])
def test_every_listed_session_is_there_once_and_carries_evidence(instance: Instance) -> None:
    assert sorted(s.session_id for s in evidence(instance)) == sorted(
        instance["answer_session_ids"]
    )
    if not is_abstention(instance):
        assert all(session.evidence_text for session in evidence(instance))


def test_evidence_is_said_by_the_role_the_type_names() -> None:
    for instance in SAMPLE:
        roles = {t["role"] for s in evidence(instance) for t in s.turns if t["has_answer"]}
        expected = (
            "assistant" if instance["question_type"] == "single-session-assistant" else "user"
        )
        assert roles <= {expected}


def test_counts_per_type() -> None:
    answerable = Counter(i["question_type"] for i in SAMPLE if not is_abstention(i))
    assert set(answerable) == TYPES
    assert min(answerable.values()) >= 5
    assert sum(map(is_abstention, SAMPLE)) >= 4
    assert len(SAMPLE) >= 34


def test_questions_and_evidence_are_distinct() -> None:
    assert len(BY_ID) == len(SAMPLE)
    evidence_ids = [session_id for i in SAMPLE for session_id in i["answer_session_ids"]]
    assert len(set(evidence_ids)) == len(evidence_ids)


# The pool


def test_pool_is_large_and_varied() -> None:
    lengths = [len(turns) for turns in POOL.values() if turns]
    assert len(lengths) >= 45
    assert min(lengths) >= 2
    assert max(lengths) <= 10
    assert len(set(lengths)) >= 5
    words = [len(t["content"].split()) for s in POOL.values() for t in s if t["role"] != "user"]
    assert sum(60 <= count <= 200 for count in words) >= 45


def test_pool_repeats_no_turn_and_looks_like_no_evidence() -> None:
    contents = [turn["content"] for turns in POOL.values() for turn in turns]
    assert len(set(contents)) == len(contents)
    assert not any("answer" in session_id for session_id in POOL)


def test_data_files_stay_small() -> None:
    for name in ("pool.json", "questions.json"):
        assert len(files("harness.datasets.sample").joinpath(name).read_bytes()) < 300_000


# Determinism


def test_every_call_returns_equal_data_of_its_own() -> None:
    first = build_sample()
    assert first == SAMPLE
    for instance in first:
        for turns in instance["haystack_sessions"]:
            turns.append({"role": "user", "content": "spoilt"})
    assert build_sample() == SAMPLE


def test_hash_seed_does_not_matter() -> None:
    script = (
        "import json; from harness.datasets.sample import build_sample as b; print(json.dumps(b()))"
    )
    environment = os.environ | {"PYTHONHASHSEED": "4711"}
    output = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, check=True, text=True
    ).stdout
    assert json.loads(output) == SAMPLE


# Odd but legal cases


def starts_with_assistant(session: Dated) -> bool:
    return session.turns[:1] != [] and session.turns[0]["role"] == "assistant"


def has_two_user_turns_in_a_row(session: Dated) -> bool:
    return any(a["role"] == b["role"] == "user" for a, b in pairwise(session.turns))


def is_unsorted_within_a_day(instance: Instance) -> bool:
    return any(a.day == b.day and a.session_date > b.session_date for a, b in pairs_of(instance))


def pairs_of(instance: Instance) -> list[tuple[Dated, Dated]]:
    return list(pairwise(haystack(instance)))


def test_haystacks_are_sorted_by_day() -> None:
    assert all(a.day <= b.day for instance in SAMPLE for a, b in pairs_of(instance))


def test_some_sessions_start_with_the_assistant() -> None:
    assert any(starts_with_assistant(s) for i in SAMPLE for s in evidence(i))
    assert any(
        starts_with_assistant(s) for i in SAMPLE for s in haystack(i) if s.session_id in POOL
    )


def test_some_sessions_have_two_user_turns_in_a_row() -> None:
    assert any(has_two_user_turns_in_a_row(s) for i in SAMPLE for s in evidence(i))
    assert any(has_two_user_turns_in_a_row(s) for i in SAMPLE for s in haystack(i))


def test_some_session_is_empty() -> None:
    assert any(session.turns == [] for i in SAMPLE for session in haystack(i))


def test_some_answers_are_integers() -> None:
    assert sum(isinstance(i["answer"], int) for i in SAMPLE) >= 2


def test_some_evidence_of_one_day_is_out_of_order() -> None:
    instance = BY_ID["c93e1b50"]
    assert is_unsorted_within_a_day(instance)
    _, morning, evening = evidence(instance)
    assert morning.day == evening.day
    assert haystack(instance).index(evening) < haystack(instance).index(morning)


def test_some_question_is_dated_before_its_evidence_on_the_same_day() -> None:
    instance = BY_ID["c40b7e58"]
    (session,) = evidence(instance)
    assert session.day == day_of(instance["question_date"])
    assert session.session_date > instance["question_date"]


def test_some_fillers_occur_twice_with_different_dates() -> None:
    repeated = [i for i in SAMPLE if len(set(i["haystack_session_ids"])) < len(haystack(i))]
    assert len(repeated) >= 2
    for instance in SAMPLE:
        pairs = [(s.session_id, s.day) for s in haystack(instance)]
        assert len(set(pairs)) == len(pairs)
