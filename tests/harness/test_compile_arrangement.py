"""Compiled histories by tokens, depth and date rules, and which fillers are kept out."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from benches import Finished
from conversations import sample
from histories import chat, history, instance, write_data

from harness.compilation.arrangement import arrange
from harness.compilation.compiler import manifest_path
from harness.compilation.conflicts import Statements
from harness.compilation.draws import Draws
from harness.compilation.pool import Content, Filler, PlacedSession
from harness.compilation.recipe import Recipe, parse_dates, parse_depth
from harness.datasets.files import read_records
from harness.datasets.longmemeval import date_text, load_longmemeval
from harness.datasets.questions import HaystackSession, Question, Turn
from harness.errors import UsageError

Harness = Callable[..., Finished]
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


# Fillers that say something about what is asked

KAYAK = "What colour is the kayak I bought?"


@pytest.mark.parametrize(
    ("question", "said", "is_near"),
    [
        (KAYAK, "I just bought a red kayak.", True),
        (KAYAK, "My kayaks were both bought used.", True),
        (KAYAK, "Which colour should my kayak have?", True),
        (KAYAK, "My brother is in a kayak.", False),
        (KAYAK, "People have bought a kayak of any colour.", False),
        (KAYAK, "I like colour. My kayak is fine.", True),
        ("How many days ago did I adopt a cat?", "I adopted a cat last week.", True),
        ("How many days ago did I adopt a cat?", "How many days ago did I call?", False),
        ("What is my name?", "My name is Ada.", False),
    ],
)
def test_what_users_say_of_themselves_is_near_a_question(
    question: str, said: str, is_near: bool
) -> None:
    statements = Statements()
    statements.add(b"other", _session(Turn("user", "I sleep well.")))
    statements.add(b"key", _session(Turn("user", f"Hello! {said} Bye.")))
    statements.add(b"heard", _session(Turn("user", "Hm."), Turn("assistant", said)))
    assert statements.nearest(question) == ({b"key"} if is_near else set())


@pytest.mark.parametrize(("sessions", "nearest"), [(4, 4), (1000, 5), (2000, 8)])
def test_no_more_sessions_are_near_than_can_be_about_one_thing(sessions: int, nearest: int) -> None:
    statements = Statements()
    said = ["I bought a kayak."] * (sessions - 1) + ["I bought a kayak, its colour is red."]
    for number, text in enumerate(said):
        statements.add(b"%04d" % number, _session(Turn("user", text)))
    nearest_first = [b"%04d" % (sessions - 1), *(b"%04d" % i for i in range(nearest - 1))]
    assert statements.nearest(KAYAK) == set(nearest_first)


def test_of_no_session_none_is_near() -> None:
    assert Statements().nearest(KAYAK) == set()


def _session(*turns: Turn) -> HaystackSession:
    return HaystackSession(0, "s", NOON, turns)


# Whole files


def shown(day: str) -> str:
    return f"{datetime.strptime(day, '%Y/%m/%d %H:%M'):%Y/%m/%d (%a) %H:%M}"  # noqa: DTZ007


def pool(**first: Any) -> list[dict[str, Any]]:
    """A question about a kayak, and others whose sessions serve as its fillers."""
    records = [instance("q0", **first)]
    for number in range(1, 6):
        sessions = [
            (
                f"f{number}_{i}",
                shown(f"2023/05/2{i % 10} 08:00"),
                chat(f"I dreamt of number {number}{i}. " + "Well. " * 50),
            )
            for i in range(12)
        ]
        labelled = chat(f"Truth {number}.", has_answer=True)
        evidence = (f"e{number}", shown("2023/05/20 09:00"), labelled)
        facts = history(*sessions, evidence, evidence=[f"e{number}"])
        records.append(instance(f"q{number}", **facts))
    return records


class Compile:
    def __init__(self, harness: Harness, folder: Path) -> None:
        self._harness = harness
        self.out = folder / "out.json"

    def __call__(self, source: Path, *arguments: object, dataset: str = "longmemeval") -> Finished:
        return self._harness(
            *("compile", "--dataset", dataset, "--file", source, "--out", self.out, *arguments)
        )

    def question(self, source: Path, *arguments: object) -> Question:
        """The kayak's, compiled alone."""
        ended = self(source, "--ids", "q0", *arguments)
        assert ended.code == 0, ended.err
        (question,) = load_longmemeval(self.out)
        return question

    @property
    def manifest(self) -> dict[str, Any]:
        made: dict[str, Any] = json.loads(manifest_path(self.out).read_text())
        return made


