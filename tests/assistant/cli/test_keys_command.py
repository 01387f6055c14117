"""`assistant keys`, and what a running assistant makes of it."""

import json
import subprocess
from pathlib import Path
from typing import Any

import httpx
from calls import assert_error
from commands import BIN, Server


def keys(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([BIN / "assistant", "keys", *arguments], capture_output=True, text=True)


def created(folder: Path, *arguments: str) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(
        keys("create", *arguments, "--data-dir", folder, "--json").stdout
    )
    return made


def test_a_key_is_shown_once(tmp_path: Path) -> None:
    printed = keys("create", "Ann's laptop", "--user", "ann", "--data-dir", tmp_path)
    token = printed.stdout.strip()
    assert token.startswith("am-")
    assert token not in printed.stderr
    made = created(tmp_path, "open webui", "--scope", "act_as", "--scope", "set_time")
    listed = keys("list", "--data-dir", tmp_path, "--json").stdout
    kept = (tmp_path / "keys.json").read_text()
    shown = keys("list", "--data-dir", tmp_path).stdout
    for text in (listed, kept, shown):
        assert token not in text
        assert made["key"] not in text
        assert "Ann's laptop" in text
    assert [(one["user_id"], one["scopes"]) for one in json.loads(listed)] == [
        ("ann", []),
        (None, ["act_as", "set_time"]),
    ]
    assert made["id"] in shown


def test_keys_that_cannot_be_made_or_revoked(tmp_path: Path) -> None:
    for arguments in (
        ("create", "nobody's"),
        ("create", "both", "--user", "ann", "--scope", "act_as"),
        ("create", "odd", "--scope", "root"),
        ("revoke", "key-1"),
    ):
        ended = keys(*arguments, "--data-dir", tmp_path)
        assert ended.returncode == 2
        assert "Traceback" not in ended.stderr
        assert ended.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_a_running_assistant_sees_what_is_made_and_revoked(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.start()
    try:
        with httpx.Client(base_url=server.url) as client:
            assert client.get("/v1/models").status_code == 200
            made = created(tmp_path, "laptop", "--user", "ann")
            assert_error(client.get("/v1/models"), 401, "authentication_error", "invalid_api_key")
            client.headers["Authorization"] = f"Bearer {made['key']}"
            assert client.get("/v1/models").status_code == 200
            asked = [BIN / "assistant", "ask", "Who am I?", "--assistant", server.url]
            for key, code in (("wrong", 2), (made["key"], 0)):
                ended = subprocess.run(
                    [*asked, "--user", "ann", "--api-key", key], capture_output=True, text=True
                )
                assert ended.returncode == code, ended.stderr
            assert keys("revoke", made["id"], "--data-dir", tmp_path).returncode == 0
            assert client.get("/v1/models").status_code == 401
    finally:
        server.end()


def test_a_server_that_others_reach_does_not_start_without_a_key(tmp_path: Path) -> None:
    ended = subprocess.run(
        [BIN / "assistant", "serve", "--host", "0.0.0.0", "--port", "0", "--data-dir", tmp_path],
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 2
    assert "assistant keys create" in ended.stderr
    assert "ASSISTANT_API_KEY" in ended.stderr
    assert "127.0.0.1" in ended.stderr
    assert list(tmp_path.iterdir()) == []
