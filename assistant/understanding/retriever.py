"""Question to recalled rounds: with a query model its reading of the question, else the rules'."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from assistant.errors import AssistantError
from assistant.models.gateway import Gateway
from assistant.observing.gen_ai import Operation, memory_operation
from assistant.understanding.question import Understood, question_messages, question_shape
from assistant.understanding.time_alone import days_alone
from memory_store import MemoryStore, Query, Recall, Recalled

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Understanding:
    """How a question was read, for the trace: by `rule` or by which model, into which queries,
    and why the model's reading was not used where it was not."""

    by: str = "rule"
    queries: tuple[str, ...] = ()
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What was recalled for a question, and how the question was read."""

    recall: Recall
    understanding: Understanding


class Retriever:
    """Recalls for questions. A query model that fails leaves the question to the rules."""

    def __init__(self, store: MemoryStore, model: Gateway | None = None, *, sub_queries: int = 0):
        self._store = store
        self._model = model
        self._sub_queries = sub_queries

    @memory_operation(Operation.SEARCH, lambda found: len(found.recall.rounds))
    async def retrieve(self, query: Query) -> Retrieved:
        """The rounds for a question; raises the store's errors only."""
        if self._model is None or query.asked_on is None:
            return Retrieved(await self._recall(query), Understanding())
        try:
            understood = await self._understood(self._model, query.text, query.asked_on)
        except AssistantError as error:
            _log.warning("query model failed, using rules: %s", error)
            failure = f"{error.code}: {error.message}"
            return Retrieved(await self._recall(query), Understanding(failure=failure))
        # The rules may still see a time that the model did not name.
        read = replace(query, time_range=understood.time_range)
        recalls = [await self._recall(read)]
        for text in understood.queries:
            recalls.append(await self._store.recall(replace(read, text=text)))
        used = Understanding(self._model.name, understood.queries)
        return Retrieved(merged(recalls), used)

    async def _recall(self, query: Query) -> Recall:
        """The rounds of one query; first those of its time where it asks for that alone."""
        recall = await self._store.recall(query)
        alone = days_alone(query.text, recall.time_range)
        days = query.days.within(alone) if alone else None
        if days is None:
            return recall
        then = (await self._store.recall(replace(query, days=days))).rounds
        known = {found.record.id for found in then}
        others = [found for found in recall.rounds if found.record.id not in known]
        return replace(recall, rounds=(*then, *others)[: max(len(then), len(recall.rounds))])

    async def _understood(self, model: Gateway, text: str, today: date) -> Understood:
        return await model.ask(
            question_messages(text, today, self._sub_queries),
            question_shape(today, self._sub_queries),
            {"temperature": 0.0},
        )


def merged(recalls: Sequence[Recall]) -> Recall:
    """One recall of several, as long as the longest: each round where it is nearest. Similarities
    of different queries live on one scale, so that they can be compared."""
    if len(recalls) == 1:
        return recalls[0]
    best: dict[str, Recalled] = {}
    for found in (found for recall in recalls for found in recall.rounds):
        known = best.get(found.record.id)
        if known is None or found.similarity > known.similarity:
            best[found.record.id] = found
    limit = max(len(recall.rounds) for recall in recalls)
    # Whatever is the best for one of the queries is among what is read.
    leaders = {recall.rounds[0].record.id for recall in recalls if recall.rounds}
    ranked = sorted(best.values(), key=lambda f: (-f.similarity, f.record.id))
    chosen = [f for f in ranked if f.record.id in leaders][:limit]
    chosen += [f for f in ranked if f.record.id not in leaders][: limit - len(chosen)]
    timings = {
        name: sum(recall.timings.get(name, 0.0) for recall in recalls)
        for name in recalls[0].timings
    }
    rounds = tuple(sorted(chosen, key=lambda f: (-f.similarity, f.record.id)))
    return replace(recalls[0], rounds=rounds, timings=timings)
