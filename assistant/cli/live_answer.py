"""An answer in Markdown that grows on a terminal: what is complete is printed for good, the rest is
drawn again and again."""

import re
import time
from itertools import pairwise
from typing import Self

from markdown_it import MarkdownIt
from rich.cells import cell_len
from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text

from assistant.cli.console import plain

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
        self._thought = ""

    def __enter__(self) -> Self:
        self._console.show_cursor(False)
        self._draw(["[…]"])
        return self

    def __exit__(self, *_: object) -> None:
        """Print what is left for good, however the answer ended."""
        self._print_complete()
        self._print(self._text)
        self._console.show_cursor(True)

    def think(self, piece: str) -> None:
        """Show the last line of what is thought, dim, until the answer begins."""
        self._thought = (self._thought + plain(piece)).lstrip()
        now = time.perf_counter()
        if not self._thought or self._text or self._printed_any or now < self._next_frame:
            return
        line = Text(self._thought.rstrip().split("\n")[-1], style="dim")
        with self._console.capture() as captured:
            width = max(10, self._console.width - 1)
            self._console.print(line, width=width, no_wrap=True, overflow="ellipsis")
        self._draw([captured.get().rstrip()])
        self._next_frame = now + _FRAME_SECONDS

    def add(self, piece: str) -> None:
        self._text += plain(piece)
        now = time.perf_counter()
        if now < self._next_frame:
            return
        self._print_complete()
        # Of a block that is higher than the screen, only the end is drawn; all of it is printed at
        # last.
        self._draw(self._rendered(self._text)[-max(1, self._console.height - 1) :])
        # A block that takes long to draw is drawn less often.
        spent = time.perf_counter() - now
        self._next_frame = now + spent + max(_FRAME_SECONDS, 2 * spent)

    def _print_complete(self) -> None:
        complete, self._text = split_blocks(self._text)
        for block in complete:
            self._print(block)

    def _print(self, block: str) -> None:
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
