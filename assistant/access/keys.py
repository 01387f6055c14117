"""API keys: random tokens of which only a digest is kept, what each key allows, and where keys are
kept: in a file, or on a Qdrant server.

The file is configuration, like `assistant.toml`: any number of assistants may read one file, and
each sees at once when a key is made or revoked in it."""

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from assistant.characters import wrong_with_id
from assistant.errors import ConfigError

if TYPE_CHECKING:
    from memory_store import Document, Documents

_FORMAT, _VERSION = "aide-memoire/keys", 1
_PREFIX = "am-"
_RANDOM_BYTES = 32


class KeyScope(StrEnum):
    """What a key allows beyond using the memory of one user at the present time."""

    ACT_AS = "act_as"
    """Name any user."""
    SET_TIME = "set_time"
    """Say that it is, or was, another time than now."""
    ADMIN = "admin"
    """Name any user, and read what concerns the whole server."""


@dataclass(frozen=True, slots=True)
class ApiKey:
    """One key as it is kept, without its token: nobody can get in with this."""

    id: str
    label: str
    digest: str
    """SHA-256 of the token, in hex. The token is 256 random bits: a slower digest helps nothing."""
    user_id: str | None
    """The one user it is for; None where its scopes let it name any."""
    scopes: frozenset[KeyScope]
    created_at: str
    """RFC 3339."""

    def __post_init__(self) -> None:
        if self.user_id is not None and not self.user_id.strip():
            raise ConfigError("the user of a key must not be blank", code="wrong_key")
        any_user = bool(self.scopes & {KeyScope.ACT_AS, KeyScope.ADMIN})
        if any_user == (self.user_id is not None):
            raise ConfigError(
                "a key is either for one user or has the scope act_as or admin",
                code="wrong_key",
            )


class NewKey(NamedTuple):
    """A new key and its token, which is stored nowhere."""

    key: ApiKey
    token: str


def new_key(
    label: str, user_id: str | None, scopes: Collection[KeyScope], *, created_at: str
) -> NewKey:
    """Make a key with a new token. Raises `ConfigError` for a user that cannot be, and for a user
    and scopes that contradict each other."""
    if user_id is not None and (wrong := wrong_with_id(user_id)):
        raise ConfigError(f"the user of a key {wrong}", code="wrong_key")
    token = _PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)
    id = f"key-{secrets.token_hex(4)}"
    return NewKey(
        ApiKey(id, label, digest_of(token), user_id, frozenset(scopes), created_at), token
    )


