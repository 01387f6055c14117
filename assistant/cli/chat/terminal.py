"""`assistant chat`: a conversation in the terminal. Plain text when piped."""

import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import pairwise
from types import TracebackType
from typing import Self

from markdown_it import MarkdownIt
from rich.cells import cell_len
from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text

from assistant.cli.chat.commands import AHEAD, COMMANDS, ChatCommands, Leave
from assistant.cli.chat.input import interrupts
from assistant.cli.console import plain
from assistant.cli.conversation import TerminalConversation
from assistant.cli.memory_table import say
from assistant.errors import AssistantError

_FRAME_SECONDS = 0.05
# The terminal's own colours, so that code can be read on light and on dark ones.
_CODE = "ansi_dark"
# Terminals that know this show a frame at once; the others ignore it.
_BEGIN, _END = "\x1b[?2026h", "\x1b[?2026l"
# Padding would become rows of its own in a terminal that is made narrower.
_TRAILING = re.compile(r" +((?:\x1b\[0m)?)$")
_TO_LINE_END, _TO_SCREEN_END = "\x1b[K", "\x1b[J"


class LiveAnswer:
    """Draws one answer on a console. Use it as a context; `add` takes the pieces."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._text = ""
        """What is not printed for good yet."""
        self._drawn: list[str] = []
        """The lines that the next frame replaces."""
        self._printed_any = False
        self._next_frame = 0.0

    def __enter__(self) -> Self:
        self._console.show_cursor(False)
        self._draw(["[…]"])
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Print what is left for good, however the answer ended."""
        self._print_complete()
        self._print(self._text)
        self._console.show_cursor(True)

    def add(self, piece: str) -> None:
        """The next piece of the answer."""
        self._text += plain(piece)
        now = time.perf_counter()
        if now < self._next_frame:
            return
        self._print_complete()
        # Of a block that is higher than the screen the end; all of it is printed at last.
        self._draw(self._rendered(self._text)[-max(1, self._console.height - 1) :])
        # A block that takes long to draw is drawn less often.
        spent = time.perf_counter() - now
        self._next_frame = now + spent + max(_FRAME_SECONDS, 2 * spent)

    def _print_complete(self) -> None:
        complete, self._text = split_blocks(self._text)
        for block in complete:
            self._print(block)

    def _print(self, block: str) -> None:
        """Draw a block for the last time."""
        self._draw(self._rendered(block))
        if self._drawn:
            self._write("\n")
            self._printed_any = True
        self._drawn = []

    def _rendered(self, block: str) -> list[str]:
        """The lines of a block; the first one of a later block is blank."""
        if not block.strip():
            return []
        with self._console.capture() as captured:
            self._console.print(
                Markdown(block, code_theme=_CODE), width=max(10, self._console.width - 1)
            )
        lines = [_TRAILING.sub(r"\1", line) for line in captured.get().rstrip().split("\n")]
        blank = [not Text.from_ansi(line).plain.strip() for line in lines]
        while blank and blank[0]:
            del lines[0], blank[0]
        while blank and blank[-1]:
            del lines[-1], blank[-1]
        return ["", *lines] if self._printed_any else lines

    def _draw(self, lines: list[str]) -> None:
        """Put lines in the place of those drawn before; the cursor stays on the last one."""
        rows = sum(self._rows(line) for line in self._drawn)
        back = "\r" + (f"\x1b[{rows - 1}A" if rows > 1 else "")
        if rows > len(self._drawn):
            back += _TO_SCREEN_END  # the terminal forgets which lines it has broken
        body = f"{_TO_LINE_END}\n".join(lines)
        self._write(f"{_BEGIN}{back}{body}{_TO_SCREEN_END}{_END}")
        self._drawn = lines

    def _rows(self, line: str) -> int:
        """Rows that a drawn line takes now: a terminal made narrower has broken long ones."""
        width = cell_len(Text.from_ansi(line).plain.rstrip())
        return max(1, -(-width // self._console.width))

    def _write(self, text: str) -> None:
        self._console.file.write(text)
        self._console.file.flush()


def split_blocks(text: str) -> tuple[list[str], str]:
    """The blocks of Markdown that are complete, and the rest that may still grow."""
    lines = text.split("\n")
    tokens = _PARSER.parse(text)
    begins = [
        token.map[0] for token in tokens if token.level == 0 and token.map and token.nesting >= 0
    ]
    if len(begins) < 2:
        return [], text
    edges = [0, *begins[1:]]
    blocks = ["\n".join(lines[a:b]) for a, b in pairwise(edges)]
    return blocks, "\n".join(lines[edges[-1] :])


_PARSER = MarkdownIt().enable("table").enable("strikethrough")


Shown = Callable[[Console], AbstractContextManager[Callable[[str], None]]]
"""Shows an answer while the context is open; what it gives takes the pieces."""


def chat(conversation: TerminalConversation, *, with_history: bool = True) -> int:
    """Talk until the input ends; the exit code: 1 when something failed in a pipe."""
    conversation.open()
    if sys.stdin.isatty() and sys.stdout.isatty():
        return _on_a_terminal(conversation, Console(), with_history=with_history)
    return _in_a_pipe(conversation, Console(force_terminal=False, color_system=None))


def _on_a_terminal(
    conversation: TerminalConversation, console: Console, *, with_history: bool
) -> int:
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


def _prompt(conversation: TerminalConversation) -> str:
    """Says of which day it is, where that is not today."""
    return f"you ({conversation.timestamp[:10]}) › " if conversation.timestamp else "you › "


def _in_a_pipe(conversation: TerminalConversation, console: Console) -> int:
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

    def __init__(self, conversation: TerminalConversation, console: Console, shown: Shown) -> None:
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
    from assistant.cli.chat.terminal import LiveAnswer

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
