"""The protocol of a reader, what it reads, and what a request demands beside an answer in words.

A request that only a language model can serve is passed on as it came, with memory beside it. No
protocol of ours, such as notes before the answer, comes between a program and its model.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from assistant.models.chat_model import Message, TokenCounts
from memory_store import Days, MemoryReader, Recalled, Where
from memory_store.language import LONGEST_READ, Asked


@dataclass(frozen=True, slots=True)
class Question:
    """A question: its text and time, the messages before it, and what was found in memory.

    `recalled` is None when memory was not consulted (mode `off` or `write_only`).
    """

    text: str
    asked_at: datetime
    conversation: Sequence[Message] = ()
    recalled: Sequence[Recalled] | None = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    """What the caller wants of a language model: sampling, and where the answer ends."""
    asked: Asked = field(default_factory=Asked)
    """What it asks for, as it was read."""
    known: Days = field(default_factory=Days)
    """The days of which memory was searched."""
    where: Where = ()
    """The labels of the rounds that were searched."""
    unknown: frozenset[str] = frozenset()
    """Words of it that none of the searched rounds has."""
    is_task: bool = False
    """Whether a front end asks on its own behalf, such as for a title or for tags."""
    tells: bool = False
    """Whether it also tells something, so that only a sure answer helps."""
    asking: str = ""
    """The sentences of it that tell nothing; empty where there are none, or nobody knows."""
    is_kept: bool = False
    """Whether it is remembered with its answer."""
    message: Message | None = None
    """The message with the question, where it is more than its text."""
    after: Sequence[Message] = ()
    """What came since the question: calls of tools, and their results."""
    user_id: str = ""
    """Whose memory it is about."""
    left_out: Mapping[str, int] | None = None
    """How much strict recall left out, by reason; None where recall is not strict."""

    @property
    def topic(self) -> str:
        """The question without the time that it names: a statement seldom says when it was made."""
        range_ = self.asked.time_range
        rest = self.text.replace(range_.text, " ") if range_ and range_.text else self.text
        return rest if rest.strip(" ?.!") else self.text

    @property
    def messages(self) -> list[Message]:
        """The conversation, the question, and what came since."""
        asked = self.message or Message("user", self.text)
        return [*self.conversation, asked, *self.after]

    @property
    def is_passed_on(self) -> bool:
        """Whether the request is passed on as it came, with memory beside it: a program waits for
        the reply, and not only a person."""
        return bool(self.after or demanded(self.options, self.message))


def as_read(question: Question) -> Question:
    """The question with as much of its text as rules read."""
    return replace(question, text=question.text[:LONGEST_READ])


class Look(NamedTuple):
    """What a model looked for in memory before it answered, by which tool, and which of the rounds
    found it read."""

    tool: str
    asked: str
    found: Sequence[Recalled] = ()
    tokens: int = 0
    """Tokens of what the tool returned."""
    beside: Sequence[str] = ()
    """Ids of rounds that were quoted beside these."""

    @property
    def ids(self) -> list[str]:
        """Ids of all rounds of which it read words."""
        return [*(one.record.id for one in self.found), *self.beside]


@dataclass(frozen=True, slots=True)
class Trace:
    """How an answer came about: for the person who asks why, never for the answer itself."""

    notes: str = ""
    context: Sequence[str] = ()
    """Ids of the rounds that were read, best first."""
    quoted: Sequence[str] = ()
    """Ids of the rounds that the answer quotes word for word."""
    dropped: Sequence[str] = ()
    """Ids of the recalled rounds that did not fit."""
    trimmed: Sequence[str] = ()
    """Ids of the rounds that were read shortened."""
    context_tokens: int = 0
    """Tokens of the memory that was read, as budgeted."""
    tokens: TokenCounts | None = None
    finish_reason: str = "stop"
    calls: Sequence[Mapping[str, Any]] = ()
    """The calls of tools that the reply asks for, in place of an answer or beside it."""
    looks: Sequence[Look] = ()
    """What the model looked for in memory itself."""
    looking_ms: float = 0.0
    """Milliseconds from the model's first call to its last one, where it looked in between."""


class Outcome(StrEnum):
    """What became of a message. It is stored with the round, and not guessed from the answer."""

    ANSWERED = "answered"
    """A language model answered."""
    QUOTED = "quoted"
    """Answered with quotes from memory."""
    UNKNOWN = "unknown"
    """Answered that nothing is known, maybe with what is closest."""
    KEPT = "kept"
    """It told something, which was kept and no more."""
    POLITE = "polite"
    """It wanted a few polite words back, or what only a language model can give."""
    REFUSED = "refused"
    """Not kept, as it asked."""
    FORGOTTEN = "forgotten"
    """What it confirmed was forgotten."""
    ASKED_BACK = "asked_back"
    """It asks to forget something, and was asked to confirm that, or what."""


@dataclass(frozen=True, slots=True)
class AnswerPiece:
    """A piece of the answer; the last one carries the trace and may be empty.

    `choices` is the piece as the model gave it, where that is more than a text; `notes` are its
    notes before the answer, which streams show while there is no answer yet; `outcome` is what
    became of the message, where a piece decides it.
    """

    text: str = ""
    trace: Trace | None = None
    choices: Sequence[Mapping[str, Any]] = ()
    notes: str = ""
    outcome: Outcome | None = None


class Reader(Protocol):
    """Answers questions from recalled rounds."""

    name: str
    reads_conversation: bool
    """Whether it reads the earlier messages of the conversation, and not memory alone."""

    def most_rounds(self, asked: Asked) -> int:
        """How many recalled rounds of usual length it can make use of, for a question."""
        ...

    def over(self, memory: MemoryReader) -> "Reader":
        """The same reader over another memory."""
        ...

    def read(self, question: Question) -> AsyncGenerator[AnswerPiece, None]:
        """The answer in pieces, ending with exactly one that carries the trace.

        Closing it stops whatever is writing the answer.
        """


TEXT_PARTS = ("text", "input_text", "output_text")


def demanded(options: Mapping[str, Any], question: Message | None) -> tuple[str, ...]:
    """The names of what is demanded, by OpenAI's fields; `question` is the message to answer."""
    found = [name for name in ("tools", "functions", "logprobs", "audio") if options.get(name)]
    found += ["response_format"] if shapes_reply(options) else []
    found += ["n"] if options.get("n") not in (None, 1) else []
    found += ["modalities"] if options.get("modalities") not in (None, ["text"]) else []
    found += sorted(kinds_of_parts(question)) if question else []
    return tuple(found)


def shapes_reply(options: Mapping[str, Any]) -> bool:
    """Whether the reply is to be of a format that a program reads."""
    wanted = options.get("response_format")
    return isinstance(wanted, Mapping) and wanted.get("type") != "text"


def kinds_of_parts(message: Message) -> set[str]:
    """The kinds of a message's parts that are no text."""
    content = (message.sent or {}).get("content")
    if not isinstance(content, list):
        return set()
    return {str(part.get("type")) for part in content} - set(TEXT_PARTS)


def part_text(part: Mapping[str, Any]) -> str | None:
    """The text of a part of a message; None for pictures, files and the like."""
    text = part.get("text")
    is_text = part.get("type") in TEXT_PARTS and isinstance(text, str)
    return text if is_text else None
