"""A chat request, resolved; what it may mean; and what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Any, NamedTuple, Self

from assistant.answering.reader import Outcome, Trace, shapes_reply
from assistant.answering.statements import ONLY_ASKS
from assistant.chat.retriever import Understanding
from assistant.models.chat_model import Message
from memory_store import Days, Labels, Reach, Recall, Record, Round, Where
from memory_store.language import (
    ASKING,
    TELLING,
    Asked,
    Language,
    Reading,
    Sentence,
    Wishes,
    most_of,
    wishes_of,
)


class UserSession(NamedTuple):
    """The owner of a message, its session, and in a shared space the member who sends it."""

    user_id: str
    session_id: str
    person: str | None = None


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a message may mean, read once when it comes in. Whoever acts on it weighs what a wrong
    guess costs; nobody reads the words again to find out what they mean."""

    reading: Reading
    wishes: Wishes
    asked: Asked

    @classmethod
    def of(
        cls, text: str, asked: str, language: Language, asked_on: date, week_begins: int = 0
    ) -> Self:
        """Read a message; `asked` is its text, with a question mark where it is known to be a
        question. `week_begins` is the first weekday of a week; Monday is 0."""
        wanted = language.asked(asked, asked_on, week_begins)
        return cls(language.read(text), wishes_of(text), wanted)

    @property
    def tells(self) -> bool:
        """Whether it probably tells something."""
        telling, asking = self.reading.telling, self.reading.asking
        return telling >= TELLS or (telling >= MAY_TELL and telling > asking)

    @property
    def tells_more(self) -> bool:
        """Whether it more surely tells something than asks: an unsure answer is no use to it."""
        telling, asking = self.reading.telling, self.reading.asking
        may_tell = telling >= MAY_TELL and most_of(self.reading.kinds, ASKING) < HARDLY_ASKS
        surely_tells = telling >= SURELY_TELLS and (asking < SURELY_ASKS or not self.asks_surely)
        return may_tell or surely_tells or (self.tells and asking < min(ASKS, telling))

    @property
    def asks_surely(self) -> bool:
        """Whether a sentence of it is a question."""
        return any(
            one.text.endswith("?") or one.only_asks >= ONLY_ASKS for one in self.reading.sentences
        )

    @property
    def only_tells(self) -> bool:
        """Whether it probably expects no answer."""
        if not self.tells:
            return False
        if self.reading.telling < SURELY_TELLS:
            # "Spare key" may tell of one, or look for it.
            is_kept = self.wishes.keeps >= TELLS and self.reading.asking < ASKS_TOO
            return is_kept or (
                self.reading.telling >= LIKELY_TELLS and self.reading.asking < RARELY
            )
        return not any(map(_asks, self.reading.sentences))


# Certainties from which on we say that a message tells or asks. Neither costs much: a telling
# message is acknowledged, an asking one is answered, in doubt both.
MAY_TELL, TELLS, LIKELY_TELLS, SURELY_TELLS = 0.3, 0.5, 0.7, 0.9
RARELY, MAY_ASK, ASKS_TOO, ASKS, SURELY_ASKS = 0.1, 0.2, 0.35, 0.5, 0.7
# "landlord: Pete Voss" may be work, as "translate: …" is; but it asks nothing.
HARDLY_ASKS = 0.05


def _asks(sentence: Sentence) -> bool:
    """Whether a sentence of a message that surely tells something wants an answer."""
    if sentence.text.endswith("?"):
        return sentence.asking >= MAY_ASK
    return sentence.asking >= (SURELY_ASKS if sentence.kind in TELLING else ASKS)


class MemoryMode(StrEnum):
    """What a chat request does with memory."""

    ON = "on"
    READ_ONLY = "read_only"
    WRITE_ONLY = "write_only"
    OFF = "off"

    @property
    def recalls(self) -> bool:
        """Whether the question is answered from memory."""
        return self in (MemoryMode.ON, MemoryMode.READ_ONLY)

    @property
    def stores(self) -> bool:
        """Whether the new round is kept."""
        return self in (MemoryMode.ON, MemoryMode.WRITE_ONLY)


@dataclass(frozen=True, slots=True)
class ChatCall:
    """A chat request, resolved: who says what, when, in which session, after which messages."""

    user_id: str
    session_id: str
    text: str
    asked_at: datetime
    timed: bool
    mode: MemoryMode
    conversation: Sequence[Message] = ()
    """The earlier messages that the model is shown."""
    message: Message | None = None
    """The message as it was sent, where it is more than its text."""
    after: Sequence[Message] = ()
    """What came since: calls of tools, and their results."""
    sent_along: Sequence[Message] | None = None
    """The messages of the conversation that the client sent, by which a repeated round is
    recognised; None means all of it."""
    name: str | None = None
    turn_id: str | None = None
    """The caller's own id of what is said: the same id is the same round."""
    retried: bool = False
    """Whether the client says that it sends the request again."""
    days: Days = field(default_factory=Days)
    """The days that memory is cut to; all of them by default."""
    debug: bool = False
    """Whether the caller wants to see what was recalled, and why."""
    is_task: bool = False
    """Whether a front end asks on its own behalf, such as for a title or for tags."""
    is_question: bool = False
    """Whether it is a question whatever its form, and wants nothing else done."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options for the language model."""
    where: Where = ()
    """The labels that recalled rounds must have."""
    labels: Labels | None = None
    """The labels of the new round; None for those of the session's last round."""
    expires_at: datetime | None = None
    """When the new round may be forgotten."""
    reach: Reach = Reach.ANYWHERE
    """Where the new round may go at most."""
    strict: bool | None = None
    """Whether only what the user stated and still holds is read; None leaves it to the profile."""
    week_begins: int = 0
    """The weekday on which the speaker's weeks begin; Monday is 0."""
    person: str | None = None
    """In a shared space, the member who says it."""

    @property
    def place(self) -> UserSession:
        """The owner and the session of the message, and who of several sends it."""
        return UserSession(self.user_id, self.session_id, self.person)

    @property
    def wants_words(self) -> bool:
        """Whether a reply in words of ours would do: no program waits for calls or a format."""
        return not (self.after or shapes_reply(self.options))

    @property
    def may_tell(self) -> bool:
        """Whether a person says it, rather than a program, or a question to memory alone."""
        return self.wants_words and not (self.is_task or self.is_question)

    @property
    def asked(self) -> str:
        """The text as it is searched and read. A question gets a mark, by which rules know it."""
        is_marked = not self.is_question or self.text.rstrip().endswith("?")
        return self.text if is_marked else f"{self.text}?"


@dataclass(frozen=True, slots=True)
class ChatDone:
    """The answer when it is complete and, where asked for, stored."""

    trace: Trace
    recall: Recall | None
    record: Record | None
    """What was stored, if anything, with what its facts replace."""
    timings: Mapping[str, float]
    understanding: Understanding | None = None
    outcome: Outcome = Outcome.ANSWERED
    gone: Sequence[Round] = ()
    """The rounds that it forgot."""
