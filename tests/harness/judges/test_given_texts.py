"""Judge texts from files: what is asked, what is kept of it, what is refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benches import Finished
from histories import instance, write_data
from scripted_judge import ScriptedJudge

Harness = Callable[..., Finished]
TYPES = {
    "contain": "single-session-user",
    "temporal": "temporal-reasoning",
    "update": "knowledge-update",
    "preference": "single-session-preference",
    "abstention": "multi-session",
}
SAID = "Turquoise </response> & 5 $ <b>"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "texts"
    (place / "longmemeval").mkdir(parents=True)
    for name in TYPES:
        text = f"Text {name}.\nQ: $question\nA: ${{reference}}\nR: $response\nUS$$ yes or no?\n"
        (place / "longmemeval" / f"{name}.txt").write_text(text)
    return place


@pytest.fixture
def command(tmp_path: Path, model: ScriptedJudge, folder: Path) -> tuple[object, ...]:
    data = [
        instance("q_abs" if name == "abstention" else f"q_{name}", question_type=kind)
        for name, kind in TYPES.items()
    ]
    said = tmp_path / "said.jsonl"
    lines = [{"question_id": record["question_id"], "hypothesis": SAID} for record in data]
    said.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return (
        *("judge", "--dataset", "longmemeval", "--file", write_data(tmp_path / "d.json", data)),
        *("--hypotheses", said, "--out", tmp_path / "run", "--controls", 0),
        *("--judge", model.spec, "--judge-prompts", folder),
    )


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def test_a_given_text_is_asked_word_for_word_with_values_as_they_are(
    harness: Harness, model: ScriptedJudge, command: tuple[object, ...], tmp_path: Path
) -> None:
    ended = harness(*command)
    assert ended.code == 0, ended.err
    asked = {sent["messages"][0]["content"] for sent in model.sent}
    question, answer = "What colour is the kayak I bought?", "turquoise"
    assert asked == {
        f"Text {name}.\nQ: {question}\nA: {answer}\nR: {SAID}\nUS$ yes or no?" for name in TYPES
    }
    lines = (tmp_path / "run" / "verdicts.jsonl").read_text().splitlines()
    judge = read(tmp_path / "run" / "manifest.json")["judge"]
    assert {json.loads(line)["prompt_hash"] for line in lines} == set(judge["prompts"].values())


def test_manifest_and_report_name_the_files_and_their_hashes(
    harness: Harness, command: tuple[object, ...], folder: Path, tmp_path: Path
) -> None:
    assert harness(*command).code == 0
    judge = read(tmp_path / "run" / "manifest.json")["judge"]
    assert set(judge["given_texts"]) == {f"longmemeval/{name}.txt" for name in TYPES}
    assert judge["given_texts"]["longmemeval/update.txt"] == judge["prompts"]["update"]
    assert judge["id"].startswith("longmemeval-given-")
    assert str(folder) not in json.dumps(judge)
    accuracy = read(tmp_path / "run" / "report.json")["accuracy"]
    assert accuracy["judge_texts"] == judge["given_texts"]
    for name in ("report.md", "report.html"):
        assert (
            "prompts were given in files: longmemeval/contain.txt"
            in (tmp_path / "run" / name).read_text()
        )


def test_another_text_is_another_judge_and_replies_are_not_mixed(
    harness: Harness,
    model: ScriptedJudge,
    command: tuple[object, ...],
    folder: Path,
    tmp_path: Path,
) -> None:
    assert harness(*command).code == 0
    before = read(tmp_path / "run" / "manifest.json")["judge"]
    model.sent = []
    assert harness(*command).code == 0
    assert model.sent == []
    path = folder / "longmemeval" / "update.txt"
    path.write_text(path.read_text() + "Think first.\n")
    assert harness(*command).code == 0
    after = read(tmp_path / "run" / "manifest.json")["judge"]
    assert (before["id"], before["hash"]) != (after["id"], after["hash"])
    assert len(model.sent) == 1  # the others' replies are kept
    verdicts = (tmp_path / "run" / "verdicts.jsonl").read_text().splitlines()
    assert {json.loads(line)["judge"] for line in verdicts} == {after["id"]}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, "temporal.txt is missing: it must hold, for temporal-reasoning questions, the"),
        (b"", "temporal.txt: it lacks $question, $reference, $response: it must hold"),
        (b"{} $reference $response", "temporal.txt: it lacks $question: it must hold"),
        (b"$question $reference $response $date", "it names $date besides"),
        (b"$question $reference $response 5 $", "a $ that begins none of these is written $$"),
        (b"\xff$question $reference $response", "temporal.txt cannot be read as UTF-8 text"),
    ],
)
def test_a_missing_or_malformed_text_ends_with_its_file_and_what_it_must_hold(
    harness: Harness,
    model: ScriptedJudge,
    command: tuple[object, ...],
    folder: Path,
    content: bytes | None,
    complaint: str,
) -> None:
    path = folder / "longmemeval" / "temporal.txt"
    path.unlink() if content is None else path.write_bytes(content)
    ended = harness(*command)
    assert (ended.code, complaint in ended.err) == (2, True), ended.err
    assert f"{path}" in ended.err
    assert "with $question, $reference and $response where the values go" in ended.err
    assert model.sent == []


def test_a_benchmark_that_has_no_text_for_unanswerable_questions_needs_none(
    harness: Harness, model: ScriptedJudge, command: tuple[object, ...], folder: Path
) -> None:
    (folder / "locomo").mkdir()
    (folder / "locomo" / "lenient.txt").write_text("L $question $reference $response")
    model.says = lambda text: '{"label": "CORRECT"}' if text.startswith("L ") else "yes"
    chosen = (*command, "--second-judge", f"locomo=examiner@{model.url}", "--judge", "lexical")
    assert harness(*chosen).code == 0
    asked = [sent["messages"][0]["content"] for sent in model.sent]
    ours = [text for text in asked if not text.startswith("L What colour")]
    assert (len(asked), len(ours)) == (5, 1)
    assert "cannot be answered" in ours[0]


def test_texts_that_no_judge_takes_are_refused(
    harness: Harness, command: tuple[object, ...]
) -> None:
    ended = harness(*command, "--judge", "lexical")
    assert (ended.code, "neither judge takes a text from there" in ended.err) == (2, True)
