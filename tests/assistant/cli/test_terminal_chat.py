"""`assistant chat` on a terminal: a process on a pty, its screen as an emulator shows it."""

import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pexpect
import pyte
import pytest
from calls import record, rounds, sessions
from nursery import NURSERY
from scripted_model import ScriptedModel

COT = "chain_of_note"
_SECONDS = 30.0
_PROMPT = r"you.* ›"
_CTRL_C, _CTRL_D, _ALT_ENTER, _ENTER = "\x03", "\x04", "\x1b\r", "\r"


class Terminal:
    """The chat and its screen, with the lines that scrolled away."""

    def __init__(self, arguments: list[str], state: Path, *, columns: int = 80) -> None:
        self._screen = pyte.HistoryScreen(columns, 24, history=1000)
        self._stream = pyte.Stream(self._screen)
        program, *more = NURSERY.command("assistant", "chat", *arguments)
        self._process = pexpect.spawn(
            program,
            more,
            env=os.environ | {"XDG_STATE_HOME": str(state), "TERM": "xterm-256color"},
            dimensions=(24, columns),
            encoding="utf-8",
            timeout=_SECONDS,
        )
        self._process.delaybeforesend = None
        # A terminal says where its cursor is when it is asked.
        self._screen.write_process_input = self._process.send

    def type(self, text: str, end: str = _ENTER) -> None:
        self._process.send(text + end)

    def shows(self, pattern: str) -> str:
        """Wait until the screen shows it; all text so far."""
        deadline = time.monotonic() + _SECONDS
        while not re.search(pattern, self.text, re.MULTILINE):
            assert time.monotonic() < deadline, f"no {pattern!r} in:\n{self.text}"
            self._take()
        return self.text

    def prompts(self) -> str:
        """Wait for an empty prompt at the end; all text so far."""
        return self.shows(rf"{_PROMPT}\Z")

    @property
    def text(self) -> str:
        above = [
            "".join(line[x].data for x in range(self._screen.columns))
            for line in self._screen.history.top
        ]
        return "\n".join(line.rstrip() for line in [*above, *self._screen.display]).rstrip()

    def ends(self) -> int:
        """Wait until it has left; its exit code."""
        self._process.expect(pexpect.EOF)
        self._process.close()
        return int(self._process.exitstatus or 0)

    def close(self) -> None:
        self._process.close(force=True)

    def _take(self) -> None:
        try:
            self._stream.feed(self._process.read_nonblocking(65536, timeout=0.1))
        except pexpect.TIMEOUT:
            return


Chat = Callable[..., Terminal]


@pytest.fixture
def chat(answering_url: str, ann: str, tmp_path: Path) -> Iterator[Chat]:
    """Starts chats with the assistant that the scripted model answers for."""
    begun: list[Terminal] = []

    def start(*arguments: str, **changed: int) -> Terminal:
        named = ["--assistant", answering_url, "--user", ann, *arguments]
        begun.append(Terminal(named, tmp_path, **changed))
        begun[-1].prompts()
        return begun[-1]

    yield start
    for terminal in begun:
        terminal.close()


def test_an_answer_is_markdown(
    chat: Chat, model: ScriptedModel, answering: httpx.Client, ann: str
) -> None:
    said = "ANSWER: # Two\n\n1. **one**\n2. `two`\n\n|a|b|\n|-|-|\n|c|d|\n"
    model.on(COT).reply(*re.findall(r"(?s).{1,3}", said), "\nThat is \x1b[31mall\x07.")
    terminal = chat()
    terminal.type("hi")
    terminal.shows("That is")
    text = terminal.prompts()
    answer = [line.strip() for line in text.split("you › hi\n")[1].splitlines()]
    assert answer[:4] == ["Two", "", "1 one", "2 two"]
    assert answer[-4:] == ["c  d", "", "That is [31mall.", "you ›"]
    assert sum(map(len, sessions(answering, ann).values())) == 1
    terminal.type("", _CTRL_D)
    assert terminal.ends() == 0


def test_notes_are_shown_until_the_answer_begins(chat: Chat, model: ScriptedModel) -> None:
    model.on(COT).reply("NOTES: met Ann\n", "- on the Lys\n", "ANSWER: There.", delay=0.5)
    terminal = chat()
    terminal.type("Where do I row?")
    terminal.shows("^met Ann$")
    terminal.shows("^- on the Lys$")
    terminal.shows("^There\\.$")
    shown = terminal.prompts()
    assert "met Ann" not in shown
    assert "Lys" not in shown


@pytest.mark.parametrize("columns", [40, 80])
def test_a_long_answer_is_there_once(chat: Chat, model: ScriptedModel, columns: int) -> None:
    """Higher than the screen, in one block and in many."""
    items = "".join(
        f"- item {n} is a line that is somewhat longer than forty columns\n" for n in range(40)
    )
    blocks = "\n\n".join(f"Paragraph {n}." for n in range(30))
    text = f"ANSWER: {items}\n\n{blocks}\n\nThe end."
    model.on(COT).reply(*re.findall(r"(?s).{1,40}", text))
    terminal = chat(columns=columns)
    terminal.type("hi")
    terminal.shows("The end")
    shown = terminal.prompts()
    assert re.findall(r"item (\d+) ", shown) == [str(n) for n in range(40)]
    assert re.findall(r"Paragraph (\d+)\.", shown) == [str(n) for n in range(30)]


