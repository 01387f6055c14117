"""The file of a backup: text or gzip by its name, and never half there under that name."""

import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO, cast

from assistant.errors import ConfigError


@contextmanager
def written_whole(file: Path) -> Iterator[TextIO]:
    """A file to write, which takes its name when all of it is on the disk.

    Raises `ConfigError` when it cannot be written.
    """
    arriving = file.with_name(f"{file.name}.part")
    try:
        # As private as the memory itself.
        arriving.touch(mode=0o600)
        with _opened(file, arriving, "wt") as out:
            yield out
        with arriving.open("rb") as written:
            os.fsync(written.fileno())
        arriving.replace(file)
    except OSError as error:
        raise ConfigError(f"cannot write {file}: {error}", code="backup_failed") from error
    finally:
        arriving.unlink(missing_ok=True)


@contextmanager
def lines_of(file: Path) -> Iterator[Iterator[str]]:
    """The lines of a file. Raises `ConfigError` when it cannot be read to its end."""
    try:
        with _opened(file, file, "rt") as lines:
            yield iter(lines)
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {file}: {error}", code="backup_failed") from error


def _opened(named: Path, path: Path, mode: str) -> TextIO:
    if named.suffix == ".gz":
        return cast(TextIO, gzip.open(path, mode, encoding="utf-8", newline="\n"))
    return cast(TextIO, path.open(mode, encoding="utf-8", newline="\n"))
