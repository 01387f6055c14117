"""A question before something is lost."""

import sys

from assistant.cli.plain import plain
from assistant.errors import AssistantError


def confirmed(question: str) -> bool:
    """Ask on the terminal; anything but yes is no. Raises where nobody can be asked."""
    if not sys.stdin.isatty():
        raise AssistantError(
            f"{plain(question)} Nobody can be asked in a pipe: "
            "use 'assistant memories forget' with --yes"
        )
    try:
        return input(f"{plain(question)} [y/N] ").strip().lower() in ("y", "yes")
    except (EOFError, KeyboardInterrupt):
        print()
        return False
