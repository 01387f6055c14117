"""Files too large to be read before a run: found by their keys, read question by question."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from benches import Bench
from histories import instance, three_questions, write_data

from harness.datasets.registry import open_dataset
from harness.datasets.scan import AnotherOrder, Extent, read_extent, scan
from harness.errors import DatasetError, RunMismatch, UsageError
from harness.pipeline.judging import take_hypotheses

NASTY = 'She said "question_id": "q9", then \\"question_type\\": {"question_id": 1}'


@pytest.fixture
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.datasets.dataset.CHECKED_WHOLE", 0)
    monkeypatch.setattr("harness.datasets.longmemeval.CHECKED_WHOLE", 0)


def records() -> list[dict[str, Any]]:
    return [instance("q1", question=NASTY), *three_questions()[1:], instance("ü4", answer=NASTY)]


@pytest.mark.parametrize("indent", [None, 4])
@pytest.mark.parametrize("chunk", [5000, 1 << 20])
def test_a_scan_finds_every_record_and_nothing_in_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, indent: int | None, chunk: int
) -> None:
    monkeypatch.setattr("harness.datasets.scan._CHUNK", chunk)
    path = tmp_path / "x.json"
    many = [instance(f"{n}", answer="x" * n) | {"note": NASTY} for n in range(60)]
    path.write_text(json.dumps([*records(), *many], indent=indent), encoding="utf-8")
    extents = list(scan(path))
    found = [read_extent(path, extent, i) for i, extent in enumerate(extents)]
    assert found == json.loads(path.read_text())
    assert [e.question_type for e in extents] == [record["question_type"] for record in found]


def test_a_short_last_record_is_found_where_the_last_piece_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_data(tmp_path / "x.json", [instance(f"{n}") for n in range(40)])
    monkeypatch.setattr("harness.datasets.scan._CHUNK", path.stat().st_size)
    assert [extent.question_id for extent in scan(path)] == [f"{n}" for n in range(40)]


def test_json_lines_are_scanned_too(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in records()))
    assert [read_extent(path, extent, 0) for extent in scan(path)] == records()


def test_another_order_of_keys_is_not_guessed_at(tmp_path: Path) -> None:
    turned = [dict(reversed(record.items())) for record in three_questions()]
    with pytest.raises(AnotherOrder):
        next(scan(write_data(tmp_path / "x.json", turned)))
    (tmp_path / "none.json").write_text("[]")
    with pytest.raises(AnotherOrder):
        next(scan(tmp_path / "none.json"))


@pytest.mark.usefixtures("everything_is_large")
def test_only_ids_and_types_are_known_before_reading(tmp_path: Path) -> None:
    dataset = open_dataset("longmemeval", write_data(tmp_path / "x.json", three_questions()))
    assert [(q.question_id, q.is_read, q.is_abstention) for q in dataset.outlines] == [
        ("q1", False, False),
        ("q2", False, False),
        ("q3_abs", False, True),
    ]
    (history,) = dataset.histories({"q2"})
    assert history[0].answer == "7 days"


@pytest.mark.usefixtures("everything_is_large")
def test_a_run_on_a_large_file_ends_with_the_same_report(bench: Bench) -> None:
    assert bench.replay() == 0
    report = bench.report()
    assert report["n"] == 3
    assert report["accuracy"]["overall"]["n"] == 3
    assert report["retrieval"]["session"]["recall_all@5"] == {"value": 1, "n": 2}
    assert len(report["data"]["sha256"]) == 64
    questions = bench.open().dir.by_question("questions.jsonl")
    assert all(line["is_read"] for line in questions.values())


@pytest.mark.usefixtures("everything_is_large")
def test_questions_never_reached_count_as_missing(bench: Bench) -> None:
    run = bench.open()
    theirs = bench.out / "theirs.jsonl"
    theirs.write_text('{"question_id": "q1", "hypothesis": "Turquoise."}')
    take_hypotheses(run, theirs)
    report = bench.report()
    assert (report["n"], report["missing"]) == (3, 2)
    assert report["accuracy"]["overall"]["value"] == pytest.approx(1 / 3)


@pytest.mark.usefixtures("everything_is_large")
def test_a_file_that_changed_is_found_out_when_it_is_hashed(bench: Bench) -> None:
    bench.replay()
    bench.report()
    text = bench.data_file.read_text()
    bench.data_file.write_text(text.replace("turquoise", "vermilion"))
    with pytest.raises(RunMismatch, match="another data file"):
        bench.report()


@pytest.mark.usefixtures("everything_is_large")
def test_damage_in_the_middle_is_named(tmp_path: Path) -> None:
    path = write_data(tmp_path / "x.json", three_questions())
    path.write_text(path.read_text().replace('"race did I', '"race did" I'))
    broken = path.read_text().replace("How many", '"How many')
    path.write_text(broken)
    dataset = open_dataset("longmemeval", path)
    with pytest.raises(DatasetError, match="not JSON at record 1"):
        list(dataset.read({"q2"}))


@pytest.mark.usefixtures("everything_is_large")
def test_two_questions_of_one_id_are_refused(bench: Bench) -> None:
    path = write_data(bench.data_file, [instance("q1"), instance("q1")])
    with pytest.raises(DatasetError, match="'q1' occurs twice"):
        _ = open_dataset("longmemeval", path).outlines
    with pytest.raises(DatasetError, match="'q1' occurs twice"):
        bench.replay()


@pytest.mark.usefixtures("everything_is_large")
def test_an_order_that_changes_late_is_an_error(tmp_path: Path) -> None:
    first, second, third = three_questions()
    path = write_data(tmp_path / "x.json", [first, second, dict(reversed(third.items()))])
    with pytest.raises(DatasetError, match="after 1 questions a record does not begin with"):
        _ = open_dataset("longmemeval", path).outlines


@pytest.fixture
def slowly_found(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """The places of questions after the first are found only when the event is set."""
    go_on = threading.Event()

    def slow(path: Path) -> Iterator[Extent]:
        found = scan(path)
        yield next(found)
        assert go_on.wait(10)
        yield from found

    monkeypatch.setattr("harness.datasets.scan.scan", slow)
    return go_on


@contextmanager
def set_once_asked(bench: Bench, slowly_found: threading.Event) -> Iterator[None]:
    """The rest is found when the assistant is asked the first question, which it is before."""
    asked: list[bool] = []

    def when_asked() -> None:
        while not bench.assistant.sent("POST", "/chat/"):
            time.sleep(0.01)
        asked.append(not slowly_found.is_set())
        slowly_found.set()

    watching = threading.Thread(target=when_asked, daemon=True)
    watching.start()
    yield
    watching.join(30)
    assert asked == [True]


@pytest.mark.usefixtures("everything_is_large")
def test_the_first_history_is_replayed_while_the_rest_is_looked_for(
    bench: Bench, slowly_found: threading.Event
) -> None:
    with set_once_asked(bench, slowly_found):
        assert bench.replay() == 0
    assert bench.report()["n"] == 3
    manifest = json.loads((bench.out / "manifest.json").read_text())
    assert (manifest["selected"], manifest["dataset"]["questions"]) == (3, 3)


@pytest.mark.usefixtures("everything_is_large")
def test_what_is_wrong_with_a_large_file_ends_a_run_that_has_begun(
    bench: Bench, slowly_found: threading.Event
) -> None:
    write_data(bench.data_file, [instance("q1"), instance("q2"), instance("q1")])
    with (
        set_once_asked(bench, slowly_found),
        pytest.raises(DatasetError, match="'q1' occurs twice"),
    ):
        bench.replay()
    assert bench.assistant.sent("POST", "/chat/")
    with pytest.raises(DatasetError, match="'q1' occurs twice"):
        bench.replay()


@pytest.mark.usefixtures("everything_is_large")
@pytest.mark.parametrize(
    ("filters", "complaint"),
    [({"types": ("riddle",)}, "no question of type riddle"), ({"ids": ("q9",)}, "of id q9")],
)
def test_filters_are_checked_late_too(
    bench: Bench, filters: dict[str, Any], complaint: str
) -> None:
    bench.filters = filters
    with pytest.raises(UsageError, match=complaint):
        bench.replay()


@pytest.mark.usefixtures("everything_is_large")
def test_a_large_file_is_filtered_as_it_is_found(bench: Bench) -> None:
    bench.filters = {"types": ("single-session-user",), "limit": 1}
    assert bench.replay() == 0
    assert [q.question_id for q in bench.open().selected] == ["q1"]
