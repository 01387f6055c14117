"""Compiled histories: what is kept, what is drawn, and that nothing else varies."""

import gzip
import json
import lzma
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from benches import Finished
from histories import chat, history, instance, turn, write_data
from scripted_assistant import ScriptedAssistant

from harness.datasets.files import read_records
from harness.datasets.longmemeval import load_longmemeval

Harness = Callable[..., Finished]
TYPES = ("single-session-user", "temporal-reasoning", "multi-session")


def shown(day: str) -> str:
    return f"{datetime.strptime(day, '%Y/%m/%d %H:%M'):%Y/%m/%d (%a) %H:%M}"  # noqa: DTZ007


def pool() -> list[dict[str, Any]]:
    """Six questions, each with one evidence session and eight fillers under recurring ids."""
    return [
        instance(
            f"q{number}",
            question_type=TYPES[number % 3],
            answer=number,
            question_date=shown("2023/05/30 10:00"),
            **history(
                *(
                    (f"f_{i}", shown(f"2023/05/2{i} 08:00"), chat(f"Filler {i} of {number}."))
                    for i in range(8)
                ),
                (f"ev_{number}", shown(f"2023/05/2{number} 09:00"), evidence(number)),
                evidence=[f"ev_{number}"],
            ),
        )
        for number in range(6)
    ]


def evidence(number: int) -> list[dict[str, Any]]:
    return [turn("user", f"Fact {number} \ud83d", has_answer=True), turn("assistant", "Noted.")]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_data(tmp_path / "source.json", pool())


class Compile:
    """Compiles in this process and reads back what was written."""

    def __init__(self, harness: Harness, folder: Path) -> None:
        self._harness = harness
        self.out = folder / "out.json"

    def __call__(self, source: Path, *arguments: object, sessions: int = 30) -> Finished:
        return self._harness(
            *("compile", "--dataset", "longmemeval", "--file", source),
            *("--out", self.out, "--sessions", sessions, *arguments),
        )

    def records(self, source: Path, *arguments: object, sessions: int = 30) -> list[dict[str, Any]]:
        ended = self(source, *arguments, sessions=sessions)
        assert ended.code == 0, ended.err
        return list(read_records(self.out))

    @property
    def manifest(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out.with_name("out.manifest.json").read_text())
        return found


@pytest.fixture
def compiled(harness: Harness, tmp_path: Path) -> Compile:
    return Compile(harness, tmp_path)


def sessions_of(record: dict[str, Any]) -> list[tuple[str, str, str]]:
    """(id, date, JSON of the turns) of every session."""
    fields = ("haystack_session_ids", "haystack_dates", "haystack_sessions")
    return [(i, d, json.dumps(t)) for i, d, t in zip(*(record[f] for f in fields), strict=True)]


def texts(record: dict[str, Any]) -> list[str]:
    return [json.dumps(turns) for turns in record["haystack_sessions"]]


# What a history holds


def test_every_history_has_the_size_asked_for(compiled: Compile, source: Path) -> None:
    for record in compiled.records(source):
        assert [len(record[f]) for f in record if f.startswith("haystack_")] == [30, 30, 30]


def test_everything_about_the_question_but_its_fillers_stays(
    compiled: Compile, source: Path
) -> None:
    for before, after in zip(pool(), compiled.records(source), strict=True):
        apart = {name: value for name, value in after.items() if "haystack" not in name}
        assert apart == {name: value for name, value in before.items() if "haystack" not in name}
        (listed,) = before["answer_session_ids"]
        assert [s for s in sessions_of(before) if s[0] == listed] == [
            s for s in sessions_of(after) if s[0] == listed
        ]


def test_own_fillers_stay_at_their_dates_or_go(compiled: Compile, source: Path) -> None:
    own = set(sessions_of(pool()[0]))
    assert own <= set(sessions_of(compiled.records(source)[0]))
    without = compiled.records(source, "--no-keep-fillers")[0]
    own_texts = {text for name, _, text in own if name != "ev_0"}
    assert own_texts.isdisjoint(texts(without))
    assert len(texts(without)) == 30


def test_a_history_may_be_smaller_than_the_one_there_was(compiled: Compile, source: Path) -> None:
    small = compiled.records(source, sessions=4)[0]
    assert set(sessions_of(small)) < set(sessions_of(pool()[0]))
    assert "ev_0" in small["haystack_session_ids"]
    assert [len(texts(record)) for record in compiled.records(source, sessions=1)] == [1] * 6


def test_a_history_too_small_for_its_evidence_is_refused(compiled: Compile, tmp_path: Path) -> None:
    two = history(
        ("a", shown("2023/05/20 09:00"), chat("one", has_answer=True)),
        ("b", shown("2023/05/21 09:00"), chat("two", has_answer=True)),
        evidence=["a", "b"],
    )
    ended = compiled(write_data(tmp_path / "d.json", [instance("q", **two)]), sessions=1)
    assert ended.code == 2
    assert "--sessions 1 has no room: question 'q' has 2 evidence sessions" in ended.err


def test_no_text_and_no_id_comes_twice(compiled: Compile, tmp_path: Path) -> None:
    data = pool()
    # Once more within its history, once more elsewhere, once more with other spaces.
    repeated = ("f_9", shown("2023/05/29 08:00"), chat("Filler  0 of 0."))
    for record in (data[0], data[1]):
        _append(record, *repeated)
    for record in compiled.records(write_data(tmp_path / "d.json", data), sessions=49):
        spoken = [" ".join(text.split()) for text in texts(record)]
        assert len(set(spoken)) == len(spoken) == 49
        assert len(set(record["haystack_session_ids"])) == 49


