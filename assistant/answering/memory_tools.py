"""The tools by which a language model looks into memory again before it answers.

They search for the user who asks, on the days and under the labels of the question, and nowhere
else. Results are written and fenced like the first memory, and no round is shown twice. The names
and descriptions of the tools, which a model reads, are in `assistant/prompts/memory_tools.json`.
"""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any

from assistant.answering.context import ContextRequest, build_context
from assistant.answering.packing import ABOUT_REPLIES, MESSAGES, USUAL, Passage, Portions
from assistant.answering.plan import Layout
from assistant.answering.reader import Look, Question
from assistant.dates import print_day
from assistant.models.token_counter import TokenCounter
from assistant.prompts.fence import fenced_json
from assistant.prompts.prompt_file import explained
from memory_store import (
    Days,
    FactLink,
    Listing,
    MemoryReader,
    Page,
    Query,
    Recalled,
    Record,
    Round,
    SessionSummary,
    Step,
)
from memory_store.language import LONGEST_QUERY
from memory_store.scheduler import aside

# The rounds that a call searches, shows if it names no limit, and shows at most.
_SEARCHED, _USUAL_LIMIT, _MOST = 200, 10, 40
# The least nearness of a round that is found, as a share of the nearest one's.
_NEAR = 0.4
# In how many rounds a fact is looked for.
_ROUNDS_OF_FACTS = 10
# The most tokens of one result, and the fewest in which anything worth reading has room.
_LONGEST_RESULT, _LEAST_TOKENS = 3000, 300
# Tokens around the rounds of a result, for their number and what their marks mean.
_FRAME = 200
# For `aside`: this many characters are cut and counted while rules read one.
_READ = 8


@cache
def tool_schemas() -> Sequence[Mapping[str, Any]]:
    """The tools, as OpenAI's API takes them."""
    text = (files("assistant.prompts") / "memory_tools.json").read_text(encoding="utf-8")
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": tool["description"],
                "parameters": {
                    "type": "object",
                    "properties": tool["parameters"],
                    "required": tool["required"],
                    "additionalProperties": False,
                },
            },
        }
        for name, tool in json.loads(text).items()
    ]


class _Refused(Exception):
    """Arguments that a tool cannot use; the model reads why."""


