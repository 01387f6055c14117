"""Compiled histories: what of a question is kept, and what is drawn."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from compiling import Compile, numbered_pool, sessions_of, shown, texts
from histories import chat, history, instance, write_data

from harness.datasets.longmemeval import load_longmemeval


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_data(tmp_path / "source.json", numbered_pool())


# What a history holds


def test_every_history_has_the_size_asked_for(compiled: Compile, source: Path) -> None:
    for record in compiled.records(source):
        assert [len(record[f]) for f in record if f.startswith("haystack_")] == [30, 30, 30]


def test_everything_about_the_question_but_its_fillers_stays(
    compiled: Compile, source: Path
) -> None:
    for before, after in zip(numbered_pool(), compiled.records(source), strict=True):
        apart = {name: value for name, value in after.items() if "haystack" not in name}
        assert apart == {name: value for name, value in before.items() if "haystack" not in name}
        (listed,) = before["answer_session_ids"]
        assert [s for s in sessions_of(before) if s[0] == listed] == [
            s for s in sessions_of(after) if s[0] == listed
        ]


def test_own_fillers_stay_at_their_dates_or_go(compiled: Compile, source: Path) -> None:
    own = set(sessions_of(numbered_pool()[0]))
    assert own <= set(sessions_of(compiled.records(source)[0]))
    without = compiled.records(source, "--no-keep-fillers")[0]
    own_texts = {text for name, _, text in own if name != "ev_0"}
    assert own_texts.isdisjoint(texts(without))
    assert len(texts(without)) == 30


def test_a_history_may_be_smaller_than_the_one_there_was(compiled: Compile, source: Path) -> None:
    small = compiled.records(source, sessions=4)[0]
    assert set(sessions_of(small)) < set(sessions_of(numbered_pool()[0]))
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
    assert "--sessions 1 is too small: question 'q' has 2 evidence sessions" in ended.err


def test_no_text_and_no_id_comes_twice(compiled: Compile, tmp_path: Path) -> None:
    data = numbered_pool()
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
    data = numbered_pool()
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
    data = numbered_pool()
    _append(data[1], "answer_77", shown("2023/05/22 11:00"), chat("Harmless."))
    records = compiled.records(write_data(tmp_path / "d.json", data), sessions=50)
    assert all("answer_77" in record["haystack_session_ids"] for record in records)


def test_an_empty_session_fills_nothing(compiled: Compile, tmp_path: Path) -> None:
    data = numbered_pool()
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
    data = [*numbered_pool(), instance("q9", **history(late, evidence=["late"]))]
    record = compiled.records(
        write_data(tmp_path / "d.json", data), "--ids", "q9", "--lead-days", 0
    )
    assert sessions_of(record[0])[-1][:2] == late[:2]
    assert {date[:10] for date in record[0]["haystack_dates"]} == {"2023/05/30"}
    assert max(record[0]["haystack_dates"][:-1]) <= shown("2023/05/30 10:00")


def test_a_question_without_any_history_gets_one(compiled: Compile, tmp_path: Path) -> None:
    data = [*numbered_pool(), instance("q9_abs", **history())]
    record = compiled.records(write_data(tmp_path / "d.json", data), "--ids", "q9_abs")[0]
    assert len(texts(record)) == 30
    assert record["haystack_dates"][0] >= "2023/04/30"
