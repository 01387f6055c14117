"""docs/evaluate-your-assistant.md as it stands: its profiles and its commands, in their order."""

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benches import Finished
from scripted_rival import Heard, rival
from scripted_store import scripted_store

from harness.assistants.profile import parse_profile
from harness.replay.modes import MODES

PAGE = (Path(__file__).parents[3] / "docs/evaluate-your-assistant.md").read_text()
SETTINGS = PAGE.split("## Profiles", 1)[-1].split("| in paths", 1)[0]


def profiles() -> dict[str, str]:
    blocks = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    return {block.split("\n", 1)[0].removeprefix("# "): block for block in blocks}


def commands() -> list[list[str]]:
    blocks = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    return [shlex.split(line) for block in blocks for line in block.splitlines()]


def cited(ranked: list[Heard]) -> dict[str, Any]:
    """Sources in the shape that the document's example describes."""
    return {
        "sources": [
            {"thread": heard.session, "quote": heard.text, "relevance": -i}
            for i, heard in enumerate(ranked)
        ]
    }


def test_the_documents_path_leads_to_a_comparison(
    harness: Callable[..., Finished], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in profiles().items():
        Path(name).write_text(text)
    with (
        rival(cite=cited) as theirs,
        rival(remembers=False) as plain,
        scripted_store() as store,
    ):
        for command in commands():
            there = [
                part.replace("http://127.0.0.1:9000", theirs.url)
                .replace("http://127.0.0.1:9001", plain.url)
                .replace("http://127.0.0.1:9002", store.url)
                for part in command[1:]
            ]
            if "load" in there:
                there += ["--memories", "40"]
            if {"run", "retrieval"} & {*there} and "--dry-run" not in there:
                there += ["--types", "single-session-user", "--limit", "6"]
            ended = harness(*there)
            assert ended.code == 0, (command, ended.err)
    report = json.loads(Path("runs/acme/report.json").read_text())
    assert report["conduct"]["diagnosis"] == [
        "remembers across sessions",
        "keeps users apart",
        "honours replayed time",
    ]
    right = {
        name: json.loads(Path(f"runs/{name}/report.json").read_text())["accuracy"]["overall"][
            "value"
        ]
        for name in ("acme", "notes", "none", "oracle")
    }
    assert right["none"] < right["acme"] == right["notes"]
    assert right["none"] < right["oracle"]
    assert list(Path("runs/compared").iterdir())
    for name in ("notes", "store", "store-search"):
        retrieval = json.loads(Path(f"runs/{name}/report.json").read_text())["retrieval"]
        assert retrieval["sources"]["placed_by"]["text"] > 0
        assert retrieval["round"]["recall_any@5"]["value"] > 0


def test_every_mode_and_every_setting_is_documented() -> None:
    assert set(re.findall(r"^\| `([\w-]+)` \|", PAGE.split("## Modes")[1], re.MULTILINE)) >= set(
        MODES
    )
    for name in (
        "teacher",
        "live",
        "question",
        "control",
        "record",
        "forget",
        "barrier",
        "price",
        "sources",
    ):
        assert f"`[{name}]`" in SETTINGS


def test_the_profiles_in_the_document_are_read() -> None:
    read = {name: parse_profile(text, name=name, source=name) for name, text in profiles().items()}
    assert set(read) == {"acme.toml", "notes.toml"}
    assert read["notes.toml"].price is not None