class MemoryTools:
    """The memory of one question. `looks` lists what was looked for, with what was found."""

    def __init__(
        self,
        store: MemoryReader,
        question: Question,
        shown: Sequence[str],
        tokens: int,
        count: TokenCounter,
        layout: Layout = Layout.JSON,
    ) -> None:
        """`shown` are ids of the rounds that the model has read; `tokens` is what all results
        together may take."""
        self._store = store
        self._question = question
        self._shown = set(shown)
        self._left = tokens
        self._count = count
        self._layout = layout
        self._explained: set[str] = set()
        """The marks that a result has explained: the first memory may not have had them."""
        self.looks: list[Look] = []

    @property
    def is_spent(self) -> bool:
        """Whether no result has room any more."""
        return self._left < _LEAST_TOKENS

    async def call(self, name: str, arguments: str) -> str:
        """What a tool returns, for the model to read. Raises what the store raises."""
        tools: Mapping[str, Callable[[Mapping[str, Any]], Awaitable[str]]] = {
            "search_memory": self._search,
            "list_sessions": self._sessions,
            "read_session": self._session,
            "find_words": self._words,
            "history_of": self._history,
        }
        if name not in tools:
            return fenced_json({"error": f"there is no such tool; there are {', '.join(tools)}"})
        try:
            result = await tools[name](_read(arguments))
        except _Refused as refused:
            return fenced_json({"error": str(refused)})
        tokens = self._count(result)
        self._left -= tokens
        self.looks[-1] = self.looks[-1]._replace(tokens=tokens)
        return result

    async def _search(self, given: Mapping[str, Any]) -> str:
        days, speaker = self._days(given), _text(given, "speaker", "").casefold()
        query = _text(given, "query")
        recall = await self._store.recall(self._query(query, _SEARCHED))
        enough = _NEAR * max((one.similarity for one in recall.rounds), default=0.0)
        near = [
            one
            for one in recall.rounds
            if one.similarity >= enough and _is_of(one.record, days, speaker)
        ]
        if _text(given, "order", "near") == "oldest":
            near = sorted(near[:_MOST], key=lambda one: one.record.round.session_date)
        limit = min(_number(given, "limit", _USUAL_LIMIT), _MOST)
        portions = {"user": MESSAGES, "assistant": ABOUT_REPLIES}.get(speaker, USUAL)
        return await self._written("search_memory", query, near, portions, limit=limit)

    async def _words(self, given: Mapping[str, Any]) -> str:
        words, speaker = _text(given, "text"), _text(given, "speaker", "user").casefold()
        page = await self._store.listed(replace(self._listing(given), text=words))
        # Replies that only repeat a name would hide what the speaker said about it.
        found = [one for one in page.records if words.casefold() in _said_by(speaker, one.round)]
        portions = ABOUT_REPLIES if speaker == "assistant" else MESSAGES
        every = [Recalled(one, 0.0) for one in found]
        others = {"said_by_others": len(page.records) - len(found)} | _not_read(page)
        return await self._written("find_words", words, every, portions, **others)

    async def _sessions(self, given: Mapping[str, Any]) -> str:
        days = self._days(given)
        question = self._question
        every = await self._store.sessions(question.user_id, question.where, days.zone)
        entries = [entry for one in every if (entry := _summed_up(one, days))]
        kept = self._fitting(map(fenced_json, entries))
        self.looks.append(Look("list_sessions", _print(days)))
        head = {"sessions": len(entries), "not_shown": len(entries) - len(kept)}
        return "\n".join([fenced_json(head), *kept])

    def _fitting(self, lines: Iterable[str]) -> list[str]:
        """The first lines that there is room for."""
        kept: list[str] = []
        left = self._room
        for line in lines:
            left -= self._count(line)
            if left < 0:
                break
            kept.append(line)
        return kept

    async def _session(self, given: Mapping[str, Any]) -> str:
        name = _text(given, "session")
        page = await self._store.listed(replace(self._listing(given), session_id=name))
        every = [Recalled(one, 0.0) for one in page.records]
        return await self._written("read_session", name, every, MESSAGES, **_not_read(page))

    def _listing(self, given: Mapping[str, Any]) -> Listing:
        """The listing of all rounds on the days that a call names, oldest first."""
        return Listing(
            self._question.user_id,
            self._days(given),
            as_of=self._question.known.last,
            today=self._question.asked_at.date(),
            newest_first=False,
            limit=_SEARCHED,
            where=self._question.where,
        )

    async def _history(self, given: Mapping[str, Any]) -> str:
        fact = _text(given, "fact")
        steps = await self._steps(fact)
        said_in = tuple(dict.fromkeys(step.said.round_id for step in steps))
        # A value may have been replaced in a round that the question may not read.
        page = await self._store.listed(replace(self._listing(given), ids=said_in))
        read = {one.id: Recalled(one, 0.0) for one in page.records}
        self.looks.append(Look("history_of", fact, tuple(read.values())))
        said = [step for step in steps if step.said.round_id in read]
        said.sort(key=lambda step: step.said.said_at)
        # Of a history that is too long the newest steps count.
        kept = self._fitting(map(_step, reversed(said)))[::-1]
        head = {"history": len(said)}
        if len(kept) < len(said):
            head["not_shown"] = len(said) - len(kept)
        return "\n".join([fenced_json(head), *kept])

    async def _steps(self, fact: str) -> Sequence[Step]:
        """All values over time of what the user's fact nearest to `fact` tells."""
        recall = await self._store.recall(self._query(fact, _ROUNDS_OF_FACTS))
        told = [(one, own) for one in recall.rounds for own in one.record.facts if own.is_users]
        if not told:
            return ()
        near = await self._store.closeness(fact, [own.text for _, own in told])
        _, (source, nearest) = max(zip(near, told, strict=True), key=lambda pair: pair[0])
        question = self._question
        standing = await self._store.told(
            question.user_id, source.record.id, question.known.last, question.asked_at.date()
        )
        histories = standing.histories if standing else ()
        return next(
            (one for one in histories if any(step.said.text == nearest.text for step in one)), ()
        )

    def _query(self, text: str, limit: int) -> Query:
        question = self._question
        return Query(
            question.user_id,
            text[:LONGEST_QUERY],
            limit,
            question.known,
            sessions=False,
            where=question.where,
            today=question.asked_at.date(),
        )

    async def _written(
        self,
        tool: str,
        asked: str,
        found: Sequence[Recalled],
        portions: Portions,
        *,
        limit: int = _SEARCHED,
        **others: int,
    ) -> str:
        """The result as text: the numbers of rounds found, shown and shown before, then the first
        of the new rounds, as many as fit."""
        question, language = self._question, self._store.language
        new = [one for one in found if one.record.id not in self._shown]
        before = len(found) - len(new)
        new = new[:limit]
        request = ContextRequest(
            asked, question.asked_at, self._room - _FRAME, self._layout, portions, language=language
        )
        passages = [Passage(one.record, (one.record,)) for one in new]
        size = sum(one.record.round.size for one in new)
        context = await aside(size // _READ, build_context, passages, request, self._count)
        used = set(context.ids)
        read = tuple(one for one in new if one.record.id in used)
        self._shown |= used
        self.looks.append(Look(tool, asked, read, beside=context.beside))
        head: dict[str, Any] = {"found": len(found), "shown": len(read), "shown_before": before}
        head |= {name: number for name, number in others.items() if number}
        if new_marks := context.marks - self._explained:
            head["marks"] = explained(new_marks).strip()
            self._explained |= new_marks
        return f"{fenced_json(head)}\n{context.text}" if read else fenced_json(head)

    @property
    def _room(self) -> int:
        return max(0, min(_LONGEST_RESULT, self._left))

    def _days(self, given: Mapping[str, Any]) -> Days:
        """The days that a call names, cut to those that the question may search."""
        first, last = _day(given, "from"), _day(given, "to")
        if first and last and first > last:
            raise _Refused("from is after to")
        days = self._question.known.within(Days(first, last))
        if days is None:
            raise _Refused("nothing is known of these days")
        return days


def _said_by(speaker: str, round: Round) -> str:
    """What the speaker said in a round, case-folded; empty where they did not speak.

    A name counts before "user" and "assistant", which may be somebody's name.
    """
    user, assistant = round.user_text, round.assistant_text
    sides = {"user": user, "assistant": assistant}
    if round.user_name:
        sides[round.user_name.casefold()] = user
    if round.assistant_name:
        sides[round.assistant_name.casefold()] = assistant
    return sides.get(speaker, "").casefold()


def _not_read(page: Page) -> dict[str, int]:
    """How many rounds come after those of the page."""
    return {"not_read": page.total - len(page.records)}


def _is_of(record: Record, days: Days, speaker: str) -> bool:
    """Whether a round was said on these days, by this speaker if one is named."""
    round = record.round
    names = {"", "user", "assistant"} | {
        name.casefold() for name in (round.user_name, round.assistant_name) if name
    }
    return round.was_said_on(days) and speaker in names


def _summed_up(session: SessionSummary, days: Days) -> Mapping[str, Any] | None:
    """The entry of a session, as far as it was held on these days; None if it was not."""
    held = sorted(day for day in session.days if days.within(Days(day, day)))
    if not held:
        return None
    return {
        "session": session.session_id,
        "from": str(held[0]),
        "to": str(held[-1]),
        "rounds": sum(session.days[day] for day in held),
        "about": session.title or session.opening,
    }


def _step(step: Step) -> str:
    entry: dict[str, Any] = {"said_on": print_day(step.said.said_at), "text": step.said.text}
    return fenced_json(entry | (_replaced(step.until) if step.until else {"holds": True}))


def _replaced(by: FactLink) -> dict[str, Any]:
    return {"holds": False, "replaced_on": print_day(by.said_at)}


def _print(days: Days) -> str:
    return f"{days.first or '…'} to {days.last or '…'}"


def _read(arguments: str) -> Mapping[str, Any]:
    try:
        given = json.loads(arguments or "{}")
    except ValueError:
        raise _Refused("the arguments are no JSON object") from None
    if not isinstance(given, dict):
        raise _Refused("the arguments are no JSON object")
    return {name: value for name, value in given.items() if value is not None}


def _text(given: Mapping[str, Any], name: str, default: str | None = None) -> str:
    value = given.get(name, default)
    if not isinstance(value, str) or (default is None and not value.strip()):
        raise _Refused(f"{name}: a text is needed")
    return value.strip()


def _number(given: Mapping[str, Any], name: str, default: int) -> int:
    value = given.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise _Refused(f"{name}: a number from 1 on is needed")
    return value


def _day(given: Mapping[str, Any], name: str) -> date | None:
    value = _text(given, name, "")
    try:
        return date.fromisoformat(value) if value else None
    except ValueError:
        raise _Refused(f"{name}: a day such as 2023-05-19 is needed") from None
