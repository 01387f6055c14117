"""From a question to the context it is read with: what can help, its delivery, the budget."""

from collections.abc import Sequence

from assistant.models.token_counter import TokenCounter
from assistant.reading.context import Context, ContextRequest, build_context
from assistant.reading.delivery import Passage, delivered
from assistant.reading.packing import ABOUT_REPLIES, OVERVIEW, USUAL, Portions
from assistant.reading.plan import ReadingPlan, Unit
from assistant.reading.question_kind import QuestionKind, question_kind
from assistant.reading.reader import Question, as_read
from assistant.reading.standing import standing_requests
from memory_store import MemoryStore, Recalled, aside

# A round much farther from the question than the best one cannot help (docs/reading.md).
_HELPS = 0.35
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
    request = ContextRequest(
        question=question.text,
        asked_at=question.asked_at,
        token_budget=plan.context_tokens,
        layout=plan.layout,
        portions=_portions(kind),
        requests=await standing_requests(store, recalled, question.asked_at)
        if plan.computed_help
        else (),
        language=store.language,
        computed_help=plan.computed_help,
    )
    # Of an overview, no round is the nearest: all of the history may be wanted.
    narrowed = plan.computed_help and not kind.overview
    helping = _helping(recalled) if narrowed else recalled
    passages = await _delivered(store, helping, plan.unit, about_replies=kind.about_replies)
    # Cutting and counting the rounds takes tens of milliseconds of processor time.
    size = sum(record.round.size for passage in passages for record in passage.around)
    return await aside(size // _COUNTED, build_context, passages, request, count)


def _portions(kind: QuestionKind) -> Portions:
    if kind.about_replies:
        return ABOUT_REPLIES
    return OVERVIEW if kind.overview else USUAL


def _helping(recalled: Sequence[Recalled]) -> list[Recalled]:
    """Those near enough to the best one, in their order."""
    best = max((one.similarity for one in recalled), default=0.0)
    return [one for one in recalled if one.similarity >= _HELPS * best]


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
