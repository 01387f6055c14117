"""Where keys lie: in a file, or on the Qdrant server for all assistants that share it."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from assistant.access.keys import Key, from_body, to_body
from assistant.errors import ConfigError
from memory_store import Document, Documents


class KeyFile:
    """The keys in a file. Where there is no file there are no keys."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read_at: tuple[int, int, int] | None = None
        self._keys: tuple[Key, ...] = ()

    def keys(self) -> tuple[Key, ...]:
        """The keys of the moment; the file is read again when it has changed.

        Raises `ConfigError` for a file that cannot be read, rather than find nobody in it.
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

    def add(self, key: Key) -> None:
        """Put a key into the file."""
        self._change(lambda keys: (*keys, key))

    def remove(self, key_id: str) -> Key:
        """Take a key out of the file. Raises `ConfigError` when it is not there."""
        gone = [key for key in self.keys() if key.id == key_id]
        if not gone:
            raise ConfigError(f"there is no key {key_id[:80]!r}", code="unknown_key")
        self._change(lambda keys: tuple(key for key in keys if key.id != key_id))
        return gone[0]

    def _change(self, change: Callable[[Sequence[Key]], Sequence[Key]]) -> None:
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
        """A new file in the place of the old one; whoever makes it first may change the keys."""
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

    def _read(self) -> tuple[Key, ...]:
        try:
            return from_body(json.loads(self.path.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError, ConfigError) as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: Exception) -> ConfigError:
        return ConfigError(f"cannot read the keys in {self.path}: {error}", code="keys_unreadable")


SHARED_KEYS = "keys"
"""The name of the document, whose changes are told."""


class SharedKeys:
    """The keys in the document. Where there is no document there are no keys."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def keys(self) -> tuple[Key, ...]:
        """The keys of the moment. Raises `ConfigError` for what cannot be read."""
        return _keys_in(await self._documents.read(SHARED_KEYS))

    async def add(self, key: Key) -> None:
        """Put a key with the others."""
        done, there = False, await self._documents.read(SHARED_KEYS)
        while not done:
            done, there = await self._write((*_keys_in(there), key), there)

    async def remove(self, key_id: str) -> Key | None:
        """Take a key away; None when it is not there."""
        done, there, gone = False, await self._documents.read(SHARED_KEYS), None
        while not done:
            keys = _keys_in(there)
            gone = next((key for key in keys if key.id == key_id), gone)
            if gone not in keys:
                return gone
            done, there = await self._write([key for key in keys if key != gone], there)
        return gone

    async def _write(self, keys: Sequence[Key], over: Document) -> tuple[bool, Document]:
        return await self._documents.write(SHARED_KEYS, to_body(keys), over)


def _keys_in(document: Document) -> tuple[Key, ...]:
    try:
        return from_body(document.body) if document.body else ()
    except (ValueError, KeyError, TypeError, ConfigError) as error:
        raise ConfigError(
            f"cannot read the keys on the Qdrant server: {error}", code="keys_unreadable"
        ) from error
