"""The files of a zip file that may hold conversations."""

import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence

from assistant.errors import InvalidRequest
from assistant.imports.recognised import ACCEPTED

MOST_BYTES = 2**31
"""How much a zip file may hold when it is unpacked."""
# Tried in turn: the second only where nothing of the first holds anything.
_KINDS = ((".json", ".jsonl", ".ndjson", ".af"), (".html", ".htm", ".md", ".markdown", ".txt"))
_SHOWN_NAMES, _SHOWN_NAME = 3, 60
# What reading a damaged, locked or unusual zip file raises, by what is wrong in which part of it.
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    ValueError,
    EOFError,
    OSError,
    OverflowError,
    RuntimeError,
)


def files_of(
    export: bytes, most_bytes: int, holds: Callable[[bytes], bool]
) -> Iterator[tuple[str, bytes | None]]:
    """The files that hold something, by name; others of their kind without their content. Raises
    `InvalidRequest`."""
    try:
        with zipfile.ZipFile(io.BytesIO(export)) as archive:
            has_some = False
            for kind in _KINDS:
                files = [f for f in archive.infolist() if f.filename.lower().endswith(kind)]
                if sum(f.file_size for f in files) > most_bytes:
                    raise InvalidRequest(f"the zip file holds more than {most_bytes} bytes")
                for file in sorted(files, key=lambda f: f.filename):
                    content = archive.read(file)
                    is_read = holds(content)
                    has_some |= is_read
                    yield file.filename, content if is_read else None
                if has_some:
                    return
            raise InvalidRequest(
                f"this is not {ACCEPTED}: the zip file holds {_named(archive.namelist())}"
            )
    except _DAMAGED as error:
        raise InvalidRequest(
            f"the zip file cannot be read: it is damaged, incomplete or locked ({error})"
        ) from error


def _named(files: Sequence[str]) -> str:
    """Some of the files, to be recognised by."""
    shown = ", ".join(name[:_SHOWN_NAME] for name in files[:_SHOWN_NAMES]) or "nothing"
    return shown if len(files) <= _SHOWN_NAMES else f"{shown} and {len(files) - _SHOWN_NAMES} more"