def test_ctrl_c_stops_the_answer_only(
    chat: Chat, model: ScriptedModel, answering: httpx.Client, ann: str
) -> None:
    # All different: litellm gives a model up that says the same a hundred times.
    endless = [f"and so on, {n} " for n in range(1000)]
    model.on(COT).reply("ANSWER: begun ", *endless, delay=0.02).reply("ANSWER: Fine.")
    terminal = chat()
    terminal.type("one")
    terminal.shows("and so on")
    terminal.type("", _CTRL_C)
    terminal.shows("stopped, and not remembered")
    terminal.prompts()
    assert model.left.wait(_SECONDS)
    terminal.type("two")
    terminal.shows("Fine.")
    terminal.prompts()
    (stored,) = sessions(answering, ann).values()
    assert stored == [("two", "Fine.")]
    terminal.type("", _CTRL_C)
    terminal.shows(r"(?s)Fine\..*Press Ctrl-C again, or Ctrl-D, to leave")
    terminal.prompts()
    terminal.type("", _CTRL_C)
    assert terminal.ends() == 0


def test_ctrl_c_on_the_heels_of_enter_takes_the_message_back(
    chat: Chat, model: ScriptedModel, answering: httpx.Client, ann: str
) -> None:
    model.on(COT).reply("ANSWER: Fine.")
    terminal = chat()
    terminal.type("one", _ENTER + _CTRL_C)
    terminal.shows(r"you › one\nPress Ctrl-C again, or Ctrl-D, to leave")
    terminal.prompts()
    terminal.type("two")
    terminal.shows("Fine.")
    terminal.prompts()
    (stored,) = sessions(answering, ann).values()
    assert stored == [("two", "Fine.")]


def test_several_lines_and_the_history(
    chat: Chat, model: ScriptedModel, answering: httpx.Client, ann: str, tmp_path: Path
) -> None:
    model.on(COT).reply("ANSWER: ok").reply("ANSWER: ok")
    terminal = chat("--session", "s")
    terminal.type("first\\")
    terminal.type("second", _ALT_ENTER)
    terminal.type("third")
    terminal.shows("^ok")
    terminal.prompts()
    assert rounds(answering, ann, "s") == [("first\nsecond\nthird", "ok")]
    terminal.type("/quit")
    assert terminal.ends() == 0
    history = tmp_path / "aide-memoire" / "chat-history"
    assert history.stat().st_mode & 0o777 == 0o600
    assert "+second\n" in history.read_text()
    again = chat("--session", "s", "--no-history")
    again.type("fourth")
    again.shows("^ok")
    again.prompts()
    assert "fourth" not in history.read_text()
    sent = [message["content"] for message in model.sent[-1].body["messages"][1:]]
    assert sent[:2] == ["first\nsecond\nthird", "ok"]


def test_commands_are_completed(chat: Chat) -> None:
    terminal = chat()
    terminal.type("/me", "")
    terminal.shows("/memories +the latest memories, or those found")
    terminal.type("\t", _ENTER)
    terminal.shows("0 of 0")


def test_forgetting_counts_and_asks(chat: Chat, answering: httpx.Client, ann: str) -> None:
    record(answering, ann, "old", "I like tea.", "Noted.", "I like rum.", "Noted.")
    terminal = chat()
    terminal.type("/forget 1")
    terminal.shows("no memory number 1: /memories lists them")
    terminal.type("/memories")
    terminal.shows("2 of 2")
    terminal.type("/forget 1")
    terminal.shows(r"forget 1 memory: “I like rum.”\? \[y/N\]")
    terminal.type("n")
    terminal.shows("nothing was forgotten")
    assert len(rounds(answering, ann, "old")) == 2
    terminal.type("/forget 1")
    terminal.shows(r"(?s)\[y/N\].*\[y/N\]")
    terminal.type("y")
    terminal.shows("^forgotten")
    assert [user for user, _ in rounds(answering, ann, "old")] == ["I like tea."]
    terminal.prompts()
    terminal.type("/forget all")
    terminal.shows(rf"forget all 1 memory of {re.escape(ann)}\?")
    terminal.type("y")
    terminal.shows("1 memory forgotten; a new session begins")
    assert sessions(answering, ann) == {}


def test_as_of_a_day(chat: Chat, model: ScriptedModel, answering: httpx.Client, ann: str) -> None:
    """What was said later does not count, and the prompt says which day it is."""
    record(answering, ann, "old", "I live in Ghent.", "Noted.", timestamp="2023-05-20T10:00:00Z")
    record(answering, ann, "new", "I live in Rome.", "Noted.", timestamp="2023-05-25T10:00:00Z")
    model.on(COT).reply("ANSWER: In Ghent.")
    terminal = chat()
    terminal.type("/time soon")
    terminal.shows("cannot read 'soon' as a time")
    terminal.type("/time 2023-05-22")
    terminal.shows(r"you \(2023-05-22\) ›")
    terminal.type("Where do I live?")
    terminal.shows("In Ghent.")
    (sent,) = model.requests(COT)
    assert "I live in Ghent." in str(sent.body)
    assert "I live in Rome." not in str(sent.body)
    terminal.prompts()
    terminal.type("/why")
    terminal.shows(
        r"(?s)asked on 22 May 2023.*answered from 1 of 1 found.*20 May 2023 .*“I live in Ghent\."
    )
    terminal.type("/time")
    terminal.shows("time: now")
