"""Settings: where they come from, which source wins, how a wrong one is named."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from assistant.errors import ConfigError
from assistant.settings import LanguageModel, Settings, load_settings
from memory_store import KeyKind


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_defaults_need_nothing() -> None:
    settings = load_settings()
    assert (settings.host, settings.port, settings.data_dir) == ("127.0.0.1", 8080, Path("data"))
    assert settings.chat_model.name == ""


def test_each_source_wins_over_the_next(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "assistant.toml").write_text("port = 1001\n")
    assert load_settings().port == 1001
    (folder / ".env").write_text("ASSISTANT_PORT=1002\nSOMETHING_ELSE=1\n")
    assert load_settings().port == 1002
    monkeypatch.setenv("ASSISTANT_PORT", "1003")
    assert load_settings().port == 1003
    assert load_settings(port=1004).port == 1004
    assert load_settings(port=None).port == 1003


def test_nested_settings_merge_across_sources(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "assistant.toml").write_text("[recall]\nrounds = 7\n")
    monkeypatch.setenv("ASSISTANT_RECALL__CONTEXT_TOKENS", "900")
    recall = load_settings().recall
    assert (recall.rounds, recall.context_tokens) == (7, 900)


def test_the_server_has_flat_and_nested_settings(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "assistant.toml").write_text("[qdrant]\nshards = 3\n")
    monkeypatch.setenv("ASSISTANT_QDRANT_URL", "http://127.0.0.1:6333")
    monkeypatch.setenv("ASSISTANT_QDRANT__REPLICATION", "2")
    settings = load_settings()
    assert settings.qdrant_url == "http://127.0.0.1:6333"
    assert (settings.qdrant.shards, settings.qdrant.replication) == (3, 2)


def chat_model(**flags: Any) -> tuple[str, str, str | None, float, int]:
    model = load_settings(**flags).chat_model
    return model.name, model.base_url, model.key, model.timeout, model.retries


def test_the_parts_of_a_model_merge_across_sources_in_every_form(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "assistant.toml").write_text('[chat_model]\nname = "a/file"\nbase_url = "u:file"\n')
    assert chat_model() == ("a/file", "u:file", None, 120.0, 2)
    (folder / ".env").write_text("ASSISTANT_CHAT_MODEL=a/dotenv\nASSISTANT_CHAT_MODEL_RETRIES=7\n")
    assert chat_model() == ("a/dotenv", "u:file", None, 120.0, 7)
    monkeypatch.setenv("ASSISTANT_CHAT_MODEL", '{"timeout": 4}')
    monkeypatch.setenv("ASSISTANT_CHAT_MODEL__API_KEY", "k:environment")
    assert chat_model() == ("a/dotenv", "u:file", "k:environment", 4.0, 7)
    flags = {"chat_model": "a/flag", "chat_model_timeout": 3}
    assert chat_model(**flags) == ("a/flag", "u:file", "k:environment", 3.0, 7)
    whole = LanguageModel(name="a/whole", retries=1)
    assert chat_model(chat_model=whole) == ("a/whole", "u:file", "k:environment", 4.0, 1)


@pytest.mark.parametrize("model", ["chat_model", "extract_model", "query_model"])
@pytest.mark.parametrize("old", [False, True])
def test_each_source_wins_over_the_next_by_old_names_and_new(
    folder: Path, monkeypatch: pytest.MonkeyPatch, model: str, old: bool
) -> None:
    def base_url(**flags: Any) -> str:
        return str(getattr(load_settings(**flags), model).base_url)

    def form(by_old: str, by_new: str) -> str:
        return by_old if old else by_new

    new_table, old_line = f'[{model}]\nbase_url = "file"\n', f'{model}_base_url = "file"\n'
    (folder / "assistant.toml").write_text(form(new_table, old_line))
    assert base_url() == "file"
    name = f"ASSISTANT_{model.upper()}"
    variable = form(f"{name}_BASE_URL", f"{name}__BASE_URL")
    (folder / ".env").write_text(f"{variable}=dotenv\n")
    assert base_url() == "dotenv"
    monkeypatch.setenv(form(f"{name}__BASE_URL", f"{name}_BASE_URL"), "environment")
    assert base_url() == "environment"
    flag = {f"{model}_base_url": "flag"} if old else {model: {"base_url": "flag"}}
    assert base_url(**flag) == "flag"


def test_within_one_source_the_new_name_wins_unless_it_is_empty(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "assistant.toml").write_text(
        'chat_model_base_url = "old"\nextract_model = "a/name"\nextract_model_base_url = "old"\n'
        '[chat_model]\nbase_url = "new"\n'
    )
    settings = load_settings()
    assert settings.chat_model.base_url == "new"
    assert (settings.extract_model.name, settings.extract_model.base_url) == ("a/name", "old")
    monkeypatch.setenv("ASSISTANT_QUERY_MODEL__NAME", "a/new")
    monkeypatch.setenv("ASSISTANT_QUERY_MODEL", "a/old")
    monkeypatch.setenv("ASSISTANT_QUERY_MODEL__BASE_URL", "")
    monkeypatch.setenv("ASSISTANT_QUERY_MODEL_BASE_URL", "old")
    query_model = load_settings().query_model
    assert (query_model.name, query_model.base_url) == ("a/new", "old")


def test_the_settings_file_can_be_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "mine.toml").write_text("port = 1005\n")
    assert load_settings(config_file=folder / "mine.toml").port == 1005
    monkeypatch.setenv("ASSISTANT_CONFIG_FILE", "mine.toml")
    assert load_settings().port == 1005


def test_a_design_can_be_set_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSISTANT_RECALL__WEIGHTS", '{"words": 0, "speaker": 0}')
    monkeypatch.setenv("ASSISTANT_RECALL__WEIGHTS__SAID_THEN", "0.5")
    monkeypatch.setenv("ASSISTANT_KEYS__KINDS", '["raw", "fact"]')
    settings = load_settings()
    weights = settings.recall.weights
    assert (weights.dense, weights.words, weights.speaker, weights.said_then) == (1, 0, 0, 0.5)
    assert settings.keys.kinds == (KeyKind.RAW, KeyKind.FACT)


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        ({"recall": {"weights": {"words": -1}}}, "recall.weights.words"),
        ({"keys": {"kinds": []}}, "keys.kinds"),
        ({"keys": {"kinds": ["title"]}}, "keys.kinds"),
        ({"port": 70_000}, "port"),
        ({"quote_floor": -1}, "quote_floor"),
        ({"recall": {"rounds": -1}}, "recall.rounds"),
        ({"recall": {"depth": 1}}, "recall.depth"),
        ({"qdrant": {"replication": 0}}, "qdrant.replication"),
        ({"chat_model_timeout": "soon"}, r"chat_model\.timeout"),
        ({"chat_model": {"timeout": "soon"}}, r"chat_model\.timeout"),
        ({"chat_model": {"url": "x"}}, r"chat_model\.url"),
        ({"chat_model_timeout": {"timeout": 3}}, r"chat_model\.timeout"),
        ({"config_file": "nowhere.toml"}, "nowhere.toml"),
    ],
)
def test_a_wrong_setting_is_named(flags: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError, match=named) as refused:
        load_settings(**flags)
    assert refused.value.code == "wrong_setting"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("prot = 8080\n", "prot"),
        ("port = \n", "assistant.toml"),
        ('port = "many"\n', "port"),
        ("[recall]\nround = 3\n", "recall.round"),
    ],
)
def test_a_wrong_settings_file_is_named(folder: Path, text: str, named: str) -> None:
    (folder / "assistant.toml").write_text(text)
    with pytest.raises(ConfigError, match=named):
        load_settings()


def test_a_wrong_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSISTANT_REQUIRE_USER", "perhaps")
    with pytest.raises(ConfigError, match="require_user"):
        load_settings()


def test_secrets_are_masked_in_what_is_shown() -> None:
    settings = Settings(
        chat_model_api_key=SecretStr("sk-very-secret"),
        chat_model_base_url="http://me:hush@127.0.0.1/v1",
        qdrant_api_key=SecretStr("qd-very-secret"),
        qdrant_url="http://me:hush@127.0.0.1:6333",
    )
    shown = str(settings.public()) + repr(settings.chat_model.api_key)
    assert "sk-very-secret" not in shown
    assert "qd-very-secret" not in shown
    assert "hush" not in shown
    assert "127.0.0.1/v1" in shown


def test_no_error_repeats_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSISTANT_CHAT_MODEL_API_KEY", "sk-very-secret")
    with pytest.raises(ConfigError) as refused:
        load_settings(port="sk-very-secret")
    assert "sk-very-secret" not in str(refused.value)
