"""Which evidence turns stand, word for word, in the prompts that a reader was sent.

Word for word means the whole turn, with its characters in their order. White space may differ, and
escapes are undone, since a prompt may quote its memory in JSON or HTML. A prompt may also shorten
long turns, so their beginnings are counted as well.
"""

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypedDict

from harness.datasets.questions import Question
from harness.datasets.selection import by_type
from harness.metrics.effort import percentile
from harness.records.digest import QuestionDigest
from harness.records.schema import EvidenceTurn, PromptLine
from harness.statistics.intervals import Mean, mean_of
from harness.text import beginning, tokens_of

BUDGETS = (7000, 16000)
BEGINNING = 400
"""Characters of a turn that are its beginning."""
_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
_SHORT_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class PromptSizes(TypedDict):
    p50: float | None
    p95: float | None
    max: int | None


class PromptTable(Mean):
    within: dict[str, Mean]
    beginnings: dict[str, Mean]
    """The share of questions for which the first `BEGINNING` characters of every evidence turn were
    found, under `all` and by type. Lines of earlier versions do not say this and are left out."""
    by_type: dict[str, Mean]
    turns: dict[str, Mean]
    tokens_estimate: PromptSizes


def prompt_record(question: Question, prompts: Sequence[str]) -> PromptLine:
    """The line for `prompts.jsonl`: every evidence turn, and whether it was found.

    Several prompts (a call for each note) count together; `tokens_estimate` is their sum.
    """
    readable = [form for prompt in prompts for form in _forms(prompt)]

    def holds(text: str) -> bool:
        return any(text in form for form in readable)

    turns: list[EvidenceTurn] = [
        {
            "position": session.position,
            "turn": number,
            "role": turn.role,
            "characters": len(turn.content),
            "found": holds(_squeezed(turn.content)),
            "begins": holds(_squeezed(turn.content[:BEGINNING])),
            "text": beginning(turn.content),
        }
        for session in question.sessions
        for number, turn in enumerate(session.turns)
        if turn.has_answer
    ]
    characters = sum(map(len, prompts))
    return {
        "question_id": question.question_id,
        "requests": len(prompts),
        "characters": characters,
        "tokens_estimate": tokens_of(characters),
        "evidence_turns": turns,
    }


def prompt_table(
    questions: Sequence[QuestionDigest], lines: Mapping[str, PromptLine]
) -> PromptTable:
    """The share of recorded answerable questions whose every evidence turn was in the prompt.

    `within` also asks that the whole prompt, instructions included, is no longer than the budget.
    """
    asked = [q for q in questions if q.question_id in lines and not q.is_abstention]
    recorded = [q for q in asked if lines[q.question_id]["evidence_turns"]]
    sizes = [lines[q.question_id]["tokens_estimate"] for q in recorded]
    return {
        **_share(lines[q.question_id] for q in recorded),
        "within": {
            str(budget): _share((lines[q.question_id] for q in recorded), budget)
            for budget in BUDGETS
        },
        "beginnings": _beginnings(recorded, lines),
        "by_type": {
            name: _share(lines[q.question_id] for q in members)
            for name, members in by_type(recorded).items()
        },
        "turns": _turns(lines[q.question_id] for q in recorded),
        "tokens_estimate": {
            "p50": percentile(sizes, 0.5),
            "p95": percentile(sizes, 0.95),
            "max": max(sizes, default=None),
        },
    }


def _share(lines: Iterable[PromptLine], budget: int | None = None) -> Mean:
    return mean_of(
        all(turn["found"] for turn in line["evidence_turns"])
        and (budget is None or line["tokens_estimate"] <= budget)
        for line in lines
    )


def _beginnings(
    questions: Sequence[QuestionDigest], lines: Mapping[str, PromptLine]
) -> dict[str, Mean]:
    begun: dict[str, list[bool]] = {}
    for question in questions:
        turns = lines[question.question_id]["evidence_turns"]
        if all("begins" in turn for turn in turns):
            begins = all(turn["begins"] for turn in turns)
            begun.setdefault("all", []).append(begins)
            begun.setdefault(question.question_type, []).append(begins)
    return {name: mean_of(each) for name, each in begun.items()}


def _turns(lines: Iterable[PromptLine]) -> dict[str, Mean]:
    """The share of single turns found, by who said them."""
    turns = [turn for line in lines for turn in line["evidence_turns"]]
    return {
        role: mean_of(turn["found"] for turn in turns if turn["role"] == role)
        for role in ("user", "assistant")
    }


def _forms(prompt: str) -> Iterator[str]:
    """A prompt as it is and with the escapes of JSON or HTML undone, white space squeezed."""
    for form in (prompt, _ESCAPE.sub(_unescaped, prompt), html.unescape(prompt)):
        yield _squeezed(form)


def _unescaped(match: re.Match[str]) -> str:
    if match[1]:
        return chr(int(match[1], 16))
    return _SHORT_ESCAPES.get(match[2], match[2])


def _squeezed(text: str) -> str:
    return " ".join(text.split())
