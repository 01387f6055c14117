"""An answer drawn while it comes, on a terminal that changes its width meanwhile."""

import io

import pyte
import pytest
from rich.console import Console

from assistant.cli.live_answer import LiveAnswer

ROWS = 24


class Window:
    """A terminal's window; as most do, it breaks its lines anew when it is made narrower."""

    def __init__(self, columns: int) -> None:
        self._out = io.StringIO()
        self.console = Console(file=self._out, force_terminal=True, width=columns, height=ROWS)
        self._show(columns)

    def _show(self, columns: int) -> None:
        self._screen = pyte.HistoryScreen(columns, ROWS, history=1000)
        # A line feed of a program also returns the carriage.
        self._screen.set_mode(pyte.modes.LNM)
        self._stream = pyte.Stream(self._screen)

    def resize(self, columns: int) -> None:
        before = self.lines
        self._show(columns)
        self._stream.feed("\n".join(before))
        self.console.width = columns

    @property
    def lines(self) -> list[str]:
        """What there is to see, also of what scrolled away, without blank rows at the end."""
        self._stream.feed(self._out.getvalue())
        self._out.seek(0)
        self._out.truncate()
        above = ["".join(row[x].data for x in range(len(row))) for row in self._screen.history.top]
        text = "\n".join(line.rstrip() for line in [*above, *self._screen.display])
        return text.rstrip("\n").split("\n")


def test_what_is_thought_is_one_dim_line_until_the_answer_begins() -> None:
    window = Window(40)
    with LiveAnswer(window.console) as answer:
        assert window.lines == ["[…]"]
        answer.think("\n- she rows\n- on the Lys, every week, whatever the weather is like\n")
        (line,) = window.lines
        assert line.startswith("- on the Lys, every week")
        assert len(line) < 40
        answer.add("On the Lys.")
        answer.think("too late")
    assert window.lines == ["On the Lys."]


def test_what_is_thought_is_gone_where_no_answer_comes() -> None:
    window = Window(40)
    with LiveAnswer(window.console) as answer:
        answer.think("- she rows")
    assert window.lines == [""]


@pytest.mark.parametrize(("first", "then"), [(80, 40), (80, 23), (40, 80)])
def test_in_a_window_of_another_width_the_whole_answer_is_there_once(first: int, then: int) -> None:
    words = [f"word{number}" for number in range(60)]
    window = Window(first)
    with LiveAnswer(window.console) as answer:
        # The first piece is drawn at once; later ones wait for their frame.
        answer.add(f"Done.\n\n{' '.join(words[:35])} ")
        assert window.lines[-1].endswith("word34")
        window.resize(then)
        for word in words[35:]:
            answer.add(f"{word} ")
    done, blank, *shown = window.lines
    assert (done, blank) == ("Done.", "")
    assert " ".join(shown).split() == words
    assert max(map(len, shown)) < then
