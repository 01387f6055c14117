"""Questions answered elsewhere, through both commands: prompts out, replies in, a report."""

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import Server
from test_benchmark_run import QUESTIONS, Harness, write
from test_listening import free_port

from harness.datasets.sample import build_sample

Told = tuple[int, str]
Command = Callable[..., Told]
QUESTIONS_ASKED = 5
BY_ID = {instance["question_id"]: instance for instance in build_sample()}


@pytest.fixture
def port(server: Server) -> int:
    """Where the harness listens as the assistant's chat model."""
    server.end()
    port = free_port()
    server.start(
        ASSISTANT_CHAT_MODEL="openai/gpt-4o",
        ASSISTANT_CHAT_MODEL_BASE_URL=f"http://127.0.0.1:{port}/v1",
        ASSISTANT_CHAT_MODEL_API_KEY="none",
    )
    return port


@pytest.fixture
def exporting(server: Server, port: int, tmp_path: Path) -> tuple[object, ...]:
    return (
        *("questions", "export", "--dataset", "sample", "--limit", QUESTIONS_ASKED),
        *("--assistant", server.url, "--listen", port),
        *("--out", tmp_path / "run", "--prompts", tmp_path / "prompts"),
    )


@pytest.fixture
def command(harness: Harness) -> Command:
    def ended(*arguments: object) -> Told:
        process = harness(*arguments)
        output, _ = process.communicate(timeout=240)
        return process.returncode, output

    return ended


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def taking(tmp_path: Path, *more: object) -> tuple[object, ...]:
    return (
        *("questions", "import", "--dataset", "sample", "--limit", QUESTIONS_ASKED),
        *("--out", tmp_path / "run", "--prompts", tmp_path / "prompts", "--controls", 0, *more),
    )


def test_prompts_go_out_replies_come_in_and_a_killed_export_goes_on(
    command: Command, harness: Harness, exporting: tuple[object, ...], tmp_path: Path
) -> None:
    prompts = tmp_path / "prompts"
    killed = harness(*exporting)
    deadline = time.monotonic() + 120
    batch_file = prompts / "batch.jsonl"
    while not batch_file.exists() or batch_file.read_text().count("\n") < 3:
        assert time.monotonic() < deadline
        assert killed.poll() is None
        time.sleep(0.002)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    whole = batch_file.read_text().rpartition("\n")[0].splitlines()
    before = {line["custom_id"]: line for line in map(json.loads, whole)}
    code, output = command(*exporting)
    assert code == 0, output

    batch = lines(batch_file)
    asked = lines(tmp_path / "run/questions.jsonl")
    assert len(batch) == len({line["custom_id"] for line in batch}) == len(asked) > len(before)
    assert {line["custom_id"]: line for line in batch}.items() >= before.items()
    assert {line["url"] for line in batch} == {"/v1/chat/completions"}
    assert {line["body"]["model"] for line in batch} == {"gpt-4o"}
    assert not any("stream" in line["body"] for line in batch)
    assert [line["id"] for line in lines(prompts / "index.jsonl")] == sorted(
        line["custom_id"] for line in batch
    )
    told = "".join(path.read_text() for path in prompts.rglob("*") if path.is_file())
    for question in asked:
        instance = BY_ID[question["question_id"]]
        given_away = [instance["question_id"], *instance["haystack_session_ids"], "has_answer"]
        assert not any(f'"{name}"' in told or f"{name}\n" in told for name in given_away)
        assert instance["question_type"] not in told

    by_text = {question["question"]: question for question in asked}
    replied = {}
    for line in batch:
        text = (prompts / f"prompts/{line['custom_id']}.txt").read_text()
        assert all(message["content"] in text for message in line["body"]["messages"])
        replied[line["custom_id"]] = by_text[line["body"]["messages"][-1]["content"]]
    *most, last = sorted(replied)
    for name in most:
        (prompts / f"replies/{name}.txt").write_text(replied[name]["answer"] + "\n")
    code, output = command(*taking(tmp_path))
    assert code == 0, output
    assert f"{len(most)} answered, 1 missing" in output
    report = json.loads((tmp_path / "run/report.json").read_text())
    assert (report["n"], report["missing"]) == (len(asked), 1)
    assert report["evidence_in_prompt"]["n"] > 0
    hypotheses = {line["question_id"]: line for line in lines(tmp_path / "run/hypotheses.jsonl")}
    assert {key: line["hypothesis"] for key, line in hypotheses.items()} == {
        replied[name]["question_id"]: replied[name]["answer"] for name in most
    }

    (prompts / f"replies/{last}.txt").write_text("")
    assert command(*taking(tmp_path))[0] == 0
    report = json.loads((tmp_path / "run/report.json").read_text())
    assert report["missing"] == 0
    empty = lines(tmp_path / "run/hypotheses.jsonl")[-1]
    assert (empty["question_id"], empty["hypothesis"]) == (replied[last]["question_id"], "")


