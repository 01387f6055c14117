"""`python -m benchmarks.ablation RUN MEMORY`: what each rule and number of answering earns.

Each variant takes one step of quoting, or one rule (a regular expression, which then never
matches), or changes one number (halved), and asks again: two diaries, three people's plain
messages, and the questions of a benchmark. RUN is a run directory of the harness, MEMORY the memory
that the run filled; its questions are asked again without a trace, and judged by the lexical judge.
What earns nothing on any of the three can go.
"""

import argparse
import asyncio
import importlib
import json
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
from rich.console import Console
from rich.table import Table

from assistant.app import create_app
from assistant.settings import Settings
from benchmarks.diaries.__main__ import AnswerGrade, replay
from benchmarks.plain.chats import PEOPLE, HitCounts, put
from harness.judges.lexical.judge import decide
from harness.records.digest import QuestionDigest
from memory_store.language import wording
from memory_store.language.languages import word_table

PACKAGES = ("assistant.answering", "assistant.chat", "memory_store.language")
DIARIES = [
    Path(__file__).parent.parent / "diaries" / "people" / f"{name}.json"
    for name in ("walt", "rhona")
]
_PLAIN = (
    "right first, not denied",
    "right somewhere",
    "never told, admitted",
    "changed: new first",
)
_NEVER = re.compile(r"(?!)")
_SEED = 5
_VECTORS = "vectors.sqlite"


@dataclass(frozen=True, slots=True)
class Variant:
    """One step, rule or number, changed."""

    name: str
    module: str
    attribute: str
    value: Any

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Apply the change wherever the name was imported, inside the context."""
        before = getattr(importlib.import_module(self.module), self.attribute)
        changed = [
            module
            for name, module in list(sys.modules.items())
            if name.startswith(("assistant.", "memory_store."))
            and getattr(module, self.attribute, None) is before
        ]
        for module in changed:
            setattr(module, self.attribute, self.value)
        try:
            yield
        finally:
            for module in changed:
                setattr(module, self.attribute, before)


def _first(statements: Any, *_: Any) -> Any:
    return statements


async def _last(*given: Any) -> Any:
    return given[-1]


_STEPS: dict[str, Any] = {
    "selection.as_typed": _first,
    "selection.put_right": _first,
    "selection.near_the_best": _first,
    "selection.with_newer": _first,
    "selection.holding_first": _first,
    "selection.by_time": _last,
    "statements.superseded_among_others": _first,
    "statements.is_ours": lambda _: False,
    "conclusions.unheard": lambda *_: [],
    "conclusions.unsaid": lambda *_: "",
}
"""Steps of quoting, each with the function that replaces it."""


def variants(of: Sequence[str]) -> list[Variant]:
    """A variant for each step, rule and number of the modules whose names begin as in `of`."""
    found = [
        Variant(f"{step} left out", f"assistant.answering.{module}", name, value)
        for step, value in _STEPS.items()
        for module, name in [step.split(".")]
        if f"assistant.answering.{module}".startswith(tuple(of))
    ]
    for name, module in sorted(sys.modules.items()):
        if name.startswith(tuple(of)):
            found += [*_of(name, module)]
    if "assistant.answering".startswith(tuple(of)):
        found += [*_worded("answers"), *_worded("spans")]
    return found


def _worded(table: str) -> Iterator[Variant]:
    """Variants that each leave out one pattern among the words of English."""
    for name, words in word_table("english", table).items():
        # All arrays hold patterns, except `kin`, whose entries are names of the same relative.
        if isinstance(words, list) and name != "kin":
            yield Variant(
                f"{table}.{name} never",
                "memory_store.language.languages",
                "wording",
                partial(_wording_without, f"{table}.{name}"),
            )


def _wording_without(left_out: str, name: str, *languages: str) -> re.Pattern[str]:
    return _NEVER if name == left_out else wording(name, *languages)


def _of(name: str, module: ModuleType) -> Iterator[Variant]:
    source = Path(module.__file__ or "").read_text("utf-8") if module.__file__ else ""
    short = name.split(".", 1)[1]
    for attribute, value in vars(module).items():
        is_own = re.search(rf"^(?:.*, )?{attribute}\b[^(]*=", source, re.M) is not None
        if not is_own or not attribute.isupper():
            continue
        if isinstance(value, re.Pattern):
            yield Variant(f"{short}.{attribute} never", name, attribute, _NEVER)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            half = value / 2 if isinstance(value, float) else value // 2
            yield Variant(f"{short}.{attribute} {value} → {half}", name, attribute, half)


class Bench:
    """The three sets, and what one variant scores on them."""

    def __init__(self, run: Path, memory: Path, most: int, folder: Path) -> None:
        self._memory = folder / "memory"
        shutil.copytree(memory, self._memory)
        self._folder = folder
        users = {one["history_id"]: one["user_id"] for one in _lines(run / "ingest.jsonl")}
        asked = [QuestionDigest.from_json(one) for one in _lines(run / "questions.jsonl")]
        random.Random(_SEED).shuffle(asked)
        self._asked = [(users[one.history_id], one) for one in asked[:most]]

    async def scores(self) -> dict[str, int]:
        """How often each outcome happened, under the code as it is now."""
        outcomes = [
            one.outcome for file in DIARIES for one in await replay(file, self._settings(file.stem))
        ]
        counts = HitCounts()
        for file in PEOPLE:
            await put(file, self._settings(file.stem), counts)
        return {
            "diaries: first": outcomes.count(AnswerGrade.FIRST),
            "wrong": outcomes.count(AnswerGrade.WRONG) + outcomes.count(AnswerGrade.MADE_UP),
            **{name: sum(counts.of[name]) for name in _PLAIN},
            "benchmark": await self._right(),
        }

    def _settings(self, name: str) -> Settings:
        """Settings for a person's memory, emptied, but with the cached vectors of earlier calls."""
        folder, known = self._folder / name, self._folder / f"{name}.sqlite"
        if (folder / _VECTORS).exists() and not known.exists():
            shutil.copy(folder / _VECTORS, known)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        if known.exists():
            shutil.copy(known, folder / _VECTORS)
        return Settings(data_dir=folder)

    async def _right(self) -> int:
        app = create_app(Settings(data_dir=self._memory))
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(
                transport=httpx.ASGITransport(app), base_url="http://127.0.0.1"
            ) as http,
        ):
            answers = [await _answer(http, user, one) for user, one in self._asked]
        pairs = zip(self._asked, answers, strict=True)
        return sum(decide(one, answer).passed for (_, one), answer in pairs)


