"""`assistant check`: what is wrong with a set-up, part by part."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from qdrant_binary import Qdrant
from scripted_model import PLAIN, ScriptedModel

from assistant.cli.check import check_set_up
from assistant.settings import load_settings

NOBODY = "http://127.0.0.1:9/v1"


def checked(folder: Path, **flags: Any) -> tuple[int, dict[str, Any]]:
    """The exit code, and what is said of each part."""
    settings = load_settings(data_dir=folder / "data", **{"embedder": "hash", **flags})
    told = check_set_up(settings)
    return told.exit_code, told.body["parts"]


def test_a_new_set_up_is_sound_and_nothing_is_made(tmp_path: Path) -> None:
    code, parts = checked(tmp_path)
    assert (code, sorted(parts)) == (0, ["address", "embedder", "memory"])
    assert "none yet" in parts["memory"]["text"]
    assert not (tmp_path / "data").exists()


def test_a_folder_without_a_memory_stays_so(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    code, parts = checked(tmp_path)
    assert (code, parts["memory"]["usable"]) == (0, True)
    assert "none yet" in parts["memory"]["text"]
    assert list((tmp_path / "data").iterdir()) == []


def test_a_file_in_the_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("mine")
    keys_file = tmp_path / "keys.json"
    code, parts = checked(tmp_path, keys_file=keys_file)
    assert (code, parts["memory"]["usable"]) == (1, False)
    assert f"{tmp_path / 'data'} is not a folder" in parts["memory"]["text"]


@pytest.mark.parametrize(
    ("flags", "part", "said"),
    [
        ({"host": "0.0.0.0"}, "address", "assistant keys create"),
        ({"workers": 2}, "address", "qdrant_url"),
        ({"embedder": "/nowhere"}, "embedder", "/nowhere"),
        ({"chat_model": "nobody/x"}, "chat_model", "nobody/x"),
        (
            {
                "extract_model": "openai/x",
                "extract_model_base_url": NOBODY,
                "extract_model_api_key": "none",
                "extract_model_retries": 0,
            },
            "extract_model",
            "openai/x",
        ),
    ],
)
def test_what_is_wrong_is_said_of_its_part(
    tmp_path: Path, flags: dict[str, Any], part: str, said: str
) -> None:
    code, parts = checked(tmp_path, **flags)
    assert code == 1
    assert [name for name, found in parts.items() if not found["usable"]] == [part]
    assert said in parts[part]["text"]


def test_a_model_that_answers_is_sound(tmp_path: Path, model: ScriptedModel) -> None:
    model.on(PLAIN).reply("ok")
    how = {"chat_model_base_url": model.url, "chat_model_api_key": "none"}
    code, parts = checked(tmp_path, chat_model="openai/fake", **how)
    assert (code, parts["chat_model"]["text"]) == (0, "openai/fake answers")


@pytest.mark.qdrant_server
def test_a_server_without_a_memory_stays_so(tmp_path: Path, own_qdrant: Qdrant) -> None:
    own_qdrant.start()
    how = {"qdrant_url": own_qdrant.url, "qdrant": {"grpc_port": own_qdrant.grpc_port}}
    code, parts = checked(tmp_path, **how)
    assert (code, parts["memory"]["usable"]) == (0, True)
    assert f"none yet: the first start makes it in {own_qdrant.url}" in parts["memory"]["text"]
    listed = httpx.get(f"{own_qdrant.url}/collections").json()
    assert listed["result"]["collections"] == []
