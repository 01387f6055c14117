"""`python -m benchmarks.diaries FILE…`: people's own messages, asked about without a model.

Every message is told over the API on its day, one session a day, and every question asked when it
was asked, as a chat that is stored as well. Eight diaries lie beside this module.
"""

import argparse
import asyncio
import json
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import httpx
from rich.console import Console
from rich.table import Table

from assistant.app import create_app
from assistant.settings import Settings
from benchmarks.diaries.scoring import AnswerGrade, DiaryQuestion, outcome


@dataclass(frozen=True, slots=True)
class GradedAnswer:
    """A question of somebody's, the answer, and what it is worth."""

    person: str
    asked: DiaryQuestion
    answer: str
    outcome: AnswerGrade


async def replay(file: Path, settings: Settings) -> list[GradedAnswer]:
    """Tell and ask everything of one diary, in the order of its times."""
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
