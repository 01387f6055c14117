"""What an author writes for one item, step by step, and who can be an author."""

from dataclasses import dataclass
from typing import Any, Protocol

from harness.authoring.plan import PlannedQuestion
from harness.errors import HarnessError

Turns = list[dict[str, Any]]


class Refused(HarnessError):
    """An author could not write an item: no reply at this step could be used."""

    def __init__(self, step: str, reason: str) -> None:
        super().__init__(f"{step}: {reason}")
        self.step = step
        self.reason = reason


@dataclass(frozen=True, slots=True)
class DraftQuestion:
    """A question as its user asks it, and the answer."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Draft:
    """Everything written for one item: `statements[i]` is told in the session `chats[i]`, in the
    turn that is labelled `has_answer`.
    """

    item: PlannedQuestion
    persona: str
    asked: DraftQuestion
    statements: tuple[str, ...]
    chats: tuple[Turns, ...]

    def evidence_turn(self, number: int) -> str:
        """What the labelled turn of a session says; empty where none is labelled."""
        said = [turn["content"] for turn in self.chats[number] if turn.get("has_answer")]
        return str(said[0]) if len(said) == 1 else ""


class Author(Protocol):
    """Writes one item a step at a time; raises `Refused` for what it cannot write."""

    async def persona(self, item: PlannedQuestion) -> str:
        """A paragraph on the person who will ask."""

    async def asked(self, item: PlannedQuestion, persona: str) -> DraftQuestion:
        """The question and its answer."""

    async def statements(
        self, item: PlannedQuestion, persona: str, asked: DraftQuestion
    ) -> tuple[str, ...]:
        """What must be told for the answer to follow, one statement for each session."""

    async def chat(self, item: PlannedQuestion, persona: str, statement: str, number: int) -> Turns:
        """The session in which a statement is told; one turn is labelled `has_answer`."""

    async def doubt(self, draft: Draft) -> str | None:
        """Why the answer does not follow from the evidence; None where it does, or nobody can
        tell."""

    async def close(self) -> None:
        """Let go of connections."""


async def write_draft(author: Author, item: PlannedQuestion) -> Draft:
    """All steps but the check, in order."""
    persona = await author.persona(item)
    asked = await author.asked(item, persona)
    statements = await author.statements(item, persona, asked)
    chats = [
        await author.chat(item, persona, statement, number)
        for number, statement in enumerate(statements)
    ]
    return Draft(item, persona, asked, statements, tuple(chats))
