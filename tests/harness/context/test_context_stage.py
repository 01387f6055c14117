"""`harness context`: whose histories it uses, and what it refuses."""

import json
from collections.abc import Callable

from benches import Bench, Finished

Harness = Callable[..., Finished]


def context(harness: Harness, bench: Bench, *more: object) -> Finished:
    return harness(
        *("context", "--dataset", "longmemeval", "--file", bench.data_file),
        *("--assistant", bench.assistant.url, "--listen", 0, "--out", bench.out.parent / "ctx"),
        *more,
    )


def test_a_history_that_is_not_stored_is_no_zero(bench: Bench, harness: Harness) -> None:
    ended = context(harness, bench)
    assert ended.code == 1
    failures = (bench.out.parent / "ctx/failures.jsonl").read_text().splitlines()
    assert {json.loads(line)["question_id"] for line in failures} == {"q1", "q2"}
    assert "ingest it first" in failures[0]
    report = json.loads((bench.out.parent / "ctx/report.json").read_text())
    assert report["evidence_in_prompt"] is None


def test_an_assistant_that_asks_nobody_is_named(bench: Bench, harness: Harness) -> None:
    bench.replay()
    ended = context(harness, bench, "--ingested", bench.out)
    assert ended.code == 1
    assert "without asking the listening model" in (
        (bench.out.parent / "ctx/failures.jsonl").read_text()
    )


def test_a_directory_of_other_names_is_refused(bench: Bench, harness: Harness) -> None:
    bench.replay()
    context(harness, bench)
    ended = context(harness, bench, "--ingested", bench.out)
    assert ended.code == 2
    assert "--ingested" in ended.err


def test_a_run_to_use_must_be_there(bench: Bench, harness: Harness) -> None:
    ended = context(harness, bench, "--ingested", bench.out.parent / "nowhere")
    assert ended.code == 2
    assert "there is no run in it" in ended.err
