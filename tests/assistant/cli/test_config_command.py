"""`assistant config`, in this process: values, sources, masked secrets; the file of `init`."""

import io
import json
import re
from pathlib import Path

import pytest
from in_process import Run
from rich.console import Console

from assistant.cli.configuration import print_settings
from assistant.settings import Settings, load_settings
from assistant.settings.listing import (
    default_file,
    setting_fields,
    setting_meanings,
    settings_in_use,
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the command is run; there is nothing in it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A setting from each source, some from several."""
    (tmp_path / "mine.toml").write_text(
        'port = 1001\nchat_model = "a/b"\n[recall]\nrounds = 7\n[recall.weights]\nwords = 0.5\n'
    )
    (tmp_path / ".env").write_text("ASSISTANT_PORT=1002\nASSISTANT_HOST=::1\n")
    monkeypatch.setenv("ASSISTANT_PORT", "1003")
    monkeypatch.setenv("ASSISTANT_RECALL__WEIGHTS__SAID_THEN", "0.2")
    monkeypatch.setenv("ASSISTANT_KEYS", '{"merged": true}')
    monkeypatch.setenv("ASSISTANT_CHAT_MODEL_API_KEY", "sk-very-secret")
    monkeypatch.setenv("ASSISTANT_QDRANT_URL", "http://me:hush@127.0.0.1:6333")
    monkeypatch.setenv("ASSISTANT_DATA_DIR", "elsewhere")


@pytest.mark.usefixtures("sources")
@pytest.mark.parametrize(
    ("name", "value", "source"),
    [
        ("data_dir", "here", "flag"),
        ("config_file", "mine.toml", "flag"),
        ("port", 1003, "environment"),
        ("keys.merged", True, "environment"),
        ("keys.kinds", ["raw", "fact", "keyphrases", "summary"], "default"),
        ("recall.weights.said_then", 0.2, "environment"),
        ("chat_model.api_key", "**********", "environment"),
        ("qdrant_url", "http://**********@127.0.0.1:6333", "environment"),
        ("host", "::1", ".env"),
        ("chat_model.name", "a/b", "file"),
        ("recall.rounds", 7, "file"),
        ("recall.weights.words", 0.5, "file"),
        ("recall.weights.dense", 1.0, "default"),
        ("api_key", None, "default"),
    ],
)
def test_each_setting_says_where_it_comes_from(
    run: Run, name: str, value: object, source: str
) -> None:
    done = run("config", "--data-dir", "here", "--config", "mine.toml", "--json")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out)[name] == {"value": value, "source": source}
    assert "sk-very-secret" not in done.out
    assert "hush" not in done.out


@pytest.mark.usefixtures("sources")
def test_a_line_each_in_a_pipe(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSISTANT_PROT", "1")
    done = run("config", "--config", "mine.toml")
    lines = [tuple(line.split("\t")) for line in done.out.splitlines()]
    assert {("port", "1003", "environment"), ("recall.rounds", "7", "mine.toml")} <= set(lines)
    assert ("api_key", "", "default") in lines
    assert {len(line) for line in lines} == {3}
    assert "did you mean ASSISTANT_PORT?" in done.err
    assert "sk-very-secret" not in done.out


@pytest.mark.usefixtures("sources")
def test_a_table_on_a_terminal() -> None:
    drawn = io.StringIO()
    console = Console(file=drawn, force_terminal=True, width=60, color_system=None)
    print_settings(console, settings_in_use(config_file=Path("mine.toml")))
    first, *rows = (line.split() for line in drawn.getvalue().splitlines())
    assert first == ["setting", "value", "from"]
    assert ["recall.rounds", "7", "mine.toml"] in rows


def test_a_wrong_setting_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSISTANT_PORT", "sk-very-secret")
    done = run("config")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("assistant: wrong setting: port: ")
    assert "secret" not in done.err


def test_init_writes_a_file_that_changes_nothing(run: Run, folder: Path) -> None:
    before = load_settings()
    assert run("config", "init").out == "written: assistant.toml\n"
    assert load_settings() == before
    assert not [one for one in settings_in_use() if one.source == "file"]
    (folder / "assistant.toml").write_text("port = 1\n")
    done = run("config", "init")
    assert (done.code, "assistant.toml exists already" in done.err) == (2, True)
    assert (folder / "assistant.toml").read_text() == "port = 1\n"
    assert run("config", "init", "other.toml").code == 0
    assert (folder / "other.toml").stat().st_mode & 0o777 == 0o600


def test_the_file_of_init_holds_every_setting_its_meaning_and_its_default(folder: Path) -> None:
    text = default_file()
    fields = [field for path, field in setting_fields(Settings) if path != ("config_file",)]
    assert setting_meanings(Settings).keys() >= {path for path, _ in setting_fields(Settings)}
    unset = re.findall(r"^# \w+ =$", text, re.MULTILINE)
    (folder / "assistant.toml").write_text(re.sub(r"^# (\w+ = )", r"\1", text, flags=re.MULTILINE))
    from_file = [one for one in settings_in_use() if one.source == "file"]
    assert len(from_file) == len(fields) - len(unset)
    (folder / "assistant.toml").unlink()
    defaults = {one.name: one.value for one in settings_in_use()}
    assert all(one.value == defaults[one.name] for one in from_file)
