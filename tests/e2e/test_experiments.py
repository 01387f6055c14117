"""Experiments through the two commands: servers of their own, one memory, a page at the end."""

import json
import re
import shlex
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from commands import finished, hashing
from nursery import NURSERY
from scripted_model import PLAIN, Reply, Sent, scripted_model

from assistant.prompts.prompt_file import all_prompts

KEPT = ("cell", "n", "recall_all@5", "recall_all@10", "ndcg@5", "accuracy", "evidence_in_prompt")


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> tuple[object, ...]:
    """Questions of the sample over histories of four conversations, as a command asks for them."""
    data = tmp_path_factory.mktemp("short") / "short.json"
    compiled = ("harness", "compile", "--dataset", "sample", "--sessions", 4, "--seed", 1)
    done = finished((*compiled, "--out", data))
    assert done.returncode == 0, done.stderr
    return ("--dataset", "longmemeval", "--file", data)


def command(name: str, out: Path, *more: object) -> tuple[object, ...]:
    begun = ("harness", "experiment", name, "--dataset", "sample", "--out", out)
    return (*begun, "--server", shlex.join(NURSERY.command("assistant", "serve")), *more)


def run(name: str, out: Path, *more: object) -> dict[str, Any]:
    done = finished(command(name, out, *more), timeout=600)
    assert done.returncode == 0, done.stderr
    page: dict[str, Any] = json.loads((out / "experiment.json").read_text())
    return page


def figures(page: dict[str, Any]) -> list[dict[str, Any]]:
    return [{name: cell[name] for name in KEPT} for cell in page["cells"]]


def run_until(file: str, out: Path, *asked: object) -> None:
    """Begin the experiment, and interrupt it as soon as the file is there."""
    process = NURSERY.start(
        command("table2", out, *asked), env=hashing(), stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 120
    while not (out / file).exists() and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=60)


def test_designs_on_the_same_questions_and_again_after_kills(
    tmp_path: Path, short: tuple[object, ...]
) -> None:
    asked = (*short, "--limit", 2, "--designs", "aide-memoire,longmemeval")
    for file in ("retrieval.jsonl", "prompts/prompts.jsonl"):
        run_until(f"cells/aide-memoire/{file}", tmp_path / "killed", *asked)
    continued = run("table2", tmp_path / "killed", *asked)
    assert [cell["label"] for cell in continued["cells"]] == ["aide-memoire", "longmemeval"]
    assert all(cell["evidence_in_prompt"] is not None for cell in continued["cells"])
    assert all(cell["accuracy"] is not None for cell in continued["cells"])
    ours, theirs = (cell["index_ms"] for cell in continued["cells"])
    assert ours is None  # which makes no view
    assert theirs > 0
    assert figures(run("table2", tmp_path / "killed", *asked)) == figures(continued)
    assert figures(run("table2", tmp_path / "whole", *asked)) == figures(continued)
    page = (tmp_path / "whole" / "experiment.html").read_text()
    assert "Memory designs" in page
    assert (
        "Where answers went wrong"
        in (tmp_path / "whole" / "cells" / "longmemeval" / "report.html").read_text()
    )


def test_a_design_that_cannot_be_started_is_noticed_before_the_memory_is_filled(
    tmp_path: Path, short: tuple[object, ...]
) -> None:
    asked = (*short, "--limit", 1, "--designs", "aide-memoire,not_installed.anywhere:Design")
    done = finished(command("table2", tmp_path, *asked))
    assert done.returncode == 2
    assert "is it installed?" in done.stderr
    assert "trying design 2 of 2: not_installed.anywhere:Design" in done.stderr
    assert not (tmp_path / "memory").exists()