def digest_of(token: str) -> str:
    """The digest that is kept of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def key_of(token: str, keys: Collection[ApiKey]) -> ApiKey | None:
    """The key of a token; how long the search takes tells nothing about the keys."""
    digest = digest_of(token)
    found = [key for key in keys if hmac.compare_digest(key.digest, digest)]
    return found[0] if found else None


def to_body(keys: Sequence[ApiKey]) -> dict[str, Any]:
    """Keys as they are kept, in JSON: digests, labels, users and scopes, never a token."""
    return {"format": _FORMAT, "version": _VERSION, "keys": [body_of(key) for key in keys]}


def from_body(body: Mapping[str, Any]) -> tuple[ApiKey, ...]:
    """The keys in what `to_body` made. Raises `ValueError` and the like for anything else."""
    if (body["format"], body["version"]) != (_FORMAT, _VERSION):
        raise ValueError("these are no keys of this version")
    return tuple(map(_key_from_body, body["keys"]))


def body_of(key: ApiKey) -> dict[str, Any]:
    """A key as it is kept, in JSON."""
    return {
        "id": key.id,
        "label": key.label,
        "sha256": key.digest,
        "user_id": key.user_id,
        "scopes": sorted(key.scopes),
        "created_at": key.created_at,
    }


def _key_from_body(body: Mapping[str, Any]) -> ApiKey:
    user_id = body["user_id"]
    digest = str(body["sha256"]).lower()
    if len(bytes.fromhex(digest)) != 32:
        raise ValueError("sha256 must be 64 hexadecimal digits")
    return ApiKey(
        id=str(body["id"]),
        label=str(body["label"]),
        digest=digest,
        user_id=None if user_id is None else str(user_id),
        scopes=frozenset(KeyScope(scope) for scope in body["scopes"]),
        created_at=str(body["created_at"]),
    )


class KeyFile:
    """The keys in a file. Where there is no file there are no keys."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read_at: tuple[int, int, int] | None = None
        self._keys: tuple[ApiKey, ...] = ()

    def keys(self) -> tuple[ApiKey, ...]:
        """The keys of the moment; the file is read again when it has changed.

        Raises `ConfigError` for a file that cannot be read, rather than return no keys.
        """
        try:
            stat = self.path.stat()
        except FileNotFoundError:
            self._read_at, self._keys = None, ()
            return ()
        except OSError as error:
            raise self._unreadable(error) from error
        version = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
        if version != self._read_at:
            self._keys = self._read()
            self._read_at = version
        return self._keys

    def add(self, key: ApiKey) -> None:
        """Put a key into the file."""
        self._change(lambda keys: (*keys, key))

    def remove(self, key_id: str) -> ApiKey:
        """Take a key out of the file. Raises `ConfigError` when it is not there."""
        gone = [key for key in self.keys() if key.id == key_id]
        if not gone:
            raise ConfigError(f"there is no key {key_id[:80]!r}", code="unknown_key")
        self._change(lambda keys: tuple(key for key in keys if key.id != key_id))
        return gone[0]

    def _change(self, change: Callable[[Sequence[ApiKey]], Sequence[ApiKey]]) -> None:
        try:
            with self._replacing() as file:
                body = to_body(change(self.keys()))
                file.write(json.dumps(body, ensure_ascii=False, indent=2) + "\n")
        except FileExistsError as error:
            raise ConfigError(
                f"another command changes {self.path}; if none does, delete {error.filename}",
                code="keys_unreadable",
            ) from error
        except OSError as error:
            raise ConfigError(
                f"cannot write {self.path}: {error}", code="keys_unreadable"
            ) from error

    @contextmanager
    def _replacing(self) -> Iterator[Any]:
        """Write a new file that takes the place of the old one. It is a lock, too: only the process
        that could create it changes the keys."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = self.path.with_name(f"{self.path.name}.new")
        descriptor = os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            with open(descriptor, "w", encoding="utf-8") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            new.replace(self.path)
        except BaseException:
            new.unlink(missing_ok=True)
            raise

    def _read(self) -> tuple[ApiKey, ...]:
        try:
            return from_body(json.loads(self.path.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError, ConfigError) as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: Exception) -> ConfigError:
        return ConfigError(f"cannot read the keys in {self.path}: {error}", code="keys_unreadable")


SHARED_KEYS = "keys"
"""The name of the document of shared keys, which workers watch for changes."""


class SharedKeys:
    """The keys that all assistants on one Qdrant server share, in one document. Where there is no
    document there are no keys."""

    def __init__(self, documents: "Documents") -> None:
        self._documents = documents

    async def keys(self) -> tuple[ApiKey, ...]:
        """The keys of the moment. Raises `ConfigError` when they cannot be read."""
        return _keys_in(await self._documents.read(SHARED_KEYS))

    async def add(self, key: ApiKey) -> None:
        """Put a key with the others."""
        done, there = False, await self._documents.read(SHARED_KEYS)
        while not done:
            done, there = await self._write((*_keys_in(there), key), there)

    async def remove(self, key_id: str) -> ApiKey | None:
        """Take a key away; None when it is not there."""
        done, there, gone = False, await self._documents.read(SHARED_KEYS), None
        while not done:
            keys = _keys_in(there)
            gone = next((key for key in keys if key.id == key_id), gone)
            if gone not in keys:
                return gone
            done, there = await self._write([key for key in keys if key != gone], there)
        return gone

    async def _write(self, keys: Sequence[ApiKey], over: "Document") -> "tuple[bool, Document]":
        return await self._documents.write(SHARED_KEYS, to_body(keys), over)


def _keys_in(document: "Document") -> tuple[ApiKey, ...]:
    try:
        return from_body(document.body) if document.body else ()
    except (ValueError, KeyError, TypeError, ConfigError) as error:
        raise ConfigError(
            f"cannot read the keys on the Qdrant server: {error}", code="keys_unreadable"
        ) from error
