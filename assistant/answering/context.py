"""The dated memory that a language model reads: from the rounds that were found to a text within a
token budget.

What is shown of a round does not depend on how rounds were ranked (LongMemEval, section 4).
Beside a round stands what is certain of it: the days that "yesterday" and "last week" name, and
which of its statements hold no longer. A model could work out both from the text, but now and then
gets them wrong. What rules can only guess at is left to the model.
"""

import asyncio
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from assistant.answering.at_odds import AtOdds, at_odds
from assistant.answering.layouts import LAYOUTS, days_with_times, head, marks
from assistant.answering.packing import (
    ABOUT_REPLIES,
    MESSAGES,
    SUMMARY,
    USUAL,
    Beside,
    Passage,
    Portions,
    Shown,
    TokenBudget,
    fitting,
    pack,
    shortened,
)
from assistant.answering.plan import Layout, ReadingPlan, Unit
from assistant.answering.reader import Question, as_read
from assistant.answering.standing import (
    PINNED,
    STANDING,
    Pinned,
    StandingRequest,
    pinned_of,
    standing_requests,
)
from assistant.dates import print_day
from assistant.models.token_counter import TokenCounter
from assistant.prompts.fence import fenced_json
from memory_store import (
    CONDITION,
    Days,
    FactLink,
    MemoryReader,
    Recalled,
    Record,
    Round,
    is_quoting,
    reading_of,
)
from memory_store.by_digest import ByDigest
from memory_store.language import (
    ENGLISH,
    Asked,
    Kind,
    Language,
    kinds_of,
    shared_with,
)
from memory_store.scheduler import aside

# What is pinned, and standing requests, may each take at most this share of the budget.
_SHARE = 0.1
# Tokens that join a day's heading to its rounds, and that stand around everything.
_SEAM = 2
_FRAME = 8