@pytest.fixture
def compiled(harness: Harness, tmp_path: Path) -> Compile:
    return Compile(harness, tmp_path)


def places(question: Question) -> list[float]:
    """Where the evidence stands: the share of sessions before it."""
    ids = [session.session_id for session in question.sessions_by_date()]
    total = len(ids) - len(question.evidence_session_ids)
    before = [ids.index(name) - n for n, name in enumerate(question.evidence_session_ids)]
    return [number / total for number in before]


@pytest.mark.parametrize("tokens", [500, 1000, 3000])
def test_histories_of_about_so_many_tokens(compiled: Compile, tmp_path: Path, tokens: int) -> None:
    question = compiled.question(write_data(tmp_path / "d.json", pool()), "--tokens", tokens)
    said = sum(len(turn.content) for session in question.sessions for turn in session.turns)
    assert abs(said // 4 - tokens) <= 50  # half a filler
    assert compiled.manifest["counts"]["tokens_estimate"] == said // 4
    assert compiled.manifest["options"]["tokens"] == tokens


def test_tokens_that_are_too_few_or_too_many(compiled: Compile, tmp_path: Path) -> None:
    source = write_data(tmp_path / "d.json", pool())
    ended = compiled(source, "--tokens", 1)
    assert (ended.code, "--tokens 1 has no room: question 'q" in ended.err) == (2, True)
    ended = compiled(source, "--tokens", 100_000)
    assert (ended.code, "lower --tokens to " in ended.err) == (2, True)
    assert "either --sessions or --tokens" in compiled(source).err
    assert "either" in compiled(source, "--tokens", 500, "--sessions", 5).err


@pytest.mark.parametrize("depth", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("dates", ["kept", "paper"])
def test_the_evidence_lies_at_the_depth_asked_for(
    compiled: Compile, tmp_path: Path, depth: float, dates: str
) -> None:
    source = write_data(tmp_path / "d.json", pool())
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
    source = write_data(tmp_path / "d.json", pool())
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
    source = write_data(tmp_path / "d.json", pool())
    written = []
    for name in ("a.json.xz", "b.json.xz"):
        compiled.out = tmp_path / name
        assert compiled(source, *more).code == 0
        written.append(compiled.out.read_bytes())
    assert written[0] == written[1]


def test_what_a_filler_says_about_the_question_keeps_it_out(
    compiled: Compile, tmp_path: Path
) -> None:
    records = pool()
    rival = chat("I bought a second kayak, its colour is olive.")
    records[1]["haystack_session_ids"].append("rival")
    records[1]["haystack_dates"].append(shown("2023/05/22 11:00"))
    records[1]["haystack_sessions"].append(rival)
    source = write_data(tmp_path / "d.json", records)
    assert "olive" not in json.dumps(_read(compiled, source, "q0", 60))
    assert compiled.manifest["conflicts_a_question"] == 1.0
    about_dreams = [dict(records[0], question_id="q9", question="Where did I sleep?"), *records[1:]]
    source = write_data(tmp_path / "other.json", about_dreams)
    assert "olive" in json.dumps(_read(compiled, source, "q9", 62))


def _read(compiled: Compile, source: Path, name: str, sessions: int) -> list[dict[str, Any]]:
    ended = compiled(source, "--ids", name, "--sessions", sessions)
    assert ended.code == 0, ended.err
    return list(read_records(compiled.out))


# The paper's rules for dates


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
    records = pool(question_type=told, question_date=shown(asked), **facts)
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
    records = pool(question_type="multi-session", **TWO_DAYS)
    source = write_data(tmp_path / "d.json", records)
    for seed in range(5):
        more = ("--sessions", 40, "--dates", "paper", "--seed", seed)
        ids = [s.session_id for s in compiled.question(source, *more).sessions]
        assert ids.index("answer_x_1") < ids.index("answer_x_2")
        assert len(set(ids)) == 40


def test_labels_survive_new_dates(compiled: Compile, tmp_path: Path) -> None:
    question = compiled.question(
        write_data(tmp_path / "d.json", pool()), "--tokens", 2000, "--dates", "paper"
    )
    labelled = [s.session_id for s in question.sessions if any(t.has_answer for t in s.turns)]
    assert labelled == list(question.evidence_session_ids)


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
