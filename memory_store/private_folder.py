"""Folders for what people said: their owner's only."""

from pathlib import Path


def make_private(folder: Path) -> None:
    """Make a folder that no other account can read; one that exists stays as it is."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