@dataclass(frozen=True, slots=True)
class Context:
    """The memory as written down, and what became of the rounds that were found.

    `shown` is best first; `dropped` are ids of rounds found that did not fit. The text is at most
    `tokens` long: its parts are counted one by one, the whole is not counted again.
    """

    text: str
    shown: tuple[Shown, ...] = ()
    dropped: tuple[str, ...] = ()
    tokens: int = 0
    requests: tuple[StandingRequest, ...] = ()
    """Standing requests in it."""
    pinned: tuple[Pinned, ...] = ()
    """What is pinned in it."""

    @property
    def marks(self) -> frozenset[str]:
        """The marks in it, by the names under which the prompts explain them."""
        named = {STANDING: self.requests, PINNED: self.pinned}
        return marks(self.shown) | {name for name, entries in named.items() if entries}

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the rounds in it, best first."""
        return tuple(one.record.id for one in self.shown)

    @property
    def beside(self) -> tuple[str, ...]:
        """Ids of rounds that are quoted beside others."""
        return tuple(id for one in self.shown for id in one.beside.rounds)

    @property
    def used(self) -> tuple[str, ...]:
        """Ids of all rounds whose words it contains, those shown as rounds first."""
        pinned = (one.round_id for one in self.pinned)
        requests = (one.round_id for one in self.requests)
        return tuple(dict.fromkeys([*self.ids, *pinned, *requests, *self.beside]))

    @property
    def trimmed(self) -> tuple[str, ...]:
        """Ids of the rounds in it that were shortened."""
        return tuple(shown.record.id for shown in self.shown if not shown.is_whole)


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """The question that a context is built for, and what it is built from beside the passages.
    `requests` are standing requests; they and `pinned` are in order, the newest first."""

    question: str
    asked_at: datetime
    token_budget: int
    layout: Layout = Layout.JSON
    portions: Portions = USUAL
    requests: Sequence[StandingRequest] = ()
    pinned: Sequence[Pinned] = ()
    language: Language = ENGLISH
    computed_help: bool = True
    at_odds: Mapping[str, Sequence[AtOdds]] = field(default_factory=dict)
    """The statements of each round, by its id, that later statements deny or change."""


def build_context(
    passages: Sequence[Passage], request: ContextRequest, count: TokenCounter
) -> Context:
    """The best of the passages that fits the budget, oldest session first, with dates and ages."""
    layout = LAYOUTS[request.layout]
    share = round(request.token_budget * _SHARE)
    pinned = fitting(request.pinned, share, count)
    requests = fitting(request.requests, share, count)
    extras = {
        name: [one.entry for one in entries]
        for name, entries in ((PINNED, pinned), (STANDING, requests))
        if entries
    }
    used = (count(fenced_json(extras)) if extras else 0) + _FRAME

    def round_cost(shown: Shown) -> int:
        return sum(map(count, layout.sides(shown)))

    timed = days_with_times(one.round for passage in passages for one in passage.around)

    def heading_cost(first: Shown) -> int:
        return count(layout.heading(head(first, request.asked_at, timed))) + _SEAM

    budget = TokenBudget(request.token_budget - used, round_cost, heading_cost)
    packed = pack(
        passages,
        request.question,
        budget,
        partial(_beside, request=request) if request.computed_help else _whose,
        request.portions,
    )
    text = layout.whole(packed.shown, extras, request.asked_at)
    return Context(
        text,
        packed.shown,
        packed.dropped,
        used + packed.tokens,
        tuple(requests),
        tuple(pinned),
    )


def _beside(record: Record, request: ContextRequest) -> Beside:
    return beside(record, request.language, request.at_odds.get(record.id, ()))


def _whose(record: Record) -> Beside:
    return Beside(is_quoting=is_quoting(record))


# A round much farther from the question than the best one cannot help (benchmarks/LOG.md).
_HELPS = 0.1
# Shares of the floor, for questions of general knowledge. From the first share on the best round is
# surely near, and all rounds may help. Below it only rounds nearer than the second share may help.
_SURELY_NEAR, _MAY_HELP = 1.2, 0.5
# The most characters of each side of a round such as "Sounds good." and "You're welcome!".
_IDLE = 160
# How many of the best rounds come with their neighbours where replies are asked for.
_WITH_NEIGHBOURS = 1
# How sure it has to be that a statement corrects another one.
_CORRECTS = 0.5
# For `aside`: this many characters are cut and counted while rules read one.
_COUNTED = 8


async def read_memory(
    store: MemoryReader,
    question: Question,
    recalled: Sequence[Recalled],
    plan: ReadingPlan,
    count: TokenCounter,
) -> Context:
    """The context of one question. Raises what the store raises."""
    question = as_read(question)
    kind = question.asked
    request = ContextRequest(
        question=question.text,
        asked_at=question.asked_at,
        token_budget=plan.context_tokens,
        layout=plan.layout,
        portions=_portions(kind),
        requests=await standing_requests(store, recalled, question) if plan.computed_help else (),
        pinned=await pinned_of(store, question),
        language=store.language,
        computed_help=plan.computed_help,
        at_odds=await at_odds(store, recalled) if plan.computed_help else {},
    )
    helping = recalled
    if plan.computed_help:
        helping = [one for one in recalled if not _is_idle(one.record.round, store.language)]
        helping = _helping(helping, kind, plan.near)
    passages = await _delivered(store, helping, plan.unit, about_replies=kind.about_replies)
    # Cutting and counting the rounds takes tens of milliseconds of processor time.
    size = sum(record.round.size for passage in passages for record in passage.around)
    return await aside(size // _COUNTED, build_context, passages, request, count)


def _portions(kind: Asked) -> Portions:
    if kind.about_replies:
        return ABOUT_REPLIES
    if kind.overview:
        return MESSAGES if kind.orders else SUMMARY
    return USUAL


def _is_idle(round: Round, language: Language) -> bool:
    """Whether nothing was told, asked or answered in it, as in one of "Sounds good, thanks!"."""
    if not language.has_rules or max(len(round.user_text), len(round.assistant_text)) > _IDLE:
        return False
    return reading_of(round, language).is_idle


def _helping(recalled: Sequence[Recalled], asked: Asked, near: float) -> list[Recalled]:
    """The rounds that may help, in their order: those near enough to the best one, or all where
    many make up the answer. For a question of general knowledge they must be near in meaning."""
    helping = _near(recalled, near) if asked.impersonal else list(recalled)
    if asked.overview or asked.counts or asked.orders:
        return helping
    best = max((one.similarity for one in helping), default=0.0)
    return [one for one in helping if one.similarity >= _HELPS * best]


def _near(recalled: Sequence[Recalled], floor: float) -> list[Recalled]:
    """All rounds if the best one is surely near in meaning, none if it is not near, and some if it
    barely is. Shared words alone do not count: anybody may use them."""
    meanings = [one.signals.get("dense") or one.similarity for one in recalled]
    best = max(meanings, default=0.0)
    if best < floor:
        return []
    least = -math.inf if best >= _SURELY_NEAR * floor else _MAY_HELP * floor
    return [one for one, by in zip(recalled, meanings, strict=True) if by >= least]


async def _delivered(
    store: MemoryReader, recalled: Sequence[Recalled], unit: Unit, *, about_replies: bool
) -> list[Passage]:
    """The passages. If replies are asked for, the best rounds come with their neighbours: a request
    that follows on ("shorter, please") shares no word with a question about its reply."""
    first = _WITH_NEIGHBOURS if about_replies and unit is Unit.ROUND else 0
    return [
        *await delivered(store, recalled[:first], Unit.WINDOW),
        *await delivered(store, recalled[first:], unit),
    ]


_NEIGHBOURS = 1


async def delivered(store: MemoryReader, recalled: Sequence[Recalled], unit: Unit) -> list[Passage]:
    """One passage for every round found, best first. Raises what the store raises."""
    found = [item.record for item in recalled]
    if unit is Unit.ROUND:
        return [Passage(record, (record,)) for record in found]
    names = dict.fromkeys((r.round.user_id, r.round.session_id) for r in found)
    sessions = await asyncio.gather(*(store.session(*name) for name in names))
    by_name = dict(zip(names, sessions, strict=True))
    return [
        Passage(
            record, _around(record, by_name[record.round.user_id, record.round.session_id], unit)
        )
        for record in found
    ]


def _around(found: Record, session: Sequence[Record], unit: Unit) -> tuple[Record, ...]:
    place = next((n for n, record in enumerate(session) if record.id == found.id), None)
    if place is None:  # forgotten since it was found
        return (found,)
    if unit is Unit.SESSION:
        return tuple(session)
    return tuple(session[max(0, place - _NEIGHBOURS) : place + _NEIGHBOURS + 1])


_LONGEST = 160
# A pasted text names many days, and nobody needs them all.
_MOST = 8


def beside(record: Record, language: Language, odds: Sequence[AtOdds] = ()) -> Beside:
    """What stands beside a round; `odds` are its statements that are at odds with later ones."""
    gone = [(fact, fact.superseded_by) for fact in record.facts if fact.superseded_by]
    apart = [(fact, link) for fact, link in gone if _contradicts(record, link, language)]
    replaced = [_printed(fact.text, link) for fact, link in gone if (fact, link) not in apart]
    contradicted = [_printed(fact.text, link) for fact, link in apart]
    for one in odds:
        (contradicted if one.is_denied else replaced).append(_printed(one.text, one.by))
    quoting = is_quoting(record)
    return Beside(
        # Nobody knows when a quoted text was written, so "yesterday" in it names no day.
        days=() if quoting else _days(record, language),
        replaced=tuple(replaced[:_MOST]),
        contradicted=tuple(contradicted[:_MOST]),
        is_quoting=quoting,
        rounds=tuple(
            dict.fromkeys([link.round_id for _, link in gone] + [o.by.round_id for o in odds])
        ),
    )


def _days(record: Record, language: Language) -> tuple[str, ...]:
    """The days that the user's words name."""
    round = record.round
    said = f"{language.name} {round.session_date.isoformat()} {round.user_text}"
    return _DAYS.of(said, lambda: _counted(round, language))


