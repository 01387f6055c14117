"""Reading data files: JSON arrays and JSON lines, plain, gzip or xz, one record at a time."""

import gzip
import hashlib
import json
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from harness.errors import DatasetError, raising
from harness.text import encodable

SUFFIXES = (".json", ".jsonl", ".json.gz", ".json.xz", ".jsonl.gz", ".jsonl.xz")
_CHUNK = 1 << 22
_GZIP_MAGIC = b"\x1f\x8b"
_XZ_MAGIC = b"\xfd7zXZ\x00"


def sha256_of(path: Path) -> str:
    """SHA-256 of the file as it lies on disk (compressed where it is compressed), hex."""
    with raising(DatasetError, f"{path}: cannot be read"), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_records(path: Path) -> Iterator[dict[str, Any]]:
    """Every record of a JSON array or of JSON lines, in file order, without holding the whole file.

    Raises `DatasetError` when the file is missing, named wrongly, compressed differently from what
    its name says, not JSON, or not a list of objects.
    """
    with open_text(path, SUFFIXES) as file:
        yield from _decode(file, path)


@contextmanager
def open_text(path: Path, suffixes: tuple[str, ...]) -> Iterator[IO[str]]:
    """Open a text file, compressed as its name says; errors of reading become `DatasetError`."""
    with raising(DatasetError, f"{path}: cannot be read"):
        try:
            with _open_text(path, suffixes) as file:
                yield file
        except (gzip.BadGzipFile, lzma.LZMAError, EOFError, zlib.error) as error:
            problem = f"damaged or cut-off {path.suffix} file ({error})"
            raise DatasetError(f"{path}: {problem}") from error
        except UnicodeDecodeError as error:
            raise DatasetError(f"{path}: not UTF-8 text (byte {error.start})") from error


def _open_text(path: Path, suffixes: tuple[str, ...]) -> IO[str]:
    name = path.name.lower()
    if not name.endswith(suffixes):
        raise DatasetError(f"{path}: unknown kind of file, expected one of {', '.join(suffixes)}")
    with path.open("rb") as file:
        head = file.read(len(_XZ_MAGIC))
    actual = ".gz" if head.startswith(_GZIP_MAGIC) else ".xz" if head == _XZ_MAGIC else ""
    named = path.suffix.lower() if path.suffix.lower() in (".gz", ".xz") else ""
    if actual != named:
        kinds = {"": "not compressed", ".gz": "gzip-compressed", ".xz": "xz-compressed"}
        raise DatasetError(f"{path}: by its name {kinds[named]}, by its content {kinds[actual]}")
    if named == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    if named == ".xz":
        return lzma.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


class _Buffer:
    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self.text = ""
        self.done = False

    def more(self) -> None:
        # Doubling keeps the repeated attempts at one long record linear in its length.
        chunk = self._file.read(max(_CHUNK, len(self.text)))
        self.done = not chunk
        self.text += chunk

    def skip(self, characters: str) -> None:
        while True:
            self.text = self.text.lstrip(characters)
            if self.text or self.done:
                return
            self.more()


def _decode(file: IO[str], path: Path) -> Iterator[dict[str, Any]]:
    buffer = _Buffer(file)
    buffer.skip(" \t\r\n")
    if not buffer.text:
        raise DatasetError(f"{path}: the file is empty")
    in_array = buffer.text[0] == "["
    if in_array:
        buffer.text = buffer.text[1:]
    number = 0
    while True:
        buffer.skip(" \t\r\n,")
        if not buffer.text or (in_array and buffer.text[0] == "]"):
            break
        record = _next_record(buffer, path, number)
        if not isinstance(record, dict):
            kind = type(record).__name__
            raise DatasetError(f"{path}: record {number} is a {kind}, expected an object")
        yield record
        number += 1
    if in_array and not buffer.text:
        raise DatasetError(f"{path}: not JSON: the list is not closed after record {number - 1}")


def _next_record(buffer: _Buffer, path: Path, number: int) -> Any:
    decoder = json.JSONDecoder()
    while True:
        try:
            record, end = decoder.raw_decode(buffer.text)
        except json.JSONDecodeError as error:
            if buffer.done:
                raise DatasetError(f"{path}: not JSON at record {number}: {error.msg}") from error
            buffer.more()
            continue
        except RecursionError as error:
            raise DatasetError(f"{path}: record {number} is nested too deeply") from error
        buffer.text = buffer.text[end:]
        return record


def require_text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise DatasetError(f"{where}: expected text, found {type(value).__name__}")
    return encodable(value)


def require_list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise DatasetError(f"{where}: expected a list, found {type(value).__name__}")
    return value
