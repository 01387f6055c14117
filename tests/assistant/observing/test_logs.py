"""Log lines: their two forms, what is left out of them, and ids that tie them to requests."""

import io
import json
import logging
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from calls import chat, record
from nursery import NURSERY
from scripted_model import ScriptedModel

from assistant.errors import BadModelReply
from assistant.observing.logs import begin_note, configure_logs, with_fields
from assistant.settings.groups import LogSettings
from memory_store.errors import InvalidRecord, StoreUnavailable

SECRET = "quokkasecret"
KEY = "sk-wombatkey"


@pytest.fixture
def _logging_as_before() -> Iterator[None]:
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    yield
    root.handlers[:] = before
    root.setLevel(level)


def written(settings: LogSettings, logger: str = "assistant.try") -> tuple[logging.Logger, Any]:
    stream = io.StringIO()
    configure_logs(settings, stream)
    return logging.getLogger(logger), stream.getvalue


pytestmark = pytest.mark.usefixtures("_logging_as_before")


def test_text() -> None:
    log, lines = written(LogSettings(level="info"))
    begin_note("req_1")
    log.info("%s %s", "GET", "/health", extra=with_fields(status=200))
    log.debug("nobody asked")
    assert lines() == "INFO assistant.try [req_1]: GET /health status=200\n"


def test_json() -> None:
    log, lines = written(LogSettings(format="json"))
    begin_note("req_1")
    log.warning("two\nlines", extra=with_fields(status=200))
    line = json.loads(lines())
    assert line.pop("time").endswith("+00:00")
    assert line == {
        "level": "warning",
        "logger": "assistant.try",
        "message": "two\nlines",
        "request_id": "req_1",
        "status": 200,
    }
    assert lines().count("\n") == 1


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (StoreUnavailable("cannot reach 127.0.0.1"), "cannot reach 127.0.0.1"),
        (BadModelReply(SECRET), "BadModelReply (bad_model_reply)"),
        (InvalidRecord(SECRET), "InvalidRecord"),
        (ValueError(SECRET), "ValueError"),
    ],
)
def test_errors_speak_only_where_they_quote_nobody(error: Exception, said: str) -> None:
    log, lines = written(LogSettings())
    log.warning("it failed: %s", error)
    assert f"it failed: {said}\n" in lines()


@pytest.mark.parametrize("form", ["text", "json"])
def test_failures_are_shown_by_kind_and_place(form: Any) -> None:
    log, lines = written(LogSettings(format=form))
    try:
        try:
            int(SECRET)
        except ValueError as error:
            raise RuntimeError(SECRET) from error
    except RuntimeError:
        log.exception("it failed")
    assert SECRET not in lines()
    assert "RuntimeError at" in lines()
    assert "ValueError at" in lines()
    assert "test_logs.py:" in lines()


def test_other_libraries_are_known_by_place_only() -> None:
    log, lines = written(LogSettings(), logger="elsewhere")
    log.warning("they said %s", SECRET)
    assert SECRET not in lines()
    assert "elsewhere" in lines()
    assert "test_logs:" in lines()


def test_contents_can_be_asked_for() -> None:
    log, lines = written(LogSettings(contents=True), logger="elsewhere")
    try:
        int(SECRET)
    except ValueError:
        log.exception("they said %s", SECRET)
    assert lines().count(SECRET) >= 2


@contextmanager
def logging_server(folder: Path, **settings: str) -> Iterator[str]:
    """A server whose standard error goes to `folder/log`, all of it; its URL."""
    command = NURSERY.command("assistant", "serve", "--port", 0, "--data-dir", folder / "data")
    environment = {
        "ASSISTANT_EMBEDDER": "hash",
        "ASSISTANT_LOGS__LEVEL": "debug",
        "ASSISTANT_LOGS__FORMAT": "json",
    }
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            command,
            env=os.environ | environment | settings,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().split()[2]
    finally:
        process.send_signal(signal.SIGTERM)
        rest, _ = process.communicate(timeout=30)
    (folder / "out").write_text(rest)


