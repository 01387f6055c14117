"""From a question to the context it is read with: delivery, computed help, profile, budget."""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from assistant.dates import print_day
from assistant.models.token_counter import TokenCounter
from assistant.reading.context import Context, ContextRequest, build_context
from assistant.reading.delivery import Passage, delivered
from assistant.reading.excerpt import shortened
from assistant.reading.plan import ReadingPlan, Unit
from assistant.reading.question_kind import QuestionKind, question_kind
from assistant.reading.reader import Question, as_read
from assistant.reading.spans import days_between, plural, print_span
from assistant.reading.speakers import as_said, name_of, several_speak
from assistant.reading.statements import Statement, nearest_statements
from memory_store import Fact, MemoryStore, Recalled, Speaker, aside, superseded_parts

_MOST_LINES = 12
_LONGEST_LINE = 200
_LASTING = re.compile(
    r"\bI(?:['’]m| am) (?:a|an|allergic|vegan|vegetarian|into|interested|passionate|obsessed"
    r"|trying|working|planning|looking|really into|learning|training)\b"
    r"|\bI(?:['’]ve| have) (?:been|always|never|got|a|an|two|three)\b"
    r"|\bI (?:really |also |usually |often |always |never |still |just )*"
    r"(?:love|like|prefer|enjoy|hate|dislike|avoid|want|need|use|own|work|live|play|collect|read"
    r"|watch|listen|follow|bought|started|can['’]?t|don['’]t)\b"
    r"|\bmy (?:\w+ )?(?:favou?rite|job|work|wife|husband|partner|kids?|son|daughter|dog|cat|home"
    r"|apartment|house|car|bike|hobby|setup|diet|goal)\b",
    re.I,
)


def profile_lines(recalled: Sequence[Recalled]) -> list[dict[str, Any]]:
    """Lasting facts the user stated, the most relevant rounds first, then newest first."""
    found: dict[str, tuple[Recalled, str]] = {}
    several = several_speak(recalled)
    for item in recalled:
        for fact in _lasting(item.record.facts):
            text = as_said(name_of(item, fact.speaker) if several else "", fact.text)
            found.setdefault(text.casefold(), (item, text))
    lines = list(found.values())[:_MOST_LINES]
    lines.sort(key=lambda line: line[0].record.round.session_date, reverse=True)
    return [
        {"said_on": print_day(item.record.round.session_date), "fact": text[:_LONGEST_LINE]}
        for item, text in lines
    ]


def _lasting(facts: Sequence[Fact]) -> list[Fact]:
    """The user's lasting facts that hold, without those that are a part of another one."""
    lasting = [
        fact
        for fact in facts
        if fact.speaker is Speaker.USER
        and _LASTING.search(fact.text)
        and not (fact.superseded_by or superseded_parts(fact.text, facts))
    ]
    return [f for f in lasting if not any(f.text in one.text != f.text for one in lasting)]


_MOST_STATEMENTS = 10
_LONGEST = 200
# Statements much farther from the question than the nearest one are about something else.
_NEAR_THE_BEST = 0.6


def computed_help(
    kind: QuestionKind, statements: Sequence[Statement], asked_on: date
) -> dict[str, Any]:
    """What helps with this kind of question; empty where nothing does.

    `statements` come nearest first. Every entry quotes its statement, so that the reader can check.
    """
    near = _near(statements)
    if not near:
        return {}
    if kind.about_time:
        return {"dated_statements": timeline(near, asked_on)}
    if kind.counts:
        return {"mentions": mentions(near)}
    if len({statement.said_on for statement in near}) > 1:
        return {"newest_statements_first": newest_first(near)}
    return {}


def timeline(statements: Sequence[Statement], asked_on: date) -> list[dict[str, Any]]:
    """The statements by the day they are about, with the days between them and until today."""
    lines: list[dict[str, Any]] = []
    previous: date | None = None
    for statement in sorted(statements, key=lambda s: s.day):
        day = statement.day
        line: dict[str, Any] = {
            "day": _print(day),
            "day_is": "when it happened" if statement.happened_on else "when it was said",
            "before_today": print_span(day, asked_on) if day <= asked_on else "in the future",
        }
        if previous is not None:
            line["after_the_previous"] = plural(days_between(previous, day), "day")
        lines.append(line | {"statement": _text(statement)})
        previous = day
    return lines


def mentions(statements: Sequence[Statement]) -> list[dict[str, Any]]:
    """The statements numbered in the order they were said, the same words once."""
    distinct = {(s.said_by, s.text.casefold()): s for s in reversed(statements)}
    in_order = sorted(distinct.values(), key=lambda s: (s.said_on, -s.nearness))
    return [
        {"number": number, "said_on": _print(statement.said_on), "statement": _text(statement)}
        for number, statement in enumerate(in_order, start=1)
    ]


def newest_first(statements: Sequence[Statement]) -> list[dict[str, Any]]:
    """The statements by the day they were said, the newest marked."""
    ordered = sorted(statements, key=lambda s: s.said_on, reverse=True)
    newest = ordered[0].said_on
    return [
        {"said_on": _print(statement.said_on), "statement": _text(statement)}
        | ({"is_newest": True} if statement.said_on == newest else {})
        for statement in ordered
    ]


def _near(statements: Sequence[Statement]) -> list[Statement]:
    """The nearest; what was quoted from others is no help with what is asked of the user."""
    said = [s for s in statements if s.speaker is not Speaker.QUOTED]
    if not said:
        return []
    enough = said[0].closeness * _NEAR_THE_BEST
    return [s for s in said if s.closeness >= enough][:_MOST_STATEMENTS]


def _text(statement: Statement) -> str:
    return as_said(statement.said_by, shortened(statement.text, _LONGEST))


def _print(day: date) -> str:
    return day.strftime("%Y-%m-%d (%a)")


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
