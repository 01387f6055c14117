"""The draft that an author writes for one item, step by step; the interface of authors; and rules
without a model that check whether the evidence is there and the answer follows.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from harness.datasets.questions import ABSTENTION
from harness.errors import HarnessError
from harness.judges.lexical.words import content_words, recall, tokens
from harness.lab.authoring.plan import PlannedQuestion

Turns = list[dict[str, Any]]


class Refused(HarnessError):
    """An author could not write an item: no reply at this step could be used."""

    def __init__(self, step: str, reason: str) -> None:
        super().__init__(f"{step}: {reason}")
        self.step = step
        self.reason = reason


@dataclass(frozen=True, slots=True)
class DraftQuestion:
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
        """The text of a session's labelled turn; empty unless exactly one turn is labelled."""
        said = [turn["content"] for turn in self.chats[number] if turn.get("has_answer")]
        return str(said[0]) if len(said) == 1 else ""


class Author(ABC):
    """Writes one item a step at a time; raises `Refused` for what it cannot write."""

    @abstractmethod
    async def persona(self, item: PlannedQuestion) -> str:
        """A paragraph on the person who will ask."""

    @abstractmethod
    async def asked(self, item: PlannedQuestion, persona: str) -> DraftQuestion:
        """The question and its answer."""

    @abstractmethod
    async def statements(
        self, item: PlannedQuestion, persona: str, asked: DraftQuestion
    ) -> tuple[str, ...]:
        """The statements from which the answer follows, one for each session."""

    @abstractmethod
    async def chat(self, item: PlannedQuestion, persona: str, statement: str, number: int) -> Turns:
        """The session in which a statement is told; one turn is labelled `has_answer`."""

    async def doubt(self, draft: Draft) -> str | None:
        """The reason why the answer does not follow from the evidence; None where it does, or where
        the author cannot tell."""
        return None

    async def close(self) -> None:  # noqa: B027
        """Close the author's connections."""


async def write_draft(author: Author, item: PlannedQuestion) -> Draft:
    persona = await author.persona(item)
    asked = await author.asked(item, persona)
    statements = await author.statements(item, persona, asked)
    chats = [
        await author.chat(item, persona, statement, number)
        for number, statement in enumerate(statements)
    ]
    return Draft(item, persona, asked, statements, tuple(chats))


# The share of a statement's words that its turn must hold, as it is told in passing, not quoted.
HELD = 0.6
# The share of a short answer's words that the evidence must hold.
_ANSWERED = 0.5
# A question for something never told must not have a larger share of its words in the evidence.
_REPEATED = 0.9
Status = Literal["passed", "doubtful", "failed", "refused"]


@dataclass(frozen=True, slots=True)
class Check:
    """The result of checking an item: `problems` were found by rules, `doubt` by a model. A refused
    item was not written to its end.
    """

    status: Status
    problems: tuple[str, ...] = ()
    doubt: str | None = None


def problems_of(draft: Draft) -> tuple[str, ...]:
    """The problems that the rules find in a draft, in words; empty where there are none."""
    return tuple([*_form(draft), *_evidence(draft), *_answer(draft)])


def holds(turn: str, statement: str) -> bool:
    """Whether a turn holds enough of a statement's words, in any order."""
    return recall(content_words(statement) or tokens(statement), tokens(turn)) >= HELD


def _form(draft: Draft) -> Iterator[str]:
    if not draft.asked.question.strip() or not draft.asked.answer.strip():
        yield "question or answer is empty"
    sessions, wanted = len(draft.statements), len(draft.item.dates)
    if sessions != wanted or len(draft.chats) != wanted:
        yield f"{sessions} statements in {len(draft.chats)} sessions, expected {wanted} of each"


def _evidence(draft: Draft) -> Iterator[str]:
    for number, statement in enumerate(draft.statements[: len(draft.chats)]):
        labelled = [turn for turn in draft.chats[number] if turn.get("has_answer")]
        if len(labelled) != 1 or labelled[0]["role"] != draft.item.speaker:
            yield f"session {number + 1}: not one turn of the {draft.item.speaker} is labelled"
        elif not holds(draft.evidence_turn(number), statement):
            yield f"session {number + 1}: its labelled turn does not tell the statement"
        if draft.asked.question.strip() == statement.strip():
            yield f"session {number + 1}: the question is the statement"


def _answer(draft: Draft) -> Iterator[str]:
    """The problems of the answer, by the rule of the question's type. Types without a rule are left
    to a model and to people."""
    item, answer = draft.item, draft.asked.answer
    told = [draft.evidence_turn(number) for number in range(len(draft.chats))]
    said = {word for text in told for word in tokens(text)}
    match item.type:
        case "single-session-user" | "single-session-assistant":
            if recall(content_words(answer), said) < _ANSWERED:
                yield "the answer's words are not in the evidence"
        case "knowledge-update":
            newest = tokens(told[-1]) if told else []
            if recall(content_words(answer), newest) < _ANSWERED:
                yield "the answer's words are not in the newest evidence"
        case "temporal-reasoning":
            days = [moment.date() for moment in (*item.dates, item.asked)] + item.days
            gaps = {abs((a - b).days) for a in days for b in days}
            figures = {int(word) for word in tokens(answer) if word.isdigit()}
            if "days" in answer and figures and not figures & gaps:
                yield "the days of the answer are none between the dates"
        case _ if item.type == ABSTENTION:
            if recall(content_words(draft.asked.question), said) > _REPEATED:
                yield "what is asked was told"