def a_session_full_of_secrets(http: httpx.Client, model: ScriptedModel) -> None:
    """Everything that works and everything that fails, with the secret in all of it."""
    user = f"user {SECRET}"
    record(http, user, f"session {SECRET}", f"My password is {SECRET}.", f"I noted {SECRET}.")
    model.on("chain_of_note").reply("ANSWER:\n", f"It is {SECRET}.")
    model.on("chain_of_note").reply("ANSWER:\n", f"It is {SECRET} again.")
    model.on("chain_of_note").raw(json.dumps({"error": {"message": SECRET}}), status=400)
    model.on("chain_of_note").fault(500)
    model.on("chain_of_note").drop("ANSWER:\n", SECRET)
    model.on("understand_question").reply(SECRET).reply(SECRET).reply(SECRET).reply(SECRET)
    for stream in (False, True, False, False, True):
        chat(http, user, f"What is {SECRET}?", stream=stream)
    http.post("/v1/chat/completions", content=f'{{"{SECRET}": ')
    http.post("/v1/chat/completions", json={"messages": [{"role": SECRET}]})
    http.post("/v1/memories/search", json={"user_id": user, "query": SECRET, "now": SECRET})
    http.get("/v1/memories", params={"user_id": user, "text": SECRET})
    http.get(f"/v1/users/{user}/export")
    http.post(f"/v1/users/{user}/import", content=f"{SECRET}\n")
    http.get(f"/{SECRET}")
    http.request(SECRET.upper(), "/health")
    http.delete(f"/v1/users/{user}/memories")


def test_no_line_of_a_served_session_holds_what_was_said(
    tmp_path: Path, model: ScriptedModel
) -> None:
    settings = {
        "ASSISTANT_CHAT_MODEL": "openai/fake",
        "ASSISTANT_CHAT_MODEL_BASE_URL": model.url,
        "ASSISTANT_CHAT_MODEL_API_KEY": KEY,
        "ASSISTANT_CHAT_MODEL_RETRIES": "0",
        "ASSISTANT_QUERY_MODEL": "openai/fake",
        "ASSISTANT_QUERY_MODEL_BASE_URL": model.url,
        "ASSISTANT_QUERY_MODEL_API_KEY": KEY,
    }
    headers = {"Authorization": f"Bearer {KEY}", "X-Request-Id": "trace-7"}
    with (
        logging_server(tmp_path, **settings) as url,
        httpx.Client(base_url=url, headers=headers, timeout=60) as http,
    ):
        a_session_full_of_secrets(http, model)
        assert http.get("/health").headers["x-request-id"] == "trace-7"
    model.reset()
    text = (tmp_path / "log").read_text()
    for said in (text, (tmp_path / "out").read_text()):
        for secret in (SECRET, KEY):
            assert secret not in said.lower()
    lines = [json.loads(line) for line in text.splitlines()]
    asked = [line for line in lines if line["logger"] == "assistant.access"]
    assert {line["request_id"] for line in asked} == {"trace-7"}
    told = {(line["message"], line["status"], line.get("error")) for line in asked}
    assert ("POST /v1/chat/completions", 200, None) in told
    assert ("POST /v1/chat/completions", 400, "invalid_json") in told
    assert ("GET none", 404, "route_not_found") in told
    assert all(line["ms"] >= 0 for line in asked)
    # What the query model failed at is said while the request it belongs to is known.
    rules = [line for line in lines if line["logger"] == "assistant.chat.retriever"]
    assert {line.get("request_id") for line in rules} == {"trace-7"}


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("trace-7", "trace-7"),
        ("a b\tc<script>", "abcscript"),
        ("x" * 300, "x" * 128),
    ],
)
def test_a_callers_id_is_kept_as_far_as_it_is_fit(
    http: httpx.Client, given: str, kept: str
) -> None:
    headers = {"X-Request-Id": given.encode()}
    assert http.get("/health", headers=headers).headers["x-request-id"] == kept


def test_an_id_with_a_control_character_does_not_come_in(http: httpx.Client) -> None:
    assert http.get("/health", headers={"X-Request-Id": b"\x1b[31m"}).status_code == 400


@pytest.mark.parametrize("given", ["", "✓✓"])
def test_an_id_is_made_where_none_is_fit(http: httpx.Client, given: str) -> None:
    headers = {"X-Request-Id": given.encode()}
    assert http.get("/health", headers=headers).headers["x-request-id"].startswith("req_")
