"""`assistant chat`: a conversation in the terminal. Plain text when piped."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from rich.console import Console

from assistant.cli.chat.commands import AHEAD, COMMANDS, ChatCommands, Leave
from assistant.cli.chat.input import interrupts
from assistant.cli.console import plain
from assistant.cli.conversation import Conversation
from assistant.cli.memory_table import say
from assistant.errors import AssistantError

Shown = Callable[[Console], AbstractContextManager[Callable[[str], None]]]
"""Shows an answer while the context is open; what it gives takes the pieces."""


def chat(conversation: Conversation, *, with_history: bool = True) -> int:
    """Talk until the input ends; the exit code: 1 when something failed in a pipe."""
    conversation.open()
    if sys.stdin.isatty() and sys.stdout.isatty():
        return _on_a_terminal(conversation, Console(), with_history=with_history)
    return _in_a_pipe(conversation, Console(force_terminal=False, color_system=None))


def _on_a_terminal(conversation: Conversation, console: Console, *, with_history: bool) -> int:
    from assistant.cli.chat.input import typed_reader

    meanings = [(name, command.meaning) for name, command in COMMANDS.items()]
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


def _prompt(conversation: Conversation) -> str:
    """Says of which day it is, where that is not today."""
    return f"you ({conversation.timestamp[:10]}) › " if conversation.timestamp else "you › "


def _in_a_pipe(conversation: Conversation, console: Console) -> int:
    from assistant.cli.chat.input import piped_lines

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


class Talk:
    """What becomes of each thing typed: a command, or something said, and the answer shown."""

    def __init__(self, conversation: Conversation, console: Console, shown: Shown) -> None:
        self._conversation = conversation
        self._console = console
        self._shown = shown
        self._commands = ChatCommands(conversation, console)

    def take(self, line: str) -> None:
        """Carry out a command, or say it and show the answer; nothing for a blank line."""
        if line.startswith("/"):
            self._commands.carry_out(line)
        elif line:
            with self._shown(self._console) as show:
                for piece in self._conversation.say(line):
                    show(piece)


@contextmanager
def _live(console: Console) -> Iterator[Callable[[str], None]]:
    """Markdown that grows. An answer that is stopped stays as far as it came."""
    from assistant.cli.chat.live_answer import LiveAnswer

    try:
        with interrupts() as again, LiveAnswer(console) as answer:

            def show(piece: str) -> None:
                again()
                answer.add(piece)

            yield show
    except KeyboardInterrupt:
        say(console, "(stopped, and not remembered)", style="dim")
        raise


@contextmanager
def _as_it_comes(console: Console) -> Iterator[Callable[[str], None]]:
    """The pieces, and a newline at their end."""

    def show(piece: str) -> None:
        console.file.write(plain(piece))
        console.file.flush()

    try:
        yield show
    finally:
        show("\n")
