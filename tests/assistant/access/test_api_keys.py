"""Keys: what is kept of them, what they open, and the file that holds them."""

import json
import os
from pathlib import Path

import pytest

from assistant.access.keys import ApiKey, KeyFile, KeyScope, NewKey, digest_of, key_of, new_key
from assistant.errors import ConfigError

MADE = "2026-01-02T03:04:05+00:00"


def made(label: str = "laptop", user: str | None = "ann", *scopes: KeyScope) -> NewKey:
    return new_key(label, user, scopes, created_at=MADE)


def test_a_token_opens_its_own_key_only() -> None:
    one, other = made(), made("phone")
    keys = [one.key, other.key]
    assert key_of(one.token, keys) == one.key
    assert key_of(other.token, keys) == other.key
    for wrong in ("", one.token[:-1], one.token + "x", one.key.id, one.key.digest, "\ud800"):
        assert key_of(wrong, keys) is None
    assert len({one.token, other.token, made().token}) == 3
    assert len(one.token) >= 40


def test_nothing_kept_holds_the_token() -> None:
    one = made()
    assert one.token not in repr(one.key)
    assert one.key.digest == digest_of(one.token)
    assert one.token[3:11] not in one.key.id


@pytest.mark.parametrize(
    ("user", "scopes"),
    [
        (None, ()),
        (None, (KeyScope.SET_TIME,)),
        ("ann", (KeyScope.ACT_AS,)),
        ("ann", (KeyScope.ADMIN,)),
        (" ", ()),
        ("a\nb", ()),
        ("a" * 257, ()),
    ],
)
def test_a_key_is_for_one_user_or_for_any(user: str | None, scopes: tuple[KeyScope, ...]) -> None:
    with pytest.raises(ConfigError):
        new_key("odd", user, scopes, created_at=MADE)


def test_the_file_gives_back_what_was_put_in(tmp_path: Path) -> None:
    path = tmp_path / "new" / "keys.json"
    file = KeyFile(path)
    assert file.keys() == ()
    one, other = made("Ann's läptop", "ann", KeyScope.SET_TIME), made("ui", None, KeyScope.ACT_AS)
    file.add(one.key)
    file.add(other.key)
    assert file.keys() == KeyFile(path).keys() == (one.key, other.key)
    assert one.token not in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    assert file.remove(one.key.id) == one.key
    assert KeyFile(path).keys() == (other.key,)
    assert [left.name for left in path.parent.iterdir()] == ["keys.json"]


def test_what_another_process_changes_is_seen(tmp_path: Path) -> None:
    reader, writer = (KeyFile(tmp_path / "keys.json") for _ in range(2))
    key = made().key
    writer.add(key)
    assert reader.keys() == (key,)
    writer.remove(key.id)
    assert reader.keys() == ()
    writer.path.unlink()
    assert reader.keys() == ()


def test_an_unknown_key_cannot_be_removed(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no key"):
        KeyFile(tmp_path / "keys.json").remove("key-1")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "change",
    [
        {"format": "something/else"},
        {"version": 2},
        {"keys": [{"id": "key-1"}]},
        {"keys": [1]},
        {"keys": [{"sha256": "00", "user_id": "ann", "scopes": []}]},
        {"keys": [{"sha256": "x", "user_id": "ann", "scopes": []}]},
        {"keys": [{"sha256": "00" * 32, "user_id": "ann", "scopes": ["root"]}]},
        {"keys": [{"sha256": "00" * 32, "id": "", "label": "", "user_id": None, "scopes": []}]},
    ],
)
def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path, change: dict[str, object]) -> None:
    """Not a file without keys."""
    path = tmp_path / "keys.json"
    KeyFile(path).add(made().key)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ConfigError, match="cannot read the keys"):
        KeyFile(path).keys()


def test_two_changes_at_once_are_refused(tmp_path: Path) -> None:
    file = KeyFile(tmp_path / "keys.json")
    file.add(made().key)
    before = file.path.read_text()
    (tmp_path / "keys.json.new").touch()
    with pytest.raises(ConfigError, match="another command"):
        file.add(made().key)
    assert file.path.read_text() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(ConfigError, match="cannot write"):
        KeyFile(tmp_path / "keys.json").add(made().key)


def test_a_key_is_a_value() -> None:
    key = made().key
    assert key == ApiKey(**{name: getattr(key, name) for name in ApiKey.__slots__})
