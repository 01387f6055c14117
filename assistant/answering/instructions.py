"""The instructions around a memory: a class for each prompt, with the values that it is given."""

from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from typing import ClassVar

from assistant.prompts.prompt_file import Prompt, explained, load_prompt


@dataclass(frozen=True, slots=True)
class _Instructions:
    """The values of a prompt, already fenced: today with its weekday, and fields of the subclass.

    `marks` are the marks that occur in the memory: the prompt explains only these.
    """

    prompt: ClassVar[Prompt]
    today: str
    marks: Collection[str] = field(kw_only=True)

    def render(self) -> str:
        """The system text."""
        return self.prompt.render(**asdict(self) | {"marks": explained(self.marks)})


@dataclass(frozen=True, slots=True)
class BesideInput(_Instructions):
    """The memory beside a request of a program."""

    prompt = load_prompt("memory_beside")
    memory: str


@dataclass(frozen=True, slots=True)
class DirectInput(_Instructions):
    """The memory, for an answer at once."""

    prompt = load_prompt("direct")
    memory: str


@dataclass(frozen=True, slots=True)
class ChainOfNoteInput(_Instructions):
    """The memory, and the marker that ends the notes."""

    prompt = load_prompt("chain_of_note")
    memory: str
    marker: str


@dataclass(frozen=True, slots=True)
class NoteInput(_Instructions):
    """One round, for a note on it."""

    prompt = load_prompt("note")
    round: str


@dataclass(frozen=True, slots=True)
class AnswerFromNotesInput(_Instructions):
    """Notes on several rounds, for an answer from them."""

    prompt = load_prompt("answer_from_notes")
    notes: str
