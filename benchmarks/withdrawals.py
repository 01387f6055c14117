"""`python -m benchmarks.withdrawals FILE`: which answers are withdrawn when a round is forgotten.

Every question of a LongMemEval file is asked of its own history. Its reference answer stands for
what a model would reply from the rounds that it read. Then each of these rounds is forgotten in
turn (counted only). Forgetting a round of evidence must withdraw the answer; forgetting one without
evidence must not. The same for two answers that came later, to whom the first one was shown: one
that says it again, and one that answers another question.
"""

import argparse
import asyncio
import os
import tempfile
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from rich.console import Console
from rich.progress import track

from assistant.answering.reader import Trace
from assistant.chat.rounds import repeated
from benchmarks.recall.histories import rounds_of_history
from harness.datasets.longmemeval import load_longmemeval
from harness.datasets.questions import Question
from memory_store import MemoryStore, Query, Round
from memory_store.embedding import (
    PACKAGED,
    DiskCache,
    Embedder,
    ModelEncoder,
)
from memory_store.engines import EdgeEngine

_READ = 20
_SLICE = 256


async def measure(file: Path, cache: Path, console: Console) -> Counter[str]:
    """Counts by kind of round: the rounds that were forgotten, and the answers withdrawn."""
    embedder = Embedder(
        ModelEncoder(PACKAGED),
        workers=os.cpu_count() or 1,
        disk_cache=DiskCache(cache, max_bytes=4 << 30),
    )
    questions = [q for q in load_longmemeval(file) if not q.is_abstention]
    total: Counter[str] = Counter()
    for question, other in track([*pairwise(questions)], file.name, console=console):
        total += await _one(question, other, embedder)
    await embedder.close()
    return total


async def _one(question: Question, other: Question, embedder: Embedder) -> Counter[str]:
    with tempfile.TemporaryDirectory() as folder:
        engine = EdgeEngine(Path(folder))
        store = MemoryStore(engine, embedder)
        await store.open()
        try:
            history = rounds_of_history(question)
            told = [round for round, _ in history]
            for at in range(0, len(told), _SLICE):
                await store.remember(told[at : at + _SLICE])
            return await _count(store, question, other, {r.id for r, is_it in history if is_it})
        finally:
            await engine.close()


async def _count(
    store: MemoryStore, question: Question, other: Question, evidence: set[str]
) -> Counter[str]:
    user = (await store.users())[0]
    query = Query(user, question.question, _READ, asked_on=question.question_date.date())
    recalled = (await store.recall(query)).rounds
    read = tuple(one.record.id for one in recalled)
    answer = str(question.answer)
    named = repeated(question.question, answer, Trace(context=read), recalled)
    asked = Round(
        user, "asked", 0, recalled[0].record.round.session_date, question.question, answer
    )
    asked = replace(asked, repeats=named)
    again = replace(asked, session_id="again", user_text="Say it again.", repeats=(asked.id,))
    beside = replace(
        again, session_id="beside", user_text=other.question, assistant_text=str(other.answer)
    )
    await store.remember([asked, again, beside])
    found: Counter[str] = Counter()
    for id in read:
        gone = (await store.forget_round(user, id, dry_run=True)).changed_sessions
        kind = "evidence" if id in evidence else "other"
        found[f"{kind} rounds"] += 1
        for session in ("asked", "again", "beside"):
            found[f"{kind}: {session}"] += session in gone
    return found


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(prog="benchmarks.withdrawals", description=__doc__)
    parser.add_argument("file", type=Path, help="histories in LongMemEval format")
    parser.add_argument("--cache", type=Path, default=Path("runs/recall-vectors"))
    arguments = parser.parse_args()
    console = Console()
    found = asyncio.run(measure(arguments.file, arguments.cache, console))
    for name, count in sorted(found.items()):
        console.print(f"{name:24}{count:6}")


if __name__ == "__main__":
    main()
