"""Replays benchmark histories over HTTP against an assistant and scores what comes back.

The harness knows an assistant by its URL and by JSON, never by its code. Its surface is the
`harness` command and the files of a run directory (docs/benchmark.md); nothing here is meant to be
imported by others.
"""

import subprocess
from importlib import metadata
from pathlib import Path
from typing import TypedDict


class GitState(TypedDict):
    """A commit and whether the tree differs from it."""

    commit: str
    dirty: bool


def harness_version() -> str:
    """The installed distribution's version, or `unknown` for a source tree run uninstalled."""
    try:
        return metadata.version("aide-memoire-harness")
    except metadata.PackageNotFoundError:
        return "unknown"


def git_state() -> GitState | None:
    """The harness's own checkout, or None when it is not run from one."""
    commit = _git("rev-parse", "HEAD")
    changes = _git("status", "--porcelain", "--untracked-files=no")
    if not commit or changes is None:
        return None
    return GitState(commit=commit, dirty=bool(changes))


def _git(*arguments: str) -> str | None:
    folder = Path(__file__).parent
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
