"""The prompts of reading: what each takes, and how it is rendered. Their replies are read by
`notes.py`."""

from dataclasses import asdict, dataclass

from assistant.prompts.prompt_file import Prompt, load_prompt

BESIDE: Prompt = load_prompt("memory_beside")
DIRECT: Prompt = load_prompt("direct")
CHAIN_OF_NOTE: Prompt = load_prompt("chain_of_note")
NOTE: Prompt = load_prompt("note")
ANSWER_FROM_NOTES: Prompt = load_prompt("answer_from_notes")


@dataclass(frozen=True, slots=True)
class BesideInput:
    """The memory, already fenced, beside a request of a program, and today with its weekday."""

    today: str
    memory: str

    def render(self) -> str:
        """The system text."""
        return BESIDE.render(**asdict(self))


@dataclass(frozen=True, slots=True)
class DirectInput:
    """The memory, already fenced, and today with its weekday."""

    today: str
    memory: str

    def render(self) -> str:
        """The system text."""
        return DIRECT.render(**asdict(self))


@dataclass(frozen=True, slots=True)
class ChainOfNoteInput:
    """The same, and the marker that ends the notes."""

    today: str
    memory: str
    marker: str

    def render(self) -> str:
        """The system text."""
        return CHAIN_OF_NOTE.render(**asdict(self))


@dataclass(frozen=True, slots=True)
class NoteInput:
    """One round, already fenced."""

    today: str
    round: str

    def render(self) -> str:
        """The system text."""
        return NOTE.render(**asdict(self))


@dataclass(frozen=True, slots=True)
class AnswerFromNotesInput:
    """Notes on several rounds, already fenced."""

    today: str
    notes: str

    def render(self) -> str:
        """The system text."""
        return ANSWER_FROM_NOTES.render(**asdict(self))
