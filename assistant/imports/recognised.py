"""What a file that is brought in seems to be: an export of ours, of another assistant, or neither;
and the files in a zip file."""

import codecs
import io
import json
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum

from assistant.errors import InvalidRequest
from assistant.imports.gemini import is_page
from assistant.imports.markdown import is_transcript

ACCEPTED = (
    'an export of ours (lines of JSON, of which the first is {"format": "aide-memoire/records", '
    '"version": 3}) or an export of ChatGPT, Claude, Gemini (Takeout), Open WebUI, LibreChat, '
    "mem0, Zep or Letta, memories in Portable AI Memory or Open Memory Protocol, conversations as "
    "lines of JSON, a Markdown transcript, or a zip file of these"
)
"""What can be brought in, in words."""

_OURS = "aide-memoire/records"
_BEGINNING = 4096
# Beginnings of files that people take for an export; the first that fits counts.
_BEGINNINGS: tuple[tuple[bytes, str], ...] = (
    (rb"\Z", "empty"),
    (rb"\x1f\x8b", "packed with gzip: unpack it first"),
    (rb"%PDF", "a PDF document"),
    (rb"SQLite format 3", "a SQLite database"),
    (rb"\xff\xfe|\xfe\xff", "text in UTF-16: save it as UTF-8"),
    (rb"(?i)\s*<(?:!doctype|html)", "a web page"),
    (rb"\s*<", "XML"),
    (rb"[^\n]*\x00", "no text"),
    (rb"[^\n,;\t]+[,;\t][^\n]*\n[^\n,;\t]+[,;\t]", "a table (CSV)"),
    (rb"", "plain text"),
)


class Export(StrEnum):
    """An export that can be brought in."""

    RECORDS = "records"
    OTHERS = "others"


def recognised(content: bytes) -> Export:
    """Which export this is, by how it begins. Raises `InvalidRequest` that says what can be brought
    in, and what this seems to be."""
    # Some editors put a mark in front of a text in UTF-8.
    content = content.removeprefix(codecs.BOM_UTF8)
    if content.startswith(b"PK") or content.lstrip().startswith(b"["):
        return Export.OTHERS
    if _OURS in _first_line(content):
        return Export.RECORDS
    if content.lstrip().startswith(b"{") or _is_told(content):
        return Export.OTHERS
    beginning = content[:_BEGINNING]
    seems = next(what for how, what in _BEGINNINGS if re.match(how, beginning))
    raise InvalidRequest(f"this is not {ACCEPTED}: it seems to be {seems}")


def _is_told(content: bytes) -> bool:
    """Whether it is a page of activities, or a transcript."""
    text = content.decode(errors="replace")
    return is_page(text) or is_transcript(text)


def _first_line(content: bytes) -> str:
    """The format that the first line names; empty where it names none."""
    try:
        first = json.loads(io.BytesIO(content.lstrip()).readline())
        return str(first.get("format", ""))
    except (ValueError, AttributeError, RecursionError):
        return ""


MOST_BYTES = 2**31
"""How much a zip file may hold when it is unpacked."""
# Two groups of files, tried in turn: the second only where no file of the first holds anything.
_KINDS = ((".json", ".jsonl", ".ndjson", ".af"), (".html", ".htm", ".md", ".markdown", ".txt"))
_SHOWN_NAMES, _SHOWN_NAME = 3, 60
# Errors that a damaged, locked or unusual zip file raises, by the part that is wrong.
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
    """The files of a zip file, by name. A file that holds nothing to read comes without its
    content. Raises `InvalidRequest`."""
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
    """The names of some of the files, for a message."""
    shown = ", ".join(name[:_SHOWN_NAME] for name in files[:_SHOWN_NAMES]) or "nothing"
    return shown if len(files) <= _SHOWN_NAMES else f"{shown} and {len(files) - _SHOWN_NAMES} more"
