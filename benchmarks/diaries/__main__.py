"""`python -m benchmarks.diaries FILE…`: people's own messages, asked about without a model.

Every message is told over the API on its day, one session a day, and every question asked when it
was asked, as a chat that is stored as well. Eight diaries lie beside this module.

An answer is worth what its words alone say. It is read from the top, as people do: what stands
first counts most, and a wrong statement is worse than a quote that does not help.
"""

import argparse
import asyncio
import json
import re
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import httpx
from rich.console import Console
from rich.table import Table

from assistant.app import create_app
from assistant.settings import Settings


class AnswerGrade(StrEnum):
    """How well a question was answered."""

    FIRST = "right, first"
    """The first line holds the answer; or the answer denies knowing what was never told."""
    SOMEWHERE = "right, below"
    """A later line holds it."""
    BESIDE = "beside it"
    """The quotes do not answer the question, and nothing wrong is claimed."""
    WRONG = "wrong"
    """A claim is wrong, or the first line has an outdated value as if it still held."""
    REFUSED = "refused"
    """The answer denies knowing what was told."""
    MADE_UP = "made up"
    """The answer claims something that was never told."""


@dataclass(frozen=True, slots=True)
class DiaryQuestion:
    """A question. A right answer holds one text of each group in `right`; texts in `wrong` mark a
    wrong answer. Without groups, the user never told the answer."""

    text: str
    kind: str
    right: Sequence[Sequence[str]]
    wrong: Sequence[str]


# A line that introduces quotes and claims nothing.
_OPENING = re.compile(r"^[^“”]*:$")
_QUOTE = re.compile(r"^\s*(?:[-*•]|\d+\.)\s")
_UNKNOWN = re.compile(
    r"\b(?:I don['’]t know|never came up|you (?:have|['’]ve) not told me)\b", re.I
)
_OLDER = re.compile(r"\((?:no longer|older|before|until|replaced)\b", re.I)


def outcome(asked: DiaryQuestion, answer: str) -> AnswerGrade:
    """Grade the answer."""
    lines = [line for line in answer.splitlines() if line.strip() and not _OPENING.match(line)]
    unknown = bool(_UNKNOWN.search(lines[0])) if lines else True
    claims = [line for line in lines if not _QUOTE.match(line) and not _UNKNOWN.search(line)]
    first = next((line for line in lines if not _UNKNOWN.search(line)), "")
    misleading = _holds_any(asked.wrong, first) and not _OLDER.search(first)
    if not asked.right:
        if unknown:
            return AnswerGrade.FIRST
        return (
            AnswerGrade.MADE_UP
            if claims
            else AnswerGrade.WRONG
            if misleading
            else AnswerGrade.BESIDE
        )
    if all(_holds_any(group, answer) for group in asked.right):
        leads = any(_holds_any(group, first) for group in asked.right)
        if leads and not unknown:
            return AnswerGrade.FIRST
        return AnswerGrade.WRONG if misleading and claims else AnswerGrade.SOMEWHERE
    if unknown:
        return AnswerGrade.REFUSED
    return AnswerGrade.WRONG if claims or misleading else AnswerGrade.BESIDE


def _holds_any(texts: Sequence[str], answer: str) -> bool:
    return any(re.search(rf"(?<!\w){re.escape(text)}(?!\w)", answer, re.I) for text in texts)


@dataclass(frozen=True, slots=True)
class GradedAnswer:
    """A person's question, the answer, and its grade."""

    person: str
    asked: DiaryQuestion
    answer: str
    outcome: AnswerGrade


async def replay(file: Path, settings: Settings) -> list[GradedAnswer]:
    """Tell every message and ask every question of one diary, in the order of their times."""
    diary = json.loads(file.read_text())
    events = sorted([*diary["messages"], *diary["questions"]], key=lambda one: str(one["at"]))
    app = create_app(settings)
    answered: list[GradedAnswer] = []
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as http,
    ):
        for event in events:
            answer = await _say(http, diary["person"], event["text"], event["at"])
            if "kind" in event:
                asked = DiaryQuestion(event["text"], event["kind"], event["right"], event["wrong"])
                answered.append(
                    GradedAnswer(diary["person"], asked, answer, outcome(asked, answer))
                )
    return answered


async def _say(http: httpx.AsyncClient, person: str, text: str, at: str) -> str:
    reply = await http.post(
        "/v1/chat/completions",
        json={
            "model": "aide-memoire",
            "user": person,
            "messages": [{"role": "user", "content": text}],
            "metadata": {"timestamp": at, "session_id": at[:10]},
        },
    )
    reply.raise_for_status()
    return str(reply.json()["choices"][0]["message"]["content"])


async def _replay_all(files: list[Path]) -> list[GradedAnswer]:
    answered: list[GradedAnswer] = []
    for file in files:
        with tempfile.TemporaryDirectory() as folder:
            answered += await replay(file, Settings(data_dir=Path(folder)))
    return answered


def main() -> None:
    """Print the outcomes by kind of question and, if asked, the answers that are not right."""
    parser = argparse.ArgumentParser(prog="benchmarks.diaries", description=__doc__)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--show", action="store_true", help="print answers that are not right")
    arguments = parser.parse_args()
    console = Console()
    answered = asyncio.run(_replay_all(arguments.files))
    if arguments.show:
        for one in answered:
            if one.outcome is not AnswerGrade.FIRST:
                asked = one.asked
                console.print(
                    f"\n[{one.outcome}] {asked.kind}: {asked.text}"
                    f"\n   right {asked.right} wrong {asked.wrong}\n{one.answer}",
                    markup=False,
                    highlight=False,
                )
    table = Table("", "questions", *AnswerGrade)
    for name in dict.fromkeys([*(one.asked.kind for one in answered)]):
        _row(table, name, [one for one in answered if one.asked.kind == name])
    for name in dict.fromkeys([*(one.person for one in answered)]):
        _row(table, name, [one for one in answered if one.person == name])
    _row(table, "all", answered)
    console.print(table)


def _row(table: Table, name: str, answered: list[GradedAnswer]) -> None:
    counts = Counter(one.outcome for one in answered)
    table.add_row(name, str(len(answered)), *(str(counts[each]) for each in AnswerGrade))


if __name__ == "__main__":
    main()