# Cached, as the same rounds are read for question after question. An entry has a few hundred bytes.
_DAYS = ByDigest[tuple[str, ...]](20_000)


def _counted(round: Round, language: Language) -> tuple[str, ...]:
    text, said_on = round.user_text, round.session_date
    named = [(words, _print(days)) for words, days in language.counted_days(text, said_on)]
    for words, days in language.picked_weekdays(text, said_on):
        named.append((words, " or ".join(map(str, days))))
    return tuple(f"{words} = {days}" for words, days in [*dict.fromkeys(named)][:_MOST])


def _print(days: Days) -> str:
    return "/".join(dict.fromkeys(str(day) for day in (days.first, days.last)))


def _contradicts(record: Record, link: FactLink, language: Language) -> bool:
    """Whether a statement and what replaced it contradict each other: a rule linked them, they are
    of one day, and the newer one neither corrects the other nor tells of a change. A model that
    linked them has read a correction or a change."""
    if link.by != "rule" or link.said_at.date() != record.round.session_date.date():
        return False
    newer = language.stated(link.text)
    tells_of_change = newer is not None and newer.changed
    return not tells_of_change and kinds_of(link.text)[Kind.CORRECTS] < _CORRECTS


def _printed(text: str, link: FactLink) -> str:
    if link.by == CONDITION:
        return f"“{_part(text, text)}” held until {print_day(link.said_at)}"
    older, newer = _part(text, link.text), _part(link.text, text)
    return f"“{older}” by “{newer}” on {print_day(link.said_at)}"


def _part(text: str, other: str) -> str:
    """The part of a long text that shares most words with the other, these in its middle."""
    if len(text) <= _LONGEST:
        return text
    share = shared_with(other)
    starts = [0, *(space.end() for space in re.finditer(r"\s+", text))]
    shares = [share(text[start : start + _LONGEST]) for start in starts]
    most = max(shares)
    best = [start for start, by in zip(starts, shares, strict=True) if by == most]
    at = best[len(best) // 2] if most else 0
    return f"{'… ' if at else ''}{shortened(text[at:], _LONGEST)}"
