"""A message, read once: its possible kinds, and which of its sentences tell or ask something.

Nothing is decided here. Each guess comes with its certainty, and the code that acts on a guess
weighs what a wrong one would cost (docs/decisions/0021-what-a-wrong-guess-may-cost.md).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from memory_store.language.kinds import (
    ASKING,
    TELLING,
    Certainties,
    Kind,
    kinds_of,
    likeliest,
    most_of,
)
from memory_store.language.languages import wording

VERSION = 1
"""The version of the reading code. A stored reading of another version is made anew when needed."""
# Sentences after this many are part of something pasted; they are taken to tell something.
_MOST_SENTENCES = 64
# The least certainties that a sentence, and its whole message, say how to answer from now on.
_INSTRUCTS, _ALSO_INSTRUCTS = 0.65, 0.3
# A task counts less as asking, as a message that wants a text worked on may well tell something.
_TASK = 0.6
# A message that is surely of these kinds and surely of no other says nothing to be remembered. A
# name alone ("Bo") is seldom as sure as this.
_IDLE = (Kind.GREETS, Kind.THANKS, Kind.SMALL_TALK)
_IDLES, _IDLY_TELLS, _IDLY_ASKS = 0.85, 0.25, 0.4
# Kinds that are less sure than this are not stored.
_LEAST = 0.02


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a message, its surest kind, and the certainties that it tells something, that
    it asks something, and that it says how to answer from now on."""

    text: str
    telling: float = 1.0
    asking: float = 0.0
    instructing: float = 0.0
    kind: Kind = Kind.TELLS

    @classmethod
    def read(cls, text: str) -> Self:
        """Read a sentence by the model of kinds."""
        kinds = kinds_of(text)
        telling = most_of(kinds, TELLING)
        asking = max(most_of(kinds, ASKING), _TASK * kinds[Kind.TASK])
        if wording("questions.gives_answer").match(text):
            telling, asking = max(telling, asking), min(telling, asking)
        return cls(text, telling, asking, kinds[Kind.INSTRUCTS], likeliest(kinds))

    @property
    def only_asks(self) -> float:
        """The certainty, from 0 to 1, that it asks and tells nothing."""
        return self.asking * (1 - self.telling)

    @property
    def instructs(self) -> bool:
        """Whether it surely says how to answer from now on, so that it is followed. It must say
        that it holds for longer, as most wishes are for one answer only."""
        return (
            self.instructing >= _INSTRUCTS
            and not self.text.endswith("?")
            and wording("standing.lasting").search(self.text) is not None
            and wording("standing.of_somebody").search(self.text) is None
        )

    @property
    def is_polite(self) -> bool:
        """Whether it only greets or thanks."""
        return self.kind in (Kind.GREETS, Kind.THANKS)


@dataclass(frozen=True, slots=True)
class Reading:
    """A message with the certainty of each kind, and its sentences."""

    text: str
    kinds: Certainties
    sentences: tuple[Sentence, ...]

    @property
    def telling(self) -> float:
        """The certainty that the message, or one of its sentences, tells something."""
        return max([most_of(self.kinds, TELLING), *(one.telling for one in self.sentences)])

    @property
    def asking(self) -> float:
        """The certainty that the message, or one of its sentences, wants an answer."""
        parts = [one.asking for one in self.sentences]
        # For a single sentence `Sentence.read` is surer, as it also looks at the wording.
        return parts[0] if len(parts) == 1 else max([most_of(self.kinds, ASKING), *parts])

    @property
    def is_idle(self) -> bool:
        """Whether it surely neither tells nor asks anything: "Sounds good, thanks!"."""
        is_small = most_of(self.kinds, _IDLE) >= _IDLES
        return is_small and self.telling < _IDLY_TELLS and self.asking < _IDLY_ASKS

    @property
    def kind(self) -> Kind:
        """The surest kind."""
        return likeliest(self.kinds)

    @property
    def instructions(self) -> list[str]:
        """The sentences that say how to answer from now on."""
        if self.kinds[Kind.INSTRUCTS] < _ALSO_INSTRUCTS:
            return []
        return [one.text for one in self.sentences if one.instructs]

    @property
    def corrects(self) -> float:
        """The certainty that the message corrects something told before."""
        return self.kinds[Kind.CORRECTS]

    def to_plain(self) -> Mapping[str, Any] | None:
        """The reading in plain values, without texts; `reading_from` reads them. None if the text
        does not contain a sentence as it stands, because it was wrapped for example."""
        kinds = {kind.value: round(sure, 2) for kind, sure in self.kinds.items() if sure >= _LEAST}
        sentences, begin = [], 0
        for one in self.sentences:
            begin = self.text.find(one.text, begin)
            if begin < 0:
                return None
            numbers = (one.telling, one.asking, one.instructing)
            place = (begin, len(one.text), one.kind.value)
            sentences.append([*place, *(round(number, 2) for number in numbers)])
            begin += len(one.text)
        return {"version": VERSION, "kinds": kinds, "sentences": sentences}


Splitter = Callable[[str], Sequence[str]]
"""A function that splits a text into sentences."""


def read(text: str, sentences: Splitter) -> Reading:
    """Read a message, with `sentences` to split it."""
    kinds = kinds_of(text)
    parts = sentences(text)
    if len(parts) == 1 and parts[0] == text:
        return Reading(text, kinds, (Sentence.read(text),))
    read = [Sentence.read(part) for part in parts[:_MOST_SENTENCES]]
    return Reading(text, kinds, (*read, *map(Sentence, parts[_MOST_SENTENCES:])))


def reading_from(plain: Mapping[str, Any] | None, text: str) -> Reading | None:
    """The reading that was stored with a text; None if there is none of this version."""
    if plain is None or plain.get("version") != VERSION:
        return None
    known = {Kind(name): sure for name, sure in plain["kinds"].items()}
    return Reading(
        text,
        {kind: known.get(kind, 0.0) for kind in Kind},
        tuple(
            Sentence(text[begin : begin + length], telling, asking, instructing, Kind(kind))
            for begin, length, kind, telling, asking, instructing in plain["sentences"]
        ),
    )