async def _answer(http: httpx.AsyncClient, user: str, one: QuestionDigest) -> str:
    reply = await http.post(
        "/v1/chat/completions",
        json={
            "model": "aide-memoire",
            "messages": [{"role": "user", "content": one.question}],
            "metadata": {
                "user_id": user,
                "session_id": f"ask-{one.question_id}",
                "timestamp": one.question_date,
                "memory": "read_only",
            },
        },
        timeout=None,
    )
    reply.raise_for_status()
    return str(reply.json()["choices"][0]["message"]["content"])


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


async def _measure(arguments: argparse.Namespace, out: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(arguments.run, arguments.memory, arguments.questions, Path(folder))
        rows.append({"variant": "as it is", **await bench.scores()})
        rows[0] = {"variant": "as it is", **await bench.scores()}
        for variant in variants(arguments.of):
            try:
                with variant.applied():
                    rows.append({"variant": variant.name, **await bench.scores()})
            except Exception as error:
                rows.append({"variant": variant.name, "failed": type(error).__name__})
            out.write_text(json.dumps(rows, indent=1) + "\n")
    return rows


def main() -> None:
    """Print a row for each variant, as differences from the unchanged code."""
    parser = argparse.ArgumentParser(prog="benchmarks.ablation", description=__doc__)
    parser.add_argument("run", type=Path, help="a run directory")
    parser.add_argument("memory", type=Path, help="the memory that it filled")
    parser.add_argument("--of", nargs="+", default=PACKAGES, help="only modules that begin so")
    parser.add_argument("--questions", type=int, default=150, help="of the benchmark")
    parser.add_argument("--out", type=Path, default=Path("runs/ablation.json"))
    arguments = parser.parse_args()
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    rows = asyncio.run(_measure(arguments, arguments.out))
    base = rows[0]
    names = [name for name in base if name != "variant"]
    table = Table("", *names)
    table.add_row("as it is", *(str(base[name]) for name in names))
    for row in rows[1:]:
        if "failed" in row:
            table.add_row(row["variant"], row["failed"])
        else:
            table.add_row(row["variant"], *(_change(row[name] - base[name]) for name in names))
    Console(width=170).print(table)


def _change(by: int) -> str:
    return f"{by:+d}" if by else ""


if __name__ == "__main__":
    main()
