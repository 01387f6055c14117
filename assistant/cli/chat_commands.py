"""What is typed in `assistant chat`: slash commands, or something said that gets an answer."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from assistant.cli.connection import ServerError
from assistant.cli.console import confirmed, in_prose, memory_count, say, shown_progress
from assistant.cli.conversation import ReplyPiece, TerminalConversation
from assistant.cli.memory_calls import SHORTEST_PREFIX, MemoryCalls
from assistant.cli.printing import print_memories, print_why, what_goes

AHEAD = (
    "that is in the future: what you say now is kept with that date, and counts as newer than "
    "what you say until then; /time goes back to now"
)
_LATEST = 10
_OWN = "own"
_EXPORT = "memories.jsonl"


class Leave(Exception):
    """The user ends the conversation."""


class Command(NamedTuple):
    """A slash command: what may follow its name, and what it is for."""

    argument: str
    meaning: str
    run: Callable[["Talk", str], None]


Shown = Callable[[Console], AbstractContextManager[Callable[[ReplyPiece], None]]]
"""Shows an answer while the context is open. The context gives a function that takes the pieces."""


class Talk:
    def __init__(self, conversation: TerminalConversation, console: Console, shown: Shown) -> None:
        self._conversation = conversation
        self._console = console
        self._answer_shown = shown
        self._shown: list[str] = []
        """The ids of the memories last shown, which may be named by their number."""

    def take(self, line: str) -> None:
        """Carry out a command, or say the line and show the answer; nothing for a blank one.
        Raises `AssistantError` and `Leave`."""
        name, _, argument = line.partition(" ")
        if command := COMMANDS.get(name):
            command.run(self, argument.strip())
        elif line.startswith("/"):
            self._say(f"there is no command {name}; /help lists them")
        elif line:
            with self._answer_shown(self._console) as show:
                for piece in self._conversation.say(line):
                    show(piece)

    def _new(self, _: str) -> None:
        self._conversation.begin()
        self._say(f"new session {self._conversation.session_id}")

    def _session(self, session_id: str) -> None:
        if session_id:
            self._conversation.begin(session_id)
            self._say(f"{len(self._conversation.messages)} messages so far")
        self._say(self._conversation.session_id)

    def _user(self, user_id: str) -> None:
        if user_id:
            self._conversation.connection.user_id = user_id
            self._conversation.connection.enter(None)
            self._shown = []
            self._new("")
        self._say(f"user: {self._conversation.connection.user_id}")

    def _space(self, named: str) -> None:
        connection = self._conversation.connection
        if named:
            connection.enter(None if named == _OWN else named)
            self._shown = []
            self._new("")
        self._say(f"space: {connection.space or 'none, your own memory'}")

    def _time(self, timestamp: str) -> None:
        self._conversation.be_at(None if timestamp in ("", "now") else timestamp)
        as_of = self._conversation.timestamp
        self._say(f"time: {in_prose(as_of)}, {as_of[11:16]} UTC" if as_of else "time: now")
        if self._conversation.is_ahead:
            self._say(AHEAD)

    def _memories(self, words: str) -> None:
        if words:
            found = self._memory.search(words, top_k=_LATEST, now=self._conversation.timestamp)
            listed, end = [one for one in found["data"] if one["near"]] or found["data"], "found"
        else:
            page = self._memory.page(limit=_LATEST, to=self._conversation.timestamp)
            listed, end = page["data"], f"of {page['total']}"
        self._shown = [memory["id"] for memory in listed]
        if listed:
            print_memories(self._console, listed, numbered=True)
        self._say(f"{len(listed)} {end}" if listed or not words else "nothing found")

    def _why(self, _: str) -> None:
        if self._conversation.trace is None:
            self._say("there is no answer yet")
        else:
            print_why(self._console, self._conversation.trace)

    def _forget(self, what: str) -> None:
        id = session_id = None
        if not what:
            self._say("/forget needs a number from /memories, an id, 'session' or 'all'")
            return
        if what == "session":
            session_id = self._conversation.session_id
        elif what != "all":
            id = self._named(what)
        goes, found = what_goes(self._memory, id, session_id)
        if not found["rounds"]:
            self._say("there is nothing to forget")
        elif not confirmed(f"forget {goes}?"):
            self._say("nothing was forgotten")
        elif id is not None:
            self._memory.forget(id)
            self._say("forgotten")
        else:
            done = self._memory.forget(session_id=session_id)["rounds"]
            self._conversation.begin()
            self._say(f"{memory_count(done)} forgotten; a new session begins")

    def _named(self, memory: str) -> str:
        """The id of a memory named by its number in the last list, or by its id."""
        if not memory.isdecimal() or len(memory) >= SHORTEST_PREFIX:
            return memory
        if not 0 < int(memory) <= len(self._shown):
            raise ServerError(f"no memory number {memory}: /memories lists them")
        return self._shown[int(memory) - 1]

    def _export(self, named: str) -> None:
        file = Path(named or _EXPORT)
        with shown_progress(Console(quiet=True)) as progress:
            count = self._memory.export_file(file, progress)
        self._say(f"{memory_count(count)} written to {file}")

    def _help(self, _: str) -> None:
        for name, command in COMMANDS.items():
            self._say(f"{f'{name} {command.argument}':<20} {command.meaning}")
        self._say("Alt-Enter, or a backslash at the end, begins a new line.")
        self._say("Ctrl-C stops an answer; Ctrl-C twice, or Ctrl-D, leaves.")

    def _quit(self, _: str) -> None:
        raise Leave

    @property
    def _memory(self) -> MemoryCalls:
        return MemoryCalls(self._conversation.connection)

    def _say(self, text: str) -> None:
        say(self._console, text)


COMMANDS = {
    "/new": Command("", "begin a new session", Talk._new),
    "/session": Command("[ID]", "show the session, or go on with another", Talk._session),
    "/user": Command("[NAME]", "show who you are, or be somebody else", Talk._user),
    "/space": Command("[NAME]", "show the space, or speak in another, or 'own'", Talk._space),
    "/time": Command("[TIME]", "talk as of 2024-03-01, or as of now", Talk._time),
    "/memories": Command("[WORDS]", "the latest memories, or those found", Talk._memories),
    "/why": Command("", "why the last answer is what it is", Talk._why),
    "/forget": Command("WHAT", "a number of /memories, session or all", Talk._forget),
    "/export": Command("[FILE]", "write your memory to a file", Talk._export),
    "/help": Command("", "this list", Talk._help),
    "/quit": Command("", "leave", Talk._quit),
}
