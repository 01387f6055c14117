"""Writing a data file instance by instance, compressed by its suffix, the same bytes every time."""

import gzip
import json
import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

from harness.compilation.pool import PlacedSession
from harness.datasets.files import SUFFIXES
from harness.errors import UsageError

# The distance to a filler's last use is larger than the default window; this one finds most.
_XZ_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 2, "dict_size": 1 << 26}]
_GZIP_LEVEL = 6
_LINES = (".jsonl", ".jsonl.gz", ".jsonl.xz")


class _Sink(Protocol):
    """Where bytes go, compressed or not."""

    def write(self, data: bytes, /) -> int:
        """Take them all."""


class InstanceWriter:
    """Writes instances of one file, a JSON array or JSON lines, one instance a line either way."""

    def __init__(self, file: _Sink, *, lines: bool) -> None:
        self._file = file
        self._lines = lines
        self._count = 0

    def write(self, record: dict[str, Any], sessions: tuple[PlacedSession, ...]) -> None:
        """Add an instance: the fields of its record, then its haystack."""
        if not self._lines:
            self._file.write(b",\n" if self._count else b"[\n")
        haystack = {
            "haystack_session_ids": [session.session_id for session in sessions],
            "haystack_dates": [session.date_text for session in sessions],
        }
        head = json.dumps(record | haystack).encode("ascii").removesuffix(b"}")
        self._file.write(head + b', "haystack_sessions": [')
        self._file.write(b", ".join(session.content.turns for session in sessions))
        self._file.write(b"]}\n" if self._lines else b"]}")
        self._count += 1

    def close(self) -> None:
        """Complete the array."""
        if not self._lines:
            self._file.write(b"\n]\n")


@contextmanager
def writing(path: Path) -> Iterator[InstanceWriter]:
    """A writer for `path`, where nothing appears before all of it is written.

    Raises `UsageError` for an unknown suffix and for a place that cannot be written.
    """
    name = path.name.lower()
    if not name.endswith(SUFFIXES):
        raise UsageError(f"--out {path}: expected a name that ends in one of {', '.join(SUFFIXES)}")
    partial = path.with_name(f".{path.name}.partial")
    try:
        with partial.open("wb") as raw, _compressed(raw, name) as file:
            writer = InstanceWriter(file, lines=name.endswith(_LINES))
            yield writer
            writer.close()
        partial.replace(path)
    except OSError as error:
        raise UsageError(f"--out {path}: cannot be written ({error.strerror or error})") from error
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def _compressed(raw: IO[bytes], name: str) -> Iterator[_Sink]:
    if name.endswith(".gz"):
        # Neither name nor time go into the file: they would make equal content differ.
        with gzip.GzipFile("", "wb", _GZIP_LEVEL, raw, mtime=0) as zipped:
            yield zipped
    elif name.endswith(".xz"):
        with lzma.LZMAFile(raw, "wb", filters=_XZ_FILTERS) as packed:
            yield packed
    else:
        yield raw
