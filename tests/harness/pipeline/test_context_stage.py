"""`harness context`: whose histories it uses, and what it refuses."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from benches import Bench, Finished
from scripted_rival import PROFILE, Rival

from harness.assistants.profile import load_profile
from harness.replay.modes import Approach

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


def test_a_command_forgets_its_histories_unless_they_are_to_be_kept(
    bench: Bench, harness: Harness
) -> None:
    def retrieval(out: str, *more: object) -> Finished:
        return harness(
            *("retrieval", "--dataset", "longmemeval", "--file", bench.data_file),
            *("--assistant", bench.assistant.url, "--out", bench.out.parent / out, *more),
        )

    assert retrieval("gone").code == 0
    assert bench.assistant.memory.users == {}
    ended = context(harness, bench, "--ingested", bench.out.parent / "gone")
    assert (ended.code, "make a run with --keep" in ended.err) == (2, True)
    assert retrieval("kept", "--keep").code == 0
    assert len(bench.assistant.memory.users) == 3
    assert "forgotten" not in context(harness, bench, "--ingested", bench.out.parent / "kept").err
    both = retrieval("both", "--keep", "--forget")
    assert (both.code, "choose one of them" in both.err) == (2, True)


def test_a_run_to_use_must_be_there(bench: Bench, harness: Harness) -> None:
    ended = context(harness, bench, "--ingested", bench.out.parent / "nowhere")
    assert ended.code == 2
    assert "there is no run in it" in ended.err


@pytest.fixture
def away(theirs: Rival, tmp_path: Path) -> Path:
    """The profile of somebody else's assistant."""
    profile = tmp_path / "theirs.toml"
    profile.write_text(PROFILE)
    return profile


def test_another_assistant_cannot_say_what_it_holds(
    bench: Bench, harness: Harness, away: Path
) -> None:
    ended = context(harness, bench, "--profile", away)
    assert ended.code == 2
    assert "--ingested" in ended.err


def test_another_assistant_is_asked_under_the_names_it_was_told(
    bench: Bench, harness: Harness, away: Path, theirs: Rival
) -> None:
    bench.url = theirs.url
    bench.approach = Approach("teacher", load_profile(str(away)))
    bench.replay()
    told = {chat.body["user"] for chat in theirs.chats()}
    before = len(theirs.arrived)
    elsewhere = ("--profile", away, "--assistant", theirs.url)
    ended = context(harness, bench, "--ingested", bench.out, *elsewhere)
    assert ended.code == 1
    asked = [sent for sent in theirs.arrived[before:] if sent.path.endswith("/completions")]
    assert len(asked) == 2  # the third has no answer
    assert {sent.body["user"] for sent in asked} <= told
    assert all(sent.body["store"] is False for sent in asked)
    # This rival asks no model.
    assert "without asking the listening model" in (
        (bench.out.parent / "ctx/failures.jsonl").read_text()
    )


def test_a_history_that_another_assistant_was_not_told_is_no_zero(
    bench: Bench, harness: Harness, away: Path, theirs: Rival
) -> None:
    bench.url, bench.filters = theirs.url, {"ids": ("q1",)}
    bench.approach = Approach("teacher", load_profile(str(away)))
    bench.replay()
    elsewhere = ("--profile", away, "--assistant", theirs.url)
    context(harness, bench, "--ingested", bench.out, *elsewhere)
    failures = (bench.out.parent / "ctx/failures.jsonl").read_text().splitlines()
    missing = [json.loads(line)["question_id"] for line in failures if "ingest it" in line]
    assert missing == ["q2"]