def test_a_second_command_keeps_the_cells_and_mixes_in_no_other_set_up(
    tmp_path: Path, short: tuple[object, ...]
) -> None:
    asked = (*short, "--limit", 1, "--designs", "in-context-rag")
    first = run("table2", tmp_path, *asked)
    more = run("table2", tmp_path, *short, "--limit", 1, "--designs", "aide-memoire")
    assert [cell["label"] for cell in more["cells"]] == ["in-context-rag", "aide-memoire"]
    assert more["cells"][0] == first["cells"][0]
    elsewhere = ("--memory", tmp_path, "--designs", "longmemeval", "--no-answers")
    other_page = run("table2", tmp_path / "other", *short, "--limit", 1, *elsewhere)
    assert other_page["cells"][0]["accuracy"] is None
    assert other_page["cells"][0]["evidence_in_prompt"] is not None
    assert not (tmp_path / "other" / "memory").exists()
    larger = finished(command("table2", tmp_path / "more", *short, "--limit", 2, *elsewhere))
    assert larger.returncode == 2
    assert "lacks 1 of the histories" in larger.stderr
    changed = ("--judge", "lexical", "--reader", "m@http://127.0.0.1:9/v1")
    other = finished(command("table2", tmp_path, *asked, *changed))
    assert other.returncode == 2
    assert "of another set-up" in other.stderr


def test_short_histories_make_sheets_and_answers_are_judged(
    tmp_path: Path, short: tuple[object, ...]
) -> None:
    out = tmp_path / "online"
    asked = (*short, "--limit", 2)
    run("fig3", out, *asked)
    answers = out / "sheets" / "answers.csv"
    header, *lines = answers.read_text().splitlines()
    sheet = (out / "sheets" / f"{lines[0].split(',')[0]}.md").read_text()
    assert "## Conversation 4 of 4" in sheet
    days = len(re.findall(r"^> \(Today is \w+day, \d{4}-\d\d-\d\d\.\)$", sheet, re.MULTILINE))
    assert days == 4 + 1
    assert "## A new conversation: the question" in sheet
    answers.write_text("\n".join([header, f"{lines[0]}I don't know."]) + "\n")
    page = run("fig3", out, *asked)
    assert [cell["label"] for cell in page["cells"]] == ["typed into a web chat"]
    assert page["cells"][0]["accuracy"] is not None


def test_prompts_with_the_evidence_alone_need_no_memory_and_the_page_says_what_is_cut(
    tmp_path: Path,
) -> None:
    with scripted_model() as model:
        model.on(PLAIN).always(_answered)
        asked = ("--limit", 3, "--reader", f"reader@{model.url}", "--model-key", "k")
        page = run("fig6", tmp_path / "fig6", *asked)
        run("fig3", tmp_path / "fig3", *asked, "--context-tokens", 1000)
    assert [cell["label"] for cell in page["cells"]] == [
        *("text, direct", "text, notes", "JSON, direct", "JSON, notes")
    ]
    assert all(cell["shares"]["accuracy"]["n"] == 3 for cell in page["cells"])
    assert len(page["contrasts"]) == 3
    assert not (tmp_path / "fig6" / "memory").exists()
    told = (tmp_path / "fig3" / "experiment.md").read_text()
    assert "whole history, direct: of 3 of 3 histories only the latest sessions were given" in told
    alone = finished(command("fig6", tmp_path / "alone", "--limit", 1))
    assert alone.returncode == 2
    assert "--from-memory" in alone.stderr


@pytest.mark.slow
def test_every_experiment_with_a_reader_and_a_judge(tmp_path: Path) -> None:
    with scripted_model() as model:
        for prompt in all_prompts():
            model.on(prompt.name).always(_answered)
        model.on(PLAIN).always(_answered)
        there = model.url
        asked: tuple[object, ...] = (
            "--limit",
            20,
            "--reader",
            f"reader@{there}",
            "--model-key",
            "k",
        )
        asked += ("--query-model", f"strong@{there}", "--judge-api-key", "k")
        asked += ("--judge", f"longmemeval=judge@{there}")
        for name in ("table2", "table3", "table4", "fig3", "fig5", "fig6"):
            page = run(name, tmp_path / name, *asked)
            assert page["cells"], name
            assert all(cell["accuracy"] is not None for cell in page["cells"]), name


def _answered(sent: Sent) -> Reply:
    """Notes and an answer, a range, or a verdict: whatever is asked for."""
    if sent.task == "understand_question":
        return Reply(('{"first": null, "last": null, "queries": []}',))
    return Reply(
        ("Noted.\nANSWER:\n", "yes") if "ANSWER:" in f"{sent.system}{sent.last}" else ("yes",)
    )
