"""Compiled histories by tokens and depth."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from compiling import Compile, kayak_pool, places
from conversations import sample
from histories import write_data

from harness.datasets.longmemeval import date_text, load_longmemeval
from harness.errors import UsageError
from harness.lab.compilation.pool import Content, Filler, PlacedSession
from harness.lab.compilation.recipe import Draws, Recipe, arrange, parse_dates, parse_depth

NOON = datetime(2023, 5, 20, 12, tzinfo=UTC)
DRAWS = Draws(1, "q")


def content(name: str, characters: int = 100) -> Content:
    return Content(name.encode(), b"[]", 1, characters)


def fillers(count: int) -> list[Filler]:
    return [Filler(f"f{i}", content(f"f{i}")) for i in range(count)]


def needle(name: str, day: int) -> PlacedSession:
    when = NOON.replace(day=day)
    return PlacedSession(name, when, date_text(when), content(name, 10_000))


@pytest.mark.parametrize(
    ("depth", "needles", "gaps"),
    [
        (0.0, 1, [0, 20]),
        (0.25, 1, [5, 15]),
        (0.5, 1, [10, 10]),
        (1.0, 1, [20, 0]),
        (0.5, 3, [10, 0, 0, 10]),
        (0.5, 0, [20]),
    ],
)
def test_a_depth_is_the_share_of_fillers_before_the_evidence(
    depth: float, needles: int, gaps: list[int]
) -> None:
    evidence = [needle(f"e{i}", 10 + i) for i in range(needles)]
    arranged = arrange(evidence[::-1], fillers(20), depth, DRAWS)
    assert [len(gap) for gap in arranged.gaps] == gaps
    assert arranged.evidence == evidence
    assert len(arranged.in_order()) == 20 + needles


def test_uniform_depths_are_drawn_for_each_question_and_fill_the_whole_range() -> None:
    shares = [
        len(arrange([needle("e", 10)], fillers(40), None, Draws(1, f"q{i}")).gaps[0]) / 40
        for i in range(300)
    ]
    assert min(shares) < 0.1
    assert max(shares) > 0.9
    assert sum(shares) / 300 == pytest.approx(0.5, abs=0.05)


def test_a_smaller_history_is_part_of_a_larger_one() -> None:
    small = arrange([needle("e", 10)], fillers(10), 0.5, DRAWS).in_order()
    large = arrange([needle("e", 10)], fillers(20), 0.5, DRAWS).in_order()
    names = [one.session_id for one in small if isinstance(one, Filler)]
    assert [one.session_id for one in large if one.session_id in names] == names


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({}, "either --sessions or --tokens"),
        ({"sessions": 3, "tokens": 3}, "either --sessions or --tokens"),
    ],
)
def test_recipes_without_one_size(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        Recipe(**changes)


@pytest.mark.parametrize(
    ("text", "depth"), [(None, None), ("0", 0.0), ("1", 1.0), (".25", 0.25), ("uniform", "uniform")]
)
def test_depths(text: str | None, depth: object) -> None:
    assert parse_depth(text) == depth


@pytest.mark.parametrize("text", ["", "1.1", "-0.1", "nan", "deep"])
def test_depths_that_are_none(text: str) -> None:
    with pytest.raises(UsageError, match="--depth"):
        parse_depth(text)
    with pytest.raises(UsageError, match="--dates"):
        parse_dates(text)


@pytest.mark.parametrize("tokens", [500, 1000, 3000])
def test_histories_of_about_so_many_tokens(compiled: Compile, tmp_path: Path, tokens: int) -> None:
    question = compiled.question(write_data(tmp_path / "d.json", kayak_pool()), "--tokens", tokens)
    said = sum(len(turn.content) for session in question.sessions for turn in session.turns)
    assert abs(said // 4 - tokens) <= 50  # half a filler
    assert compiled.manifest["counts"]["tokens_estimate"] == said // 4
    assert compiled.manifest["options"]["tokens"] == tokens


def test_tokens_that_are_too_few_or_too_many(compiled: Compile, tmp_path: Path) -> None:
    source = write_data(tmp_path / "d.json", kayak_pool())
    ended = compiled(source, "--tokens", 1)
    assert (ended.code, "--tokens 1 is too small: question 'q" in ended.err) == (2, True)
    ended = compiled(source, "--tokens", 100_000)
    assert (ended.code, "lower --tokens to " in ended.err) == (2, True)
    assert "either --sessions or --tokens" in compiled(source).err
    assert "either" in compiled(source, "--tokens", 500, "--sessions", 5).err


@pytest.mark.parametrize("depth", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("dates", ["kept", "paper"])
def test_the_evidence_lies_at_the_depth_asked_for(
    compiled: Compile, tmp_path: Path, depth: float, dates: str
) -> None:
    source = write_data(tmp_path / "d.json", kayak_pool())
    more = ("--sessions", 41, "--depth", depth, "--dates", dates)
    question = compiled.question(source, *more)
    assert places(question) == [pytest.approx(depth, abs=0.03)]
    assert compiled.manifest["depth"]["mean"] == pytest.approx(depth, abs=0.03)
    dates_of = [session.session_date for session in question.sessions]
    assert dates_of == sorted(dates_of)
    if dates == "kept":
        evidence = next(s for s in question.sessions if s.session_id == "answer_ab12_1")
        assert f"{evidence.session_date:%Y-%m-%d %H:%M}" == "2023-05-20 02:21"
    assert max(dates_of) <= question.question_date


def test_uniform_depths_differ_by_question_and_by_seed(compiled: Compile, tmp_path: Path) -> None:
    source = write_data(tmp_path / "d.json", kayak_pool())
    drawn = set()
    for seed in range(4):
        more = ("--sessions", 30, "--depth", "uniform", "--seed", seed)
        assert compiled(source, *more).code == 0
        drawn |= {tuple(places(question)) for question in load_longmemeval(compiled.out)}
    assert len(drawn) > 10


@pytest.mark.parametrize(
    "more",
    [
        ("--sessions", 20),
        ("--tokens", 1500, "--depth", "uniform", "--dates", "paper"),
        ("--tokens", 900, "--depth", 0.5),
    ],
)
def test_the_same_command_writes_the_same_bytes(
    compiled: Compile, tmp_path: Path, more: tuple[object, ...]
) -> None:
    source = write_data(tmp_path / "d.json", kayak_pool())
    written = []
    for name in ("a.json.xz", "b.json.xz"):
        compiled.out = tmp_path / name
        assert compiled(source, *more).code == 0
        written.append(compiled.out.read_bytes())
    assert written[0] == written[1]


def test_locomo_by_tokens_and_depth(compiled: Compile, tmp_path: Path) -> None:
    people = []
    for number in range(4):
        names = (f"Ada{number}", f"Ben{number}")
        talk: dict[str, Any] = {"speaker_a": names[0], "speaker_b": names[1]}
        for n in range(1, 7):
            said = {"speaker": names[0], "dia_id": f"D{n}:1", "text": f"Story {number}.{n}. " * 20}
            talk[f"session_{n}"] = [said]
            talk[f"session_{n}_date_time"] = f"1:0{n} pm on {n} May, 2023"
        qa = [{"question": "What?", "answer": "a story", "evidence": ["D3:1"], "category": 4}]
        people.append(sample(f"conv-{number}", conversation=talk, qa=qa))
    source = tmp_path / "locomo.json"
    source.write_text(json.dumps(people))
    for dates in ("kept", "paper"):
        more = ("--tokens", 1000, "--depth", 1, "--dates", dates)
        ended = compiled(source, *more, dataset="locomo")
        assert ended.code == 0, ended.err
        for question in load_longmemeval(compiled.out):
            assert places(question) == [1.0]
            assert question.sessions[-1].session_id in question.evidence_session_ids
