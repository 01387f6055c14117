"""From a question to recalled rounds, as the query model reads the question, or else the rules.

The words of a question tell whether it asks for a time and nothing else, as "What did I do last
month?" does.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Any, Protocol

from assistant.errors import AssistantError
from assistant.models.chat_model import Message
from assistant.models.gateway import Gateway
from assistant.models.structured import Shape
from assistant.observing.gen_ai import Operation, memory_operation
from assistant.prompts.prompt_file import Prompt, load_prompt
from memory_store import (
    Days,
    Precision,
    Query,
    Reach,
    Reason,
    Recall,
    Recalled,
    RecalledSession,
    TimeRange,
)

_log = logging.getLogger(__name__)

TIME_ALONE = "time_alone"
"""The reason of a value that comes first because the question asks for its time and nothing else;
it adds nothing to the similarity."""

PROMPT: Prompt = load_prompt("understand_question")
# Nobody asks about days of their own farther away than this.
_LIFETIME = timedelta(days=36525)
_LONGEST_QUERY = 300


@dataclass(frozen=True, slots=True)
class MemoryRequest:
    """What a question asks of the memory: the days, where it names any, and its parts."""

    time_range: TimeRange | None = None
    queries: tuple[str, ...] = ()


def question_messages(question: str, today: date, sub_queries: int) -> list[Message]:
    """The instructions, and the question."""
    day = today.strftime("%A, %Y-%m-%d")
    system = PROMPT.render(today=day, queries=str(sub_queries))
    return [Message("system", system), Message("user", question)]


def question_shape(today: date, sub_queries: int) -> Shape[MemoryRequest]:
    """The reply. A range that no question can mean is refused like a reply that cannot be read."""

    def read(found: Mapping[str, Any]) -> MemoryRequest:
        queries = found.get("queries") or []
        if not isinstance(queries, list) or not all(isinstance(one, str) for one in queries):
            raise ValueError('"queries" must be a list of texts')
        kept = [one.strip()[:_LONGEST_QUERY] for one in queries if one.strip()]
        return MemoryRequest(_time_range(found, today), tuple(kept[:sub_queries]))

    return Shape("question", _SCHEMA, read)


def _time_range(found: Mapping[str, Any], today: date) -> TimeRange | None:
    first, last = _day(found.get("first"), "first"), _day(found.get("last"), "last")
    if first is None and last is None:
        return None
    if first and last and first > last:
        raise ValueError('"first" must not be after "last"')
    if any(day and abs(day - today) > _LIFETIME for day in (first, last)):
        raise ValueError("the days are more than a lifetime away")
    precision = Precision.DAY if first == last else Precision.SPAN
    return TimeRange(first, last, precision, "as the model reads it")


def _day(found: Any, name: str) -> date | None:
    if found in (None, ""):
        return None
    try:
        return date.fromisoformat(found)
    except (TypeError, ValueError):
        raise ValueError(f'"{name}" must be a day such as "2023-05-19", or null') from None


_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "first": {"type": ["string", "null"]},
        "last": {"type": ["string", "null"]},
        "queries": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["first", "last", "queries"],
    "additionalProperties": False,
}


class Read(StrEnum):
    """How far a question is read before memory is searched."""

    MODEL = "model"
    """By the query model, where there is one."""
    RULES = "rules"
    """By rules alone."""
    OFF = "off"
    """Not at all: its text is searched, whatever time it names."""


@dataclass(frozen=True, slots=True)
class Understanding:
    """How a question was read, for the trace: by `rule` or by which model, into which queries, and,
    if the model's reading was not used, why."""

    by: str = "rule"
    queries: tuple[str, ...] = ()
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What was recalled for a question, and how the question was read."""

    recall: Recall
    understanding: Understanding


class Searchable(Protocol):
    """What is searched: the store, or a view of it."""

    async def recall(self, query: Query) -> Recall:
        """What is found for a query."""

    def seen_up_to(self, reach: Reach) -> "Searchable":
        """The same without rounds that are kept closer than this reach."""


class Retriever:
    """Recalls for questions. A query model that fails leaves the question to the rules."""

    def __init__(self, memory: Searchable, model: Gateway | None = None, *, sub_queries: int = 0):
        self._memory = memory
        self._model = model
        self._sub_queries = sub_queries

    def seen_up_to(self, reach: Reach) -> "Retriever":
        """The same without rounds that are kept closer than this reach."""
        return self.over(self._memory.seen_up_to(reach))

    def over(self, memory: Searchable) -> "Retriever":
        """The same retriever over another memory."""
        return Retriever(memory, self._model, sub_queries=self._sub_queries)

    @memory_operation(Operation.SEARCH, lambda found: len(found.recall.rounds))
    async def retrieve(self, query: Query, read: Read = Read.MODEL) -> Retrieved:
        """The rounds for a question; raises the store's errors only."""
        if read is Read.OFF:
            plain = replace(query, asked_on=None, asked=None)
            return Retrieved(await self._memory.recall(plain), Understanding(Read.OFF))
        if read is Read.RULES or self._model is None or query.asked_on is None:
            return Retrieved(await self._recall(query), Understanding())
        try:
            understood = await self._understood(self._model, query.text, query.asked_on)
        except AssistantError as error:
            _log.warning("query model failed, using rules: %s", error)
            failure = f"{error.code}: {error.message}"
            return Retrieved(await self._recall(query), Understanding(failure=failure))
        # The rules may still see a time that the model did not name.
        asked = replace(query, time_range=understood.time_range)
        recalls = [await self._recall(asked)]
        for text in understood.queries:
            recalls.append(await self._memory.recall(replace(asked, text=text)))
        used = Understanding(self._model.name, understood.queries)
        return Retrieved(merged(recalls), used)

    async def _recall(self, query: Query) -> Recall:
        """The rounds of one query; if it asks for a time alone, the rounds of this time first."""
        recall = await self._memory.recall(query)
        asked = query.asked or recall.asked
        alone = asked.within(recall.time_range, query.text).days
        days = query.days.within(alone) if alone else None
        if days is None or recall.time_range is None:
            return recall
        then = await self._memory.recall(replace(query, days=days))
        because = Reason(TIME_ALONE, 1.0, 0.0, (recall.time_range.text,))
        return replace(
            recall,
            rounds=_first_those(then.rounds, recall.rounds, because),
            values=None
            if recall.values is None
            else _first_those(then.read, recall.values, because),
            sessions=_each_once([*then.sessions, *recall.sessions])[: query.limit],
            steps=(*recall.steps, *then.steps),
        )

    async def _understood(self, model: Gateway, text: str, today: date) -> MemoryRequest:
        return await model.ask(
            question_messages(text, today, self._sub_queries),
            question_shape(today, self._sub_queries),
            {"temperature": 0.0},
        )


