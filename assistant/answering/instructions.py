"""The instructions around a memory, by what is asked of the model: each with what it is given."""

from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from typing import ClassVar

from assistant.prompts.prompt_file import Prompt, explained, load_prompt


@dataclass(frozen=True, slots=True)
class _Instructions:
    """What a prompt is given, already fenced: today with its weekday, and the fields of each.

    `marks` are those that stand in it: no other is explained.
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
    """The memory."""

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
    """One round."""

    prompt = load_prompt("note")
    round: str


@dataclass(frozen=True, slots=True)
class AnswerFromNotesInput(_Instructions):
    """Notes on several rounds."""

    prompt = load_prompt("answer_from_notes")
    notes: str
