"""`assistant keys`, and what a running assistant makes of it."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from calls import assert_error
from commands import ended
from in_process import Run
from served import served

from assistant import Settings, create_app


@pytest.fixture
def keys(run: Run) -> Run:
    """The subcommands of `assistant keys`."""
    return lambda *arguments: run("keys", *arguments)


def test_a_key_is_shown_once(keys: Run, tmp_path: Path) -> None:
    printed = keys("create", "Ann's laptop", "--user", "ann", "--data-dir", tmp_path)
    token = printed.out.strip()
    assert token.startswith("am-")
    assert token not in printed.err
    scopes = ("--scope", "act_as", "--scope", "set_time")
    made = keys("create", "open webui", *scopes, "--data-dir", tmp_path, "--json").json
    listed = keys("list", "--data-dir", tmp_path, "--json").out
    kept = (tmp_path / "keys.json").read_text()
    shown = keys("list", "--data-dir", tmp_path).out
    for text in (listed, kept, shown):
        assert token not in text
        assert made["key"] not in text
        assert "Ann's laptop" in text
    assert [(one["user_id"], one["scopes"]) for one in json.loads(listed)] == [
        ("ann", []),
        (None, ["act_as", "set_time"]),
    ]
    assert made["id"] in shown


def test_keys_that_cannot_be_made_or_revoked(keys: Run, tmp_path: Path) -> None:
    for arguments in (
        ("create", "nobody's"),
        ("create", "both", "--user", "ann", "--scope", "act_as"),
        ("create", "odd", "--scope", "root"),
        ("revoke", "key-1"),
    ):
        done = keys(*arguments, "--data-dir", tmp_path)
        assert done.code == 2
        assert "Traceback" not in done.err
        assert done.out == ""
    assert list(tmp_path.iterdir()) == []


def test_a_running_assistant_sees_what_is_made_and_revoked(
    run: Run, keys: Run, tmp_path: Path
) -> None:
    app = create_app(Settings(embedder="hash", data_dir=tmp_path))
    with served(app) as url, httpx.Client(base_url=url) as client:
        assert client.get("/v1/models").status_code == 200
        laptop = ("laptop", "--user", "ann", "--data-dir", tmp_path, "--json")
        made: dict[str, Any] = json.loads(ended("keys", "create", *laptop).stdout)
        assert_error(client.get("/v1/models"), 401, "authentication_error", "invalid_api_key")
        client.headers["Authorization"] = f"Bearer {made['key']}"
        assert client.get("/v1/models").status_code == 200
        asked = ("ask", "Who am I?", "--assistant", url, "--user", "ann")
        for key, code in (("wrong", 2), (made["key"], 0)):
            done = run(*asked, "--api-key", key)
            assert done.code == code, done.err
        assert keys("revoke", made["id"], "--data-dir", tmp_path).code == 0
        assert client.get("/v1/models").status_code == 401


def test_a_server_that_others_reach_does_not_start_without_a_key(run: Run, tmp_path: Path) -> None:
    done = run("serve", "--host", "0.0.0.0", "--port", "0", "--data-dir", tmp_path)
    assert done.code == 2
    assert "assistant keys create" in done.err
    assert "ASSISTANT_API_KEY" in done.err
    assert "127.0.0.1" in done.err
    assert list(tmp_path.iterdir()) == []
