"""A mistyped variable is named, with the setting that was probably meant."""

from pathlib import Path

import pytest
from in_process import Run

from assistant.settings import load_settings
from assistant.settings.listing import warnings_about_names


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("ASSISTANT_CHAT_MODLE", "ASSISTANT_CHAT_MODEL"),
        ("assistant_prot", "ASSISTANT_PORT"),
        ("ASSISTANT_RECALL__ROUND", "ASSISTANT_RECALL__ROUNDS"),
        ("ASSISTANT_QDRANT_COLLECTION", "ASSISTANT_QDRANT__COLLECTION"),
    ],
)
def test_a_mistyped_name(name: str, meant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "sk-very-secret")
    (line,) = warnings_about_names()
    assert line.startswith(f"{name} in the environment is no setting")
    assert line.endswith(f"did you mean {meant}?")
    assert "secret" not in line


@pytest.mark.parametrize(
    "name",
    [
        "ASSISTANT_PORT",
        "assistant_port",
        "ASSISTANT_URL",
        "ASSISTANT_RECALL__WEIGHTS",
        "ASSISTANT_MODELS__PRICES__X",
        "ASSISTANT_CHAT_MODEL",
        "ASSISTANT_CHAT_MODEL__BASE_URL",
        "ASSISTANT_CHAT_MODEL_BASE_URL",
        "ASSISTANT_QUERY_MODEL_TIMEOUT",
        "PATH",
    ],
)
def test_a_name_that_is_right(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "1")
    assert warnings_about_names() == []


def test_a_setting_of_an_earlier_version_is_named_and_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSISTANT_EMBEDDER_PATH", "int8")
    said = "is no longer a setting and counts for nothing"
    assert warnings_about_names() == [f"ASSISTANT_EMBEDDER_PATH in the environment {said}"]
    (tmp_path / "assistant.toml").write_text('embedder_path = "auto"\nport = 1001\n')
    assert load_settings().port == 1001
    assert f"embedder_path in assistant.toml {said}" in caplog.text


def test_a_removed_setting_of_a_group_stops_nothing_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSISTANT_QDRANT__TIMEOUT", "3")
    monkeypatch.setenv("ASSISTANT_LIMITS", '{"messages": 5, "connections": 7}')
    monkeypatch.setenv("ASSISTANT_RECALL__WEIGHTS", '{"personal": 0.1, "words": 0.3}')
    (tmp_path / ".env").write_text("ASSISTANT_MODELS__AT_ONCE=8\n")
    (tmp_path / "assistant.toml").write_text("[qdrant]\nretries = 1\nshards = 3\n")
    said = "is no longer a setting and counts for nothing"
    assert warnings_about_names() == [
        f"ASSISTANT_QDRANT__TIMEOUT in the environment {said}",
        f"ASSISTANT_MODELS__AT_ONCE in .env {said}",
    ]
    settings = load_settings(enrichment={"known_facts": 3, "attempts": 2})
    assert settings.recall.weights.words == 0.3
    assert (settings.limits.connections, settings.qdrant.shards) == (7, 3)
    assert settings.enrichment.attempts == 2
    assert f"qdrant.retries in assistant.toml {said}" in caplog.text


def test_a_name_in_the_dotenv_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("ASSISTANT_HOTS=::1\nOTHER=1\nASSISTANT_ZZZZZZZZZZ=1\n")
    assert warnings_about_names() == [
        "ASSISTANT_HOTS in .env is no setting and counts for nothing; did you mean ASSISTANT_HOST?",
        "ASSISTANT_ZZZZZZZZZZ in .env is no setting and counts for nothing",
    ]


def test_check_says_it(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSISTANT_EMBEDDER", "hash")
    monkeypatch.setenv("ASSISTANT_EMBEDER", "hash")
    done = run("check")
    assert (done.code, done.out[:8]) == (0, "address:")
    assert "did you mean ASSISTANT_EMBEDDER?" in done.err
