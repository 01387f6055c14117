"""The terminal: printing without markup, asking yes or no, and an editor for longer texts."""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path

from assistant.errors import AssistantError

# C0 without tab and newline, delete, C1; and characters that turn the direction of writing.
_UNSHOWN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """The text without what a terminal would obey."""
    return _UNSHOWN.sub("", text)


def one_line(text: str) -> str:
    """The text in a single line."""
    return " ".join(plain(text).split())


def shortened(text: str, most: int) -> str:
    """At most so many characters of a text, cut between words where it has any."""
    if len(text) <= most:
        return text
    words, _, _ = text[: most + 1].rpartition(" ")
    return f"{words.rstrip() or text[:most]} …"


def in_prose(time: str) -> str:
    """The day of a time as people write it: 1 March 2024."""
    day = date.fromisoformat(time[: len(date.min.isoformat())])
    return f"{day.day} {day:%B %Y}"


def memories(count: int) -> str:
    """So many memories."""
    return f"{count} memory" if count == 1 else f"{count} memories"


def confirmed(question: str) -> bool:
    """Ask on the terminal; anything but yes is no. Raises where nobody can be asked."""
    if not sys.stdin.isatty():
        raise AssistantError(
            f"{plain(question)} Cannot ask in a pipe: use 'assistant memories forget' with --yes"
        )
    try:
        return input(f"{plain(question)} [y/N] ").strip().lower() in ("y", "yes")
    except (EOFError, KeyboardInterrupt):
        print()
        return False


_EDITORS = ("VISUAL", "EDITOR")
_COMMON = "vi"


def edited(text: str) -> str:
    """The text as the user left it in `$VISUAL` or `$EDITOR`. Raises where there is no editor."""
    named = next((os.environ[name] for name in _EDITORS if os.environ.get(name)), None)
    if named is None and not sys.stdin.isatty():
        raise AssistantError("cannot open an editor in a pipe: use --text")
    # Its folder is for its owner's eyes only, as what an editor writes beside it.
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "memory.txt"
        file.write_text(text + "\n", encoding="utf-8")
        _edit(shlex.split(named or _COMMON), file)
        return file.read_text(encoding="utf-8").rstrip("\n")


def _edit(editor: list[str], file: Path) -> None:
    try:
        ended = subprocess.run([*editor, str(file)])
    except OSError as error:
        raise AssistantError(f"the editor {editor[0]} cannot be started: {error}") from error
    if ended.returncode:
        raise AssistantError(f"the editor {editor[0]} failed: nothing was changed")
