"""From a question to the context it is read with: delivery, computed help, profile, budget."""

from collections.abc import Mapping, Sequence
from typing import Any

from assistant.models.token_counter import TokenCounter
from assistant.reading.computed_help import computed_help
from assistant.reading.context import Context, ContextRequest, build_context
from assistant.reading.delivery import Passage, delivered
from assistant.reading.plan import ReadingPlan, Unit
from assistant.reading.profile import profile_lines
from assistant.reading.question_kind import QuestionKind, question_kind
from assistant.reading.reader import Question, as_read
from assistant.reading.statements import nearest_statements
from memory_store import MemoryStore, Recalled, aside

# Statements are weighed one by one; those of the best rounds are enough.
_ROUNDS_FOR_HELP = 12
# Rounds that come with their neighbours where replies are asked for.
_WITH_NEIGHBOURS = 2
# So many characters are cut and counted while rules read one.
_COUNTED = 8


async def read_memory(
    store: MemoryStore,
    question: Question,
    recalled: Sequence[Recalled],
    plan: ReadingPlan,
    count: TokenCounter,
) -> Context:
    """The context of one question. Raises what the store raises."""
    question = as_read(question)
    kind = await aside(len(question.text) // _COUNTED, question_kind, question.text)
    extras = await _extras(store, question, recalled, kind) if plan.computed_help else {}
    request = ContextRequest(
        question=question.text,
        asked_at=question.asked_at,
        token_budget=plan.context_tokens,
        layout=plan.layout,
        about_replies=kind.about_replies,
        extras=extras,
    )
    passages = await _delivered(store, recalled, plan.unit, about_replies=kind.about_replies)
    # Cutting and counting the rounds takes tens of milliseconds of processor time.
    size = sum(record.round.size for passage in passages for record in passage.around)
    return await aside(size // _COUNTED, build_context, passages, request, count)


async def _delivered(
    store: MemoryStore, recalled: Sequence[Recalled], unit: Unit, *, about_replies: bool
) -> list[Passage]:
    """The passages. Of what the assistant said, the best come with their neighbours: a request that
    follows on ("shorter, please") shares no word with a question about its reply."""
    first = _WITH_NEIGHBOURS if about_replies and unit is Unit.ROUND else 0
    return [
        *await delivered(store, recalled[:first], Unit.WINDOW),
        *await delivered(store, recalled[first:], unit),
    ]


async def _extras(
    store: MemoryStore, question: Question, recalled: Sequence[Recalled], kind: QuestionKind
) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """The profile where advice is wanted, else computed help; nothing for a mere statement."""
    if kind.wants_advice:
        profile = profile_lines(recalled)
        return {"lasting_facts": profile} if profile else {}
    if not kind.asks or kind.about_replies:
        return {}
    # One by one: "I have a cat. It is grey." mentions one cat, not two.
    near = await nearest_statements(
        store, question.text, recalled[:_ROUNDS_FOR_HELP], replies=False, leads=False
    )
    return computed_help(kind, near, question.asked_at.date())
