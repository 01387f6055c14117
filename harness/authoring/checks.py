"""Is the evidence there, and does the answer follow? Rules that need no model."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from harness.authoring.draft import Draft
from harness.datasets.questions import ABSTENTION
from harness.judges.lexical.words import content_words, recall, tokens

# The share of a statement's words that its turn must hold: it is told in passing, not quoted.
HELD = 0.6
# The share of a short answer's words that the evidence must hold.
_ANSWERED = 0.5
# Questions that repeat nearly all words of their evidence, in its order, ask for nothing.
_REPEATED = 0.9
Status = Literal["passed", "doubtful", "failed", "refused"]


@dataclass(frozen=True, slots=True)
class Check:
    """What became of an item: `problems` were found by rules, `doubt` by a model. What is refused
    was not written to its end.
    """

    status: Status
    problems: tuple[str, ...] = ()
    doubt: str | None = None


def problems_of(draft: Draft) -> tuple[str, ...]:
    """What rules find wrong with a draft, in words; nothing where all is well."""
    return tuple([*_form(draft), *_evidence(draft), *_answer(draft)])


def holds(turn: str, statement: str) -> bool:
    """Whether a turn tells a statement, in whatever order."""
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
    """By the type: what cannot be told by rule is left to a model and to people."""
    item, answer = draft.item, draft.asked.answer
    told = [draft.evidence_turn(number) for number in range(len(draft.chats))]
    said = {word for text in told for word in tokens(text)}
    match item.type:
        case "single-session-user" | "single-session-assistant":
            if recall(content_words(answer), said) < _ANSWERED:
                yield "the answer's words are not in the evidence"
        case "knowledge-update":
            if recall(content_words(answer), tokens(told[-1])) < _ANSWERED:
                yield "the answer's words are not in the newest evidence"
        case "temporal-reasoning":
            days = [moment.date() for moment in (*item.dates, item.asked)]
            gaps = {abs((a - b).days) for a in days for b in days}
            figures = {int(word) for word in tokens(answer) if word.isdigit()}
            if "days" in answer and figures and not figures & gaps:
                yield "the days of the answer are none between the dates"
        case _ if item.type == ABSTENTION:
            if recall(content_words(draft.asked.question), said) > _REPEATED:
                yield "what is asked was told"
