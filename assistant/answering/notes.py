"""Chain-of-Note: notes before the answer, in the same call or in a call for each round.

A caller may want the answer to end at a stop text or after a number of tokens. A model that answers
at once is told so. A model that writes notes first is not: a stop text would end its reply within
the notes, and a limit would leave nothing for the answer. So its answer is cut here, with four
characters counted as a token.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from assistant.answering.context import Context, ContextRequest, build_context
from assistant.answering.instructions import NoteInput
from assistant.answering.layouts import CONTRADICTED, SEVERAL, plural
from assistant.answering.packing import Passage, Shown
from assistant.answering.plan import Layout
from assistant.answering.reader import Question
from assistant.answering.standing import PINNED, STANDING, Pinned, StandingRequest
from assistant.dates import print_day
from assistant.models.chat_model import ChatModel, Message, TokenCounts
from assistant.models.token_counter import CHARACTERS_PER_TOKEN
from assistant.prompts.fence import fenced_text

MARKER = "ANSWER:"
"""The marker before the answer, as the prompt asks for it; decorations are tolerated."""

# Models decorate the marker: "**ANSWER:**", "### Answer:".
_MARKER_LINE = re.compile(r"(?:^|\n)[ \t#*_>`]*answer[*_` ]*:[*_`]*[ \t]*\n?", re.I)
# Some models forget the new line; then only the marker exactly as asked for is trusted.
_MARKER_IN_LINE = re.compile(r"[*_`]*\bANSWER:[*_`]*[ \t]*\n?")
_NOTES_LINE = re.compile(r"[\s#*_>`]*notes[*_` ]*:[*_`]*\s*", re.I)
_DECORATION = " \t\n#*_>`"
_MARKER_WORD = "answer"


class NotesFilter:
    """Splits a reply that comes piece by piece: `feed` returns pieces of the answer, and `take`
    pieces of the notes."""

    def __init__(self) -> None:
        self._held = ""
        self._notes: str | None = None
        self._end: int | None = None
        """Where the notes end, once that is known."""
        self._taken = 0
        self._begun = False

    @property
    def notes(self) -> str:
        """The notes, once the marker was seen; empty before that and without a marker."""
        return self._notes or ""

    def feed(self, piece: str) -> str:
        """The answer text that this piece lets through; empty while notes are written."""
        if self._notes is not None:
            return self._trimmed(piece)
        # A marker at the end waits for what follows it, so the last line is searched again.
        line = self._last_line()
        self._held += piece
        match = _MARKER_LINE.search(self._held, line)
        # The match must not touch the end: "ANSWER:" may still be followed by its decoration.
        if match is None or match.end() == len(self._held):
            return ""
        return self._split(match)

    def take(self) -> str:
        """The notes that are sure by now and were not taken before, without the word "notes".

        Until the marker comes, a reply that does not begin with that word may be all answer, so
        nothing of it is taken. If it begins so, and no line begins with a marker, its answer is
        taken as notes, too: `finish` then returns the answer once more.
        """
        heading = _NOTES_LINE.match(self._held)
        if heading is None and self._end is None:
            return ""
        begin = max(self._taken, heading.end() if heading else 0)
        self._taken = max(begin, self._end_of_notes())
        return self._held[begin : self._taken]

    def _end_of_notes(self) -> int:
        """Where the notes surely end: before a last line that may turn out to be the marker."""
        if self._end is not None:
            return self._end
        line = self._last_line()
        begun = self._held[line:].strip(_DECORATION).casefold()[: len(_MARKER_WORD)]
        return line if _MARKER_WORD.startswith(begun) else len(self._held)

    def _last_line(self) -> int:
        """The place of the line break before the last line that is not empty, else 0."""
        return max(0, self._held.rstrip().rfind("\n"))

    def finish(self, *, cut: bool = False) -> str:
        """What is left when the reply ends: nothing, or the answer in a reply without the marker.

        `cut` says that the reply was cut off, so that notes at its end are no answer.
        """
        if self._notes is not None:
            return ""
        match = _MARKER_LINE.search(self._held)
        if match is None and _NOTES_LINE.match(self._held):
            match = _MARKER_IN_LINE.search(self._held)
        if match is not None:
            return self._split(match)
        return _without_notes(self._held, cut)

    def _split(self, match: re.Match[str]) -> str:
        self._end = match.start()
        self._notes = self._held[: self._end].strip()
        return self._trimmed(self._held[match.end() :])

    def _trimmed(self, text: str) -> str:
        """Leading white space of the answer is dropped."""
        if not self._begun:
            text = text.lstrip()
            self._begun = bool(text)
        return text


def _without_notes(reply: str, cut: bool) -> str:
    """The answer of a reply without the marker: its last paragraph if it began with notes.

    Empty if there is nothing but notes.
    """
    if not _NOTES_LINE.match(reply):
        return reply.strip()
    paragraphs = [part.strip() for part in reply.split("\n\n") if part.strip()]
    return paragraphs[-1] if len(paragraphs) > 1 and not cut else ""


# At most this many rounds get a call each: further calls cost more than they find.
_MOST_ROUNDS = 20
_AT_ONCE = 4
_NOTHING = "nothing"
# The marks that an answer from notes needs; notes say in their own words what the others mean.
_MARKS_OF_NOTES = {STANDING, PINNED, SEVERAL, CONTRADICTED}


@dataclass(frozen=True, slots=True)
class Note:
    """What one round contributes, as the model noted it; `text` may be empty."""

    shown: Shown
    text: str


@dataclass(frozen=True, slots=True)
class Notes:
    """The notes that say something, oldest first, standing requests, what is pinned, and the tokens
    all calls took."""

    notes: tuple[Note, ...]
    requests: tuple[StandingRequest, ...]
    pinned: tuple[Pinned, ...]
    marks: frozenset[str]
    """The marks of the rounds and requests that an answer from notes needs, too."""
    read: tuple[str, ...]
    dropped: tuple[str, ...]
    tokens: TokenCounts

    def text(self, asked_at: datetime) -> str:
        """The notes as the answering prompt shows them, fenced."""
        lines = [f"{_when(note.shown, asked_at)}: {fenced_text(note.text)}" for note in self.notes]
        written = "\n".join(f"- {line}" for line in lines) or "(no round contributes anything)"
        parts = [written]
        for name, entries in ((PINNED, self.pinned), (STANDING, self.requests)):
            if entries:
                parts.append(f"== {name}")
            parts += [f"- {print_day(one.said_at)}: {fenced_text(one.text)}" for one in entries]
        return "\n".join(parts)


async def take_notes(model: ChatModel, question: Question, context: Context) -> Notes:
    """A note on each of the best rounds of the context. Raises the model's errors."""
    best = context.shown[:_MOST_ROUNDS]
    slots = asyncio.Semaphore(_AT_ONCE)

    async def one(shown: Shown) -> tuple[Note, TokenCounts]:
        async with slots:
            return await _note(model, question, shown)

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(shown)) for shown in best]
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from failed
    taken = [task.result() for task in tasks]
    notes = sorted((note for note, _ in taken if note.text), key=_place)
    read = [shown.record.id for shown in best]
    read += [one.round_id for one in context.pinned]
    read += [one.round_id for one in context.requests]
    return Notes(
        notes=tuple(notes),
        requests=context.requests,
        pinned=context.pinned,
        marks=context.marks & _MARKS_OF_NOTES,
        read=tuple(dict.fromkeys(read)),
        dropped=(*(s.record.id for s in context.shown[_MOST_ROUNDS:]), *context.dropped),
        tokens=sum((tokens for _, tokens in taken), TokenCounts(cost=0.0)),
    )


