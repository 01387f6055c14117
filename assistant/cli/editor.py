"""A text in the user's own editor."""

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from assistant.errors import AssistantError

_EDITORS = ("VISUAL", "EDITOR")
_COMMON = "vi"


def edited(text: str) -> str:
    """The text as the user left it in `$VISUAL` or `$EDITOR`. Raises where there is no editor."""
    named = next((os.environ[name] for name in _EDITORS if os.environ.get(name)), None)
    if named is None and not sys.stdin.isatty():
        raise AssistantError("no editor can be opened in a pipe: give the new text with --text")
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
