"""The file that holds the keys, as JSON: digests, labels, users and scopes, never a token.

It is configuration, like `assistant.toml`: any number of assistants read one file, and see at once
what is made or revoked in it.
"""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from assistant.access.keys import ApiKey, from_body, to_body
from assistant.errors import ConfigError


class KeyFile:
    """The keys in a file. Where there is no file there are no keys."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read_at: tuple[int, int, int] | None = None
        self._keys: tuple[ApiKey, ...] = ()

    def keys(self) -> tuple[ApiKey, ...]:
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

    def _read(self) -> tuple[ApiKey, ...]:
        try:
            return from_body(json.loads(self.path.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError, ConfigError) as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: Exception) -> ConfigError:
        return ConfigError(f"cannot read the keys in {self.path}: {error}", code="keys_unreadable")