def _first_those(
    then: Sequence[Recalled], others: Sequence[Recalled], because: Reason
) -> tuple[Recalled, ...]:
    """Rounds of the time asked for, with this reason, and then the others; as many as the longer
    of both."""
    known = {found.record.id for found in then}
    said_so = [
        replace(one, reasons=(*one.reasons, because)) if one.reasons else one for one in then
    ]
    rest = [found for found in others if found.record.id not in known]
    return (*said_so, *rest)[: max(len(then), len(others))]


def merged(recalls: Sequence[Recall]) -> Recall:
    """One recall made of several, as long as the longest. Each value has its highest similarity:
    similarities of different queries are on one scale, so that they can be compared."""
    if len(recalls) == 1:
        return recalls[0]
    timings = {
        name: sum(recall.timings.get(name, 0.0) for recall in recalls)
        for name in recalls[0].timings
    }
    every = [session for recall in recalls for session in recall.sessions]
    sessions = _each_once(sorted(every, key=lambda s: (-s.similarity, s.session_id)))
    most = max(len(recall.sessions) for recall in recalls)
    return replace(
        recalls[0],
        rounds=_nearest([recall.rounds for recall in recalls]),
        values=None if recalls[0].values is None else _nearest([recall.read for recall in recalls]),
        sessions=sessions[:most],
        timings=timings,
        steps=tuple(step for recall in recalls for step in recall.steps),
    )


def _nearest(lists: Sequence[Sequence[Recalled]]) -> tuple[Recalled, ...]:
    best: dict[str, Recalled] = {}
    for found in (found for one in lists for found in one):
        known = best.get(found.record.id)
        if known is None or found.similarity > known.similarity:
            best[found.record.id] = found
    limit = max(map(len, lists))
    # Whatever is the best for one of the queries is among what is read.
    leaders = {one[0].record.id for one in lists if one}
    ranked = sorted(best.values(), key=lambda f: (-f.similarity, f.record.id))
    chosen = [f for f in ranked if f.record.id in leaders][:limit]
    chosen += [f for f in ranked if f.record.id not in leaders][: limit - len(chosen)]
    return tuple(sorted(chosen, key=lambda f: (-f.similarity, f.record.id)))


def _each_once(sessions: Sequence[RecalledSession]) -> tuple[RecalledSession, ...]:
    first: dict[str, RecalledSession] = {}
    for session in sessions:
        first.setdefault(session.session_id, session)
    return tuple(first.values())


def known_until(days: Days, asked_at: datetime, *, timed: bool) -> Days:
    """The days that are searched: those that the caller names. If it names none but gives the time
    of the question, these are all days up to then: what was said later is not known then."""
    if timed and days == Days():
        return Days(last=asked_at.date(), zone=days.zone)
    return days
