"""The `assistant` command."""

from assistant.cli.main import main

__all__ = ["main"]
