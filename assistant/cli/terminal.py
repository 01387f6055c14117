"""`assistant chat`: a conversation in the terminal, with an editor and a history; or in a pipe."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.input.typeahead import get_typeahead, store_typeahead
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from rich.console import Console

from assistant.cli.chat_commands import AHEAD, COMMANDS, Leave, Talk
from assistant.cli.console import plain, say
from assistant.cli.conversation import ReplyPiece, TerminalConversation
from assistant.cli.live_answer import LiveAnswer
from assistant.errors import AssistantError


def chat(conversation: TerminalConversation, *, with_history: bool = True) -> int:
    """Talk until the input ends; the exit code: 1 when something failed in a pipe."""
    conversation.open()
    if sys.stdin.isatty() and sys.stdout.isatty():
        return _on_a_terminal(conversation, Console(), with_history=with_history)
    return _in_a_pipe(conversation, Console(force_terminal=False, color_system=None))


def _on_a_terminal(
    conversation: TerminalConversation, console: Console, *, with_history: bool
) -> int:
    meanings = {name: command.meaning for name, command in COMMANDS.items()}
    read = typed_reader(meanings, with_history=with_history)
    talk = Talk(conversation, console, _live)
    connection = conversation.connection
    say(console, f"Talking to {connection.base_url} as {connection.user_id}. /help · /quit")
    if conversation.is_ahead:
        say(console, AHEAD)
    interrupted = False
    while True:
        try:
            line = read(_prompt(conversation))
            interrupted = False
            talk.take(line)
        except (EOFError, Leave):
            return 0
        except KeyboardInterrupt:
            if interrupted:
                return 0
            interrupted = True
            say(console, "Press Ctrl-C again, or Ctrl-D, to leave", style="dim")
        except AssistantError as error:
            say(console, str(error), style="red")


def _prompt(conversation: TerminalConversation) -> str:
    """The prompt, with the day that the user talks as of, where one was set."""
    return f"you ({conversation.timestamp[:10]}) › " if conversation.timestamp else "you › "


def _in_a_pipe(conversation: TerminalConversation, console: Console) -> int:
    talk = Talk(conversation, console, _as_it_comes)
    if conversation.is_ahead:
        print(f"assistant: {AHEAD}", file=sys.stderr)
    failed = 0
    for line in piped_lines():
        try:
            talk.take(line)
        except Leave:
            break
        except AssistantError as error:
            failed = 1
            print(f"assistant: {error}", file=sys.stderr)
    return failed


@contextmanager
def _live(console: Console) -> Iterator[Callable[[ReplyPiece], None]]:
    """Markdown that grows, after what is thought before it. An answer that is stopped stays as far
    as it came."""
    try:
        with interrupts() as again, LiveAnswer(console) as answer:

            def show(piece: ReplyPiece) -> None:
                again()
                if piece.is_answer:
                    answer.add(piece.text)
                else:
                    answer.think(piece.text)

            yield show
    except KeyboardInterrupt:
        say(console, "(stopped, and not remembered)", style="dim")
        raise


@contextmanager
def _as_it_comes(console: Console) -> Iterator[Callable[[ReplyPiece], None]]:
    """Print the answer as it comes, without the thoughts before it."""

    def show(piece: ReplyPiece) -> None:
        if piece.is_answer:
            console.file.write(plain(piece.text))
            console.file.flush()

    try:
        yield show
    finally:
        show(ReplyPiece("\n"))


@contextmanager
def interrupts() -> Iterator[Callable[[], None]]:
    """Have Ctrl-C raise `KeyboardInterrupt` wherever the program is. An event loop would keep it
    for later, and lose it at its end.

    The exception may come while a library swallows exceptions. The function that this yields raises
    it again then, and does nothing otherwise.
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


def typed_reader(meanings: dict[str, str], *, with_history: bool) -> Read:
    """Reads from the terminal; `meanings` are those of the commands, whose names are completed."""
    session: PromptSession[str] = PromptSession(
        history=_history() if with_history else InMemoryHistory(),
        key_bindings=_keys(),
        completer=WordCompleter([*meanings], meta_dict=meanings, sentence=True),
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
    """The file that keeps what was typed, for its user's eyes only."""
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
