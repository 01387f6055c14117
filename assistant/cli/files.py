"""Files of the terminal commands: exports written whole or not at all, imports read lazily."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from assistant.cli.export_lines import is_record
from assistant.cli.memory_calls import MemoryCalls
from assistant.errors import AssistantError

if TYPE_CHECKING:
    from memory_store import Progress


STANDARD = Path("-")
"""Names standard input and output."""


class FileTrouble(AssistantError):
    """A file cannot be read or written (the user acts)."""


def write_export(memory: MemoryCalls, file: Path, progress: "Progress") -> int:
    """Write a user's memory to a new file; the number of rounds in it."""
    with new_file(file) as out:
        return write_lines(memory, out, progress)


def write_lines(memory: MemoryCalls, out: TextIO, progress: "Progress") -> int:
    """Write a user's memory line by line; the number of rounds written."""
    count = 0
    for line in memory.exported():
        out.write(f"{line}\n")
        if is_record(line):
            count += 1
            progress.advance(1)
    return count


def read_export(file: Path) -> bytes:
    """What is in a file, or comes on standard input (`-`)."""
    try:
        return sys.stdin.buffer.read() if file == STANDARD else file.read_bytes()
    except OSError as error:
        raise FileTrouble(f"cannot read {file}: {error}") from error


@contextmanager
def new_file(file: Path) -> Iterator[TextIO]:
    """A file that is there once all of it is written; none that exists is replaced."""
    if file.exists():
        raise FileTrouble(f"{file} exists already: name another file")
    part = file.with_name(f"{file.name}.part")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "w", encoding="utf-8", newline="\n") as out:
            yield out
        part.replace(file)
    except OSError as error:
        raise FileTrouble(f"cannot write {file}: {error}") from error
    finally:
        part.unlink(missing_ok=True)
