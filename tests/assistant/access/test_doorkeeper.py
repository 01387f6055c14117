"""Who needs a key, and when."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from assistant.access.doorkeeper import ANYBODY, Doorkeeper, check_reachable, is_loopback
from assistant.access.keys import KeyFile, KeyScope, new_key
from assistant.errors import ConfigError, Unauthenticated
from assistant.settings import Settings

TOKEN = "a text of more than sixteen characters"


def doorkeeper(folder: Path, host: str = "127.0.0.1", token: str | None = None) -> Doorkeeper:
    key = SecretStr(token) if token else None
    return Doorkeeper(Settings(data_dir=folder, host=host, api_key=key))


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("[::1]", True),
        ("localhost", True),
        ("LOCALHOST", True),
        ("0.0.0.0", False),
        ("::", False),
        ("", False),
        ("192.168.1.7", False),
        ("127.0.0.1.example.org", False),
        ("localhost.example.org", False),
    ],
)
def test_loopback(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


def test_on_loopback_without_keys_anybody_may_do_everything(tmp_path: Path) -> None:
    assert doorkeeper(tmp_path).caller(None) is ANYBODY
    assert doorkeeper(tmp_path).caller("unused") is ANYBODY
    assert ANYBODY.scopes == set(KeyScope)


def test_a_key_made_while_it_runs_is_needed_from_then_on(tmp_path: Path) -> None:
    door = doorkeeper(tmp_path)
    assert not door.needs_key
    made = new_key("laptop", "ann", (), created_at="now")
    file = KeyFile(tmp_path / "keys.json")
    file.add(made.key)
    with pytest.raises(Unauthenticated):
        door.caller(None)
    assert door.caller(made.token).user_id == "ann"
    file.remove(made.key.id)
    for token in (made.token, None):
        with pytest.raises(Unauthenticated):
            door.caller(token)


def test_elsewhere_a_key_is_always_needed(tmp_path: Path) -> None:
    with pytest.raises(Unauthenticated):
        doorkeeper(tmp_path, "0.0.0.0").caller(None)


def test_the_key_of_the_settings_may_do_everything(tmp_path: Path) -> None:
    door = doorkeeper(tmp_path, token=TOKEN)
    assert door.caller(TOKEN).scopes == set(KeyScope)
    with pytest.raises(Unauthenticated):
        door.caller(TOKEN[:-1])


def test_a_server_that_others_reach_needs_a_key(tmp_path: Path) -> None:
    check_reachable(Settings(data_dir=tmp_path))
    open_to_all = Settings(data_dir=tmp_path, host="0.0.0.0")
    with pytest.raises(ConfigError, match="assistant keys create"):
        check_reachable(open_to_all)
    check_reachable(open_to_all.model_copy(update={"api_key": SecretStr(TOKEN)}))
    KeyFile(tmp_path / "keys.json").add(new_key("a", "ann", (), created_at="now").key)
    check_reachable(open_to_all)


def test_keys_that_cannot_be_read_stop_the_start(tmp_path: Path) -> None:
    (tmp_path / "keys.json").write_text("{")
    with pytest.raises(ConfigError, match="cannot read the keys"):
        doorkeeper(tmp_path)