def _append(record: dict[str, Any], name: str, date: str, turns: list[dict[str, Any]]) -> None:
    record["haystack_session_ids"].append(name)
    record["haystack_dates"].append(date)
    record["haystack_sessions"].append(turns)


@pytest.mark.parametrize(
    ("name", "turns"),
    [
        ("copy", chat("Fact 5 \ud83d")),
        ("longer", [*chat("Hello"), *chat("Fact  5 \ud83d")]),
        ("unlisted", chat("Labelled, though in no list.", has_answer=True)),
    ],
)
def test_what_is_evidence_anywhere_is_never_drawn(
    compiled: Compile, tmp_path: Path, name: str, turns: list[dict[str, Any]]
) -> None:
    """Also when it stands as a filler elsewhere, without label and under a harmless id."""
    data = pool()
    _append(data[1], name, shown("2023/05/22 11:00"), turns)
    source = write_data(tmp_path / "d.json", data)
    for record in compiled.records(source, "--no-keep-fillers", sessions=41):
        others = [f"Fact {n} " for n in range(6) if f"q{n}" != record["question_id"]]
        spoken = "".join(texts(record))
        assert not any(other in spoken for other in others)
        assert record["question_id"] == "q1" or name not in record["haystack_session_ids"]
    assert compiled.manifest["source"]["distinct_fillers"] == 48


def test_an_id_that_looks_like_evidence_is_no_reason_to_leave_a_session_out(
    compiled: Compile, tmp_path: Path
) -> None:
    data = pool()
    _append(data[1], "answer_77", shown("2023/05/22 11:00"), chat("Harmless."))
    records = compiled.records(write_data(tmp_path / "d.json", data), sessions=50)
    assert all("answer_77" in record["haystack_session_ids"] for record in records)


def test_an_empty_session_fills_nothing(compiled: Compile, tmp_path: Path) -> None:
    data = pool()
    _append(data[1], "empty", shown("2023/05/22 11:00"), [])
    records = compiled.records(write_data(tmp_path / "d.json", data), sessions=49)
    assert [[] in record["haystack_sessions"] for record in records].count(True) == 1


def test_labels_are_on_evidence_alone(compiled: Compile, source: Path) -> None:
    for record in compiled.records(source):
        labelled = [
            name
            for name, turns in zip(
                record["haystack_session_ids"], record["haystack_sessions"], strict=True
            )
            if any("has_answer" in item for item in turns)
        ]
        assert labelled == record["answer_session_ids"]


# Dates


def test_fillers_are_dated_from_before_the_evidence_to_the_question(
    compiled: Compile, source: Path
) -> None:
    compiled.records(source, "--lead-days", 5, sessions=49)
    for question in load_longmemeval(compiled.out):
        dates = [session.session_date for session in question.sessions]
        first_evidence = datetime.fromisoformat(f"2023-05-2{question.question_id[1:]}T00:00Z")
        begin = min(first_evidence - timedelta(days=5), datetime.fromisoformat("2023-05-20T00:00Z"))
        assert dates == sorted(dates)
        assert begin <= dates[0] <= begin + timedelta(days=3)
        assert question.question_date - timedelta(days=2) < dates[-1] <= question.question_date
        assert len(set(dates)) > 40


def test_dates_tell_the_right_day_of_the_week(compiled: Compile, source: Path) -> None:
    for record in compiled.records(source):
        for date in record["haystack_dates"]:
            assert date == shown(f"{date[:10]} {date[-5:]}")


def test_evidence_later_on_the_day_of_the_question_stays(compiled: Compile, tmp_path: Path) -> None:
    late = ("late", shown("2023/05/30 23:00"), chat("late", has_answer=True))
    data = [*pool(), instance("q9", **history(late, evidence=["late"]))]
    record = compiled.records(
        write_data(tmp_path / "d.json", data), "--ids", "q9", "--lead-days", 0
    )
    assert sessions_of(record[0])[-1][:2] == late[:2]
    assert {date[:10] for date in record[0]["haystack_dates"]} == {"2023/05/30"}
    assert max(record[0]["haystack_dates"][:-1]) <= shown("2023/05/30 10:00")


def test_a_question_without_any_history_gets_one(compiled: Compile, tmp_path: Path) -> None:
    data = [*pool(), instance("q9_abs", **history())]
    record = compiled.records(write_data(tmp_path / "d.json", data), "--ids", "q9_abs")[0]
    assert len(texts(record)) == 30
    assert record["haystack_dates"][0] >= "2023/04/30"


# Which bytes


def test_the_same_command_writes_the_same_bytes(compiled: Compile, source: Path) -> None:
    compiled.records(source, "--seed", 3)
    first = (compiled.out.read_bytes(), compiled.manifest)
    compiled.records(source, "--seed", 3)
    assert (compiled.out.read_bytes(), compiled.manifest) == first


def test_another_seed_changes_the_draw_and_nothing_else(compiled: Compile, source: Path) -> None:
    one, two = (compiled.records(source, "--seed", seed) for seed in (1, 2))
    for before, original, after in zip(one, pool(), two, strict=True):
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
    assert "is the file to read" in compiled(source).err
    compiled.out = source.with_name("out.csv")
    assert "expected a name that ends in one of .json" in compiled(source).err
    compiled.out = source.parent / "nowhere" / "out.json"
    ended = compiled(source)
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
    assert "6 histories, 60 sessions" in ended.out
    assert {len(question.sessions) for question in load_longmemeval(out)} == {60}
