"""What the user types in `assistant chat`: lines of a pipe, or an editor with a history."""

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.input.typeahead import get_typeahead, store_typeahead
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys


@contextmanager
def interrupts() -> Iterator[Callable[[], None]]:
    """Ctrl-C raises `KeyboardInterrupt` wherever the program is. An event loop would keep it for
    later, and lose it at its end.

    It may come while a library is where exceptions end silently. What this gives raises it again
    then, and does nothing otherwise.
    """
    heard = False

    def interrupt(*_: object) -> None:
        nonlocal heard
        heard = True
        raise KeyboardInterrupt

    def again() -> None:
        if heard:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield again
    finally:
        signal.signal(signal.SIGINT, before)


Read = Callable[[str], str]
"""Shows a prompt and returns what is typed. Raises `EOFError` and `KeyboardInterrupt`."""


def piped_lines() -> Iterator[str]:
    """The lines of standard input; one that ends in a backslash goes on in the next."""
    parts: list[str] = []
    for line in sys.stdin:
        text = line.rstrip("\r\n")
        if text.endswith("\\"):
            parts.append(text[:-1])
            continue
        yield "\n".join([*parts, text]).strip()
        parts = []
    if parts:
        yield "\n".join(parts).strip()


def typed_reader(commands: Iterable[tuple[str, str]], *, with_history: bool) -> Read:
    """Reads from the terminal; `commands` are names with their meanings, to be completed."""
    session: PromptSession[str] = PromptSession(
        history=_history() if with_history else InMemoryHistory(),
        key_bindings=_keys(),
        completer=CommandCompleter(dict(commands)),
        complete_while_typing=True,
        multiline=True,
        prompt_continuation=lambda width, line, soft: " " * width,
        reserve_space_for_menu=4,
    )

    def read(prompt: str) -> str:
        with interrupts():
            line = session.prompt(prompt, handle_sigint=False)
        if _is_taken_back(session):
            raise KeyboardInterrupt
        return line.strip()

    return read


def _is_taken_back(session: "PromptSession[str]") -> bool:
    """Whether Ctrl-C followed so soon that it is only a key, which the next prompt would get."""
    with session.input.raw_mode():
        ahead = [*get_typeahead(session.input), *session.input.read_keys()]
    if any(press.key == Keys.ControlC for press in ahead):
        return True
    store_typeahead(session.input, ahead)
    return False


class CommandCompleter(Completer):
    """Completes the name of a slash command at the start of what is typed."""

    def __init__(self, commands: dict[str, str]) -> None:
        self._commands = commands

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterator[Completion]:
        """The commands that begin like this."""
        typed = document.text_before_cursor
        if not typed.startswith("/"):
            return
        for name, meaning in self._commands.items():
            if name.startswith(typed):
                yield Completion(name, -len(typed), display_meta=meaning)


def _keys() -> KeyBindings:
    """Enter sends; Alt-Enter, or Enter after a backslash, begins a new line."""
    keys = KeyBindings()

    @keys.add("enter")
    def send(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.document.char_before_cursor == "\\":
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys


def history_file() -> Path:
    """Where what was typed is kept, for its user's eyes only."""
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "aide-memoire" / "chat-history"


def _history() -> History:
    file = history_file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)
    except OSError:  # a home that cannot be written to: the chat works all the same
        return InMemoryHistory()
    return FileHistory(file)