def parse_note(reply: str) -> str:
    """The note in a reply; empty where it says that the round contributes nothing."""
    text = reply.strip()
    return "" if text.strip("*_`\"'. ").casefold() == _NOTHING else text


async def _note(model: ChatModel, question: Question, shown: Shown) -> tuple[Note, TokenCounts]:
    alone = _alone(shown, question)
    today = print_day(question.asked_at)
    system = NoteInput(today, alone.text, marks=alone.marks).render()
    messages = [Message("system", system), Message("user", question.text)]
    text, tokens = "", TokenCounts()
    async for piece in model.stream(messages, for_notes(question.options)):
        text += piece.text
        tokens = piece.tokens or tokens
    # An empty reply is no finding: the round itself is the note then.
    return Note(shown, parse_note(text) if text.strip() else shown.user_text), tokens


def _alone(shown: Shown, question: Question) -> Context:
    """The round alone, as text."""
    request = ContextRequest(question.text, question.asked_at, _ANY_SIZE, Layout.TEXT)
    return build_context([Passage(shown.record, (shown.record,))], request, len)


_ANY_SIZE = 10**9


def _when(shown: Shown, asked_at: datetime) -> str:
    said_on = shown.record.round.session_date
    days = (asked_at.date() - said_on.date()).days
    return f"{print_day(said_on)}, {plural(days, 'day')} ago" if days > 0 else print_day(said_on)


def _place(note: Note) -> tuple[datetime, int]:
    round = note.shown.record.round
    return round.session_date, round.round_index


LIMITS = ("max_completion_tokens", "max_tokens")
"""The options that limit a reply, the newer name first."""
_STOP = "stop"
# Tokens for notes, beside those of the answer.
_NOTES_TOKENS = 1000


def for_notes(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options without what would end a reply early."""
    return {name: value for name, value in options.items() if name not in (*LIMITS, _STOP)}


def with_notes_before(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options for a reply that begins with notes: no stop text, and a limit with room for
    the notes."""
    limits = [(name, options[name] + _NOTES_TOKENS) for name in LIMITS if options.get(name)]
    return for_notes(options) | dict(limits[:1])


class AnswerEnd:
    """Ends an answer that comes piece by piece, at a stop text or at the limit of tokens."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self.reason: str | None = None
        """`stop` or `length` once the end was reached."""
        given = options.get(_STOP) or ()
        self._stops: Sequence[str] = [given] if isinstance(given, str) else list(given)
        limit = next((options[name] for name in LIMITS if options.get(name)), None)
        self._left = None if limit is None else limit * CHARACTERS_PER_TOKEN
        self._held = ""

    def feed(self, piece: str) -> str:
        """The part of the answer that is sure to come before its end."""
        if self.reason:
            return ""
        text = self._held + piece
        found = [place for stop in self._stops if (place := text.find(stop)) >= 0]
        sure = min(found) if found else len(text) - self._begun(text)
        self._held = text[sure:]
        shown = self._within_limit(text[:sure])
        if found and not self.reason:
            self.reason = "stop"
        return shown

    def finish(self) -> str:
        """The text held back as the possible beginning of a stop text, when the reply ends."""
        held, self._held = self._held, ""
        return "" if self.reason else self._within_limit(held)

    def _begun(self, text: str) -> int:
        """How many characters at the end of the text may begin a stop text."""
        lengths = [
            n for stop in self._stops for n in range(1, len(stop)) if text.endswith(stop[:n])
        ]
        return max(lengths, default=0)

    def _within_limit(self, text: str) -> str:
        if self._left is None:
            return text
        if len(text) > self._left:
            self.reason = "length"
            text = text[: self._left]
        self._left -= len(text)
        return text