def test_a_reader_of_several_calls_is_told_apart_on_histories_of_another_run(
    command: Command, server: Server, tmp_path: Path
) -> None:
    data, listening = write(tmp_path / "data.json", QUESTIONS[:2]), free_port()
    model = {
        "ASSISTANT_CHAT_MODEL": "openai/gpt-4o",
        "ASSISTANT_CHAT_MODEL_BASE_URL": f"http://127.0.0.1:{listening}/v1",
        "ASSISTANT_CHAT_MODEL_API_KEY": "none",
    }
    common = ("--dataset", "longmemeval", "--file", data, "--assistant", server.url)
    export = ("questions", "export", *common, "--listen", listening)

    def exported(name: str, *more: object) -> Told:
        return command(
            *export, "--out", tmp_path / name, "--prompts", tmp_path / f"{name}-prompts", *more
        )

    code, output = command("retrieval", "--keep", *common, "--out", tmp_path / "held")
    assert code == 0, output
    held = ("--ingested", tmp_path / "held")
    server.end()
    server.start(**model, ASSISTANT_READING__MODE="chain-of-note-separate")
    code, output = exported("several", *held)
    assert code == 1, output
    assert "only a reader of one call" in (tmp_path / "several/failures.jsonl").read_text()
    assert not (tmp_path / "several-prompts/batch.jsonl").read_text()

    server.end()
    server.start(**model)
    code, output = exported("one", *held, "--reader", "somebody")
    assert code == 0, output
    batch = lines(tmp_path / "one-prompts/batch.jsonl")
    assert [line["body"]["model"] for line in batch] == ["somebody"] * 2
    assert not (tmp_path / "one/ingest.jsonl").exists()


def test_a_reply_that_searches_is_answered_and_exported_again(
    command: Command, server: Server, tmp_path: Path
) -> None:
    data, listening = write(tmp_path / "data.json", QUESTIONS[:2]), free_port()
    server.end()
    server.start(
        ASSISTANT_CHAT_MODEL="openai/gpt-4o",
        ASSISTANT_CHAT_MODEL_BASE_URL=f"http://127.0.0.1:{listening}/v1",
        ASSISTANT_CHAT_MODEL_API_KEY="none",
        ASSISTANT_READING__LOOK_AGAIN="on",
    )
    prompts, out = tmp_path / "prompts", tmp_path / "run"
    common = ("--dataset", "longmemeval", "--file", data, "--out", out, "--prompts", prompts)
    export = ("questions", "export", *common, "--assistant", server.url, "--listen", listening)
    take = ("questions", "import", *common, "--controls", 0)

    def exported() -> dict[str, Any]:
        code, output = command(*export)
        assert code == 0, output
        return {line["custom_id"]: line["body"] for line in lines(prompts / "batch.jsonl")}

    first = exported()
    kayak, soup = sorted(first, key=lambda name: "soup" in first[name]["messages"][-1]["content"])
    told = (prompts / f"prompts/{kayak}.txt").read_text()
    assert "=== tools ===" in told
    assert '"search_memory"' in told

    search = {"name": "find_words", "arguments": {"text": "choir"}}
    (prompts / f"replies/{kayak}.txt").write_text(json.dumps({"tool_calls": [search]}))
    (prompts / f"replies/{soup}.txt").write_text("Starch.")
    code, output = command(*take)
    assert code == 0, output
    assert "1 answered, 1 missing" in output
    assert "1 ask for a search" in output

    second = exported()
    assert second.keys() - first.keys() == {f"{kayak}-2"}
    *before, called, found = second[f"{kayak}-2"]["messages"]
    assert before == first[kayak]["messages"]
    assert called["tool_calls"][0]["function"]["name"] == "find_words"
    assert found["role"] == "tool"
    assert "I sing in a choir" in found["content"] or "shown_before" in found["content"]
    assert 'find_words {"text": "choir"}' in (prompts / f"prompts/{kayak}-2.txt").read_text()
    assert exported() == second

    sessions = {"tool_calls": [{"name": "list_sessions", "arguments": {}}] * 2}
    (prompts / f"replies/{kayak}-2.txt").write_text(json.dumps(sessions))
    third = exported()
    assert third.keys() - second.keys() == {f"{kayak}-3"}
    assert [one["role"] for one in third[f"{kayak}-3"]["messages"][-3:]] == [
        *("assistant", "tool", "tool")
    ]
    (prompts / f"replies/{kayak}-3.txt").write_text("You painted it turquoise.")
    code, output = command(*take)
    assert code == 0, output
    assert "2 answered, 0 missing" in output
    said = {line["question_id"]: line for line in lines(out / "hypotheses.jsonl")}
    assert {name: (line["hypothesis"], line["looks"]) for name, line in said.items()} == {
        "q1": ("You painted it turquoise.", 3),
        "q2": ("Starch.", 0),
    }
    report = json.loads((out / "report.json").read_text())
    assert (report["looking"]["calls"], report["looking"]["ms_per_question"]) == (3, None)
    assert report["evidence_in_prompt"]["n"] == 1

    # Other calls than those whose results were handed out.
    other = json.dumps({"tool_calls": sessions["tool_calls"][:1]})
    (prompts / f"replies/{kayak}.txt").write_text(other)
    (prompts / f"replies/{kayak}-3.txt").write_text(other)
    code, output = command(*export)
    assert code == 1
    assert "asks otherwise" in (out / "failures.jsonl").read_text()
