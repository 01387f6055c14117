"""Compiled files: which bytes, which questions, their manifest, and what cannot be made."""

import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest
from compiling import Compile, Harness, numbered_pool, sessions_of, texts
from histories import write_data
from scripted_assistant import ScriptedAssistant

from harness.datasets.longmemeval import load_longmemeval


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_data(tmp_path / "source.json", numbered_pool())


# Which bytes


def test_the_same_command_writes_the_same_bytes(compiled: Compile, source: Path) -> None:
    compiled.records(source, "--seed", 3)
    first = (compiled.out.read_bytes(), compiled.manifest)
    compiled.records(source, "--seed", 3)
    assert (compiled.out.read_bytes(), compiled.manifest) == first


def test_another_seed_changes_the_draw_and_nothing_else(compiled: Compile, source: Path) -> None:
    one, two = (compiled.records(source, "--seed", seed) for seed in (1, 2))
    for before, original, after in zip(one, numbered_pool(), two, strict=True):
        assert set(texts(before)) != set(texts(after))
        common = set(sessions_of(before)) & set(sessions_of(after))
        assert common == set(sessions_of(original))
        apart = {name for name in before if before[name] != after[name]}
        assert apart == {"haystack_session_ids", "haystack_dates", "haystack_sessions"}


def test_a_history_depends_neither_on_other_questions_nor_on_its_size(
    compiled: Compile, source: Path
) -> None:
    whole = compiled.records(source, sessions=40)
    assert compiled.records(source, "--ids", "q4", sessions=40) == [whole[4]]
    smaller = compiled.records(source, sessions=20)
    for small, large in zip(smaller, whole, strict=True):
        assert set(sessions_of(small)) < set(sessions_of(large))


@pytest.mark.parametrize(
    ("name", "unpack"),
    [
        ("out.json", bytes),
        ("out.json.gz", gzip.decompress),
        ("out.json.xz", lzma.decompress),
    ],
)
def test_the_suffix_decides_how_it_is_packed(
    compiled: Compile, source: Path, name: str, unpack: Callable[[bytes], bytes]
) -> None:
    compiled.out = compiled.out.with_name(name)
    records = compiled.records(source)
    packed = compiled.out.read_bytes()
    assert json.loads(unpack(packed)) == records
    assert compiled.records(source) == records
    assert compiled.out.read_bytes() == packed
    assert compiled.manifest["output"]["bytes"] == len(packed)


def test_json_lines_hold_the_same_records(compiled: Compile, source: Path) -> None:
    records = compiled.records(source)
    compiled.out = compiled.out.with_name("out.jsonl.gz")
    assert compiled.records(source) == records
    lines = gzip.decompress(compiled.out.read_bytes()).splitlines()
    assert [json.loads(line) for line in lines] == records


# Questions, manifest, refusals


@pytest.mark.parametrize(
    ("arguments", "ids"),
    [
        (("--types", "multi-session"), ["q2", "q5"]),
        (("--ids", "q4,q1"), ["q1", "q4"]),
        (("--types", "multi-session,temporal-reasoning", "--ids", "q1,q2"), ["q1", "q2"]),
    ],
)
def test_questions_are_selected_in_file_order(
    compiled: Compile, source: Path, arguments: tuple[str, ...], ids: list[str]
) -> None:
    assert [record["question_id"] for record in compiled.records(source, *arguments)] == ids


def test_questions_are_drawn_with_the_seed(compiled: Compile, source: Path) -> None:
    def drawn(*arguments: object) -> list[str]:
        return [record["question_id"] for record in compiled.records(source, *arguments)]

    selections = {tuple(drawn("--questions", 3, "--seed", seed)) for seed in range(6)}
    assert len(selections) > 1
    for selection in selections:
        assert list(selection) == sorted(selection)
        assert len(selection) == 3
    assert len(drawn("--per-type", 1)) == 3
    assert len(drawn("--per-type", 1, "--questions", 2)) == 2


def test_the_manifest_says_where_it_came_from_and_what_was_made(
    compiled: Compile, source: Path
) -> None:
    records = compiled.records(source, "--seed", 7, "--questions", 2)
    made = compiled.manifest
    assert len(made["source"]["sha256"]) == len(made["output"]["sha256"]) == 64
    assert made["source"]["distinct_fillers"] == 48
    assert made["options"] == {
        **{"types": [], "ids": [], "per_type": None, "questions": 2, "seed": 7},
        **{"sessions": 30, "keep_fillers": True, "lead_days": 30},
        **{"tokens": None, "depth": None, "dates": "kept"},
    }
    questions = load_longmemeval(compiled.out)
    characters = sum(len(t.content) for q in questions for s in q.sessions for t in s.turns)
    counts = dict(made["counts"])
    assert sum(counts.pop("questions_by_type").values()) == 2
    assert counts == {
        **{"questions": 2, "sessions": 60, "evidence_sessions": 2, "own_fillers": 16},
        **{"drawn_fillers": 42, "rounds": 60, "characters": characters},
        "tokens_estimate": characters // 4,
    }
    assert [record["question_id"] for record in records] == [q.question_id for q in questions]


def test_a_pool_that_is_too_small_says_how_far_it_goes(compiled: Compile, source: Path) -> None:
    ended = compiled(source, sessions=50)
    assert ended.code == 2
    assert f"{source}: too few distinct sessions for histories of 50: 48 fillers" in ended.err
    assert "lower --sessions to 49" in ended.err
    assert list(compiled.out.parent.iterdir()) == [source]
    assert compiled(source, sessions=49).code == 0
    assert "lower --sessions to 41" in compiled(source, "--no-keep-fillers", sessions=49).err


def test_a_place_that_cannot_be_written_is_named(compiled: Compile, source: Path) -> None:
    compiled.out = source
    assert "is the file to read" in compiled(source, sessions=30).err
    compiled.out = source.with_name("out.csv")
    assert "expected a name that ends in one of .json" in compiled(source, sessions=30).err
    compiled.out = source.parent / "nowhere" / "out.json"
    ended = compiled(source, sessions=30)
    assert (ended.code, "cannot be written (No such file" in ended.err) == (2, True)


def test_a_compiled_file_is_a_data_set_like_any_other(
    compiled: Compile, source: Path, harness: Harness, assistant: ScriptedAssistant, tmp_path: Path
) -> None:
    compiled.out = tmp_path / "out.json.xz"
    compiled.records(source, "--questions", 2, sessions=12)
    ended = harness(
        *("retrieval", "--dataset", "longmemeval", "--file", compiled.out),
        *("--assistant", assistant.url, "--out", tmp_path / "run"),
    )
    assert ended.code == 0, ended.err
    lines = (tmp_path / "run" / "ingest.jsonl").read_text().splitlines()
    assert [json.loads(line)["sessions"] for line in lines] == [12, 12]


def test_the_built_in_set_is_a_pool_too(harness: Harness, tmp_path: Path) -> None:
    out = tmp_path / "big.json"
    ended = harness(
        *("compile", "--dataset", "sample", "--out", out),
        *("--sessions", 60, "--per-type", 1),
    )
    assert ended.code == 0, ended.err
    assert "7 histories, 60 sessions" in ended.out
    assert {len(question.sessions) for question in load_longmemeval(out)} == {60}
