"""`python -m benchmarks.replay FILE`: a replay's ingest over HTTP beside the encoder alone.

Histories of a LongMemEval file are brought in by the harness, each time into a new memory without
cached vectors. Before and after, in the same run, nothing but the encoder works, on the same
distinct texts. Its seconds divided by those of the ingest are the ratio: 1 if all else were free.
The same of processor seconds says how much work there is beside the encoder, whoever else computes.
"""

import argparse
import asyncio
import json
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from assistant.chat.turns import Role, Turn, add_turns
from benchmarks.load.assistant import processor_seconds, serving
from harness.assistants.client import AssistantClient
from harness.assistants.endpoint import Endpoint
from harness.assistants.transport import Transport
from harness.datasets.longmemeval import load_longmemeval
from harness.datasets.questions import HaystackSession, Question
from harness.replay.ingest import TOGETHER, Blinding, Ingester, Together
from memory_store import Record, Round
from memory_store._facts import rule_facts
from memory_store._keys import keys_of
from memory_store.embedding import (
    PACKAGED,
    Encoder,
    ModelEncoder,
    TextKind,
)

# The most characters, padding included, of a batch for the encoder alone; more are no faster.
_PADDED = 1200
_LONGEST_READ = 1200
_NICENESS = 10


@dataclass(frozen=True, slots=True)
class TimeTaken:
    """Seconds on the wall, and of the processors."""

    wall: float
    processor: float


@dataclass(frozen=True, slots=True)
class Pair:
    """An ingest, and the encoder alone at about the same time."""

    ingest: TimeTaken
    encoder: TimeTaken


@dataclass(frozen=True, slots=True)
class Way:
    """What a request carries, and how many histories are brought in side by side."""

    together: Together
    histories: int

    def __str__(self) -> str:
        return f"{self.together}/{self.histories}"


def main() -> None:
    """Measure the ways in turn; print medians, with the least and the most."""
    parser = argparse.ArgumentParser(prog="benchmarks.replay", description=__doc__)
    parser.add_argument("file", type=Path, help="a file of LongMemEval")
    parser.add_argument("--questions", type=int, default=2, help="histories, the first of the file")
    parser.add_argument(
        "--ways",
        nargs="+",
        type=to_way,
        default=[Way("turn", 2), Way("session", 2), Way("session", 4)],
        metavar="turn|session/HISTORIES",
        help="what a request carries, and histories at a time",
    )
    parser.add_argument("--repeat", type=int, default=3, help="measurements of each way")
    parser.add_argument("--out", type=Path, default=Path("runs/replay.json"))
    given = parser.parse_args()
    # In the assistant the encoder's threads have a lower priority; here everything gets the same.
    os.nice(max(0, _NICENESS - os.nice(0)))
    questions = list(islice(load_longmemeval(given.file), given.questions))
    rounds, texts = sum(len(list(rounds_said(q))) for q in questions), distinct_texts(questions)
    measured = measure(questions, texts, given.ways, given.repeat)
    Console().print(f"{rounds} rounds, {len(texts)} distinct texts")
    Console().print(_table(measured, rounds))
    figures = {str(way): [asdict(pair) for pair in pairs] for way, pairs in measured.items()}
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(
        json.dumps({"rounds": rounds, "texts": len(texts), "ways": figures}, indent=2) + "\n"
    )


def to_way(text: str) -> Way:
    """`session/4`: a session in each request, four histories at a time."""
    carried, _, histories = text.partition("/")
    together = next((one for one in TOGETHER if one == carried), None)
    if together is None or not histories.isdigit() or int(histories) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: expected turn/N or session/N")
    return Way(together, int(histories))


def measure(
    questions: Sequence[Question], texts: Sequence[str], ways: Sequence[Way], repeat: int
) -> dict[Way, list[Pair]]:
    """Measure every way in turn, `repeat` times, with the encoder alone before and after each."""
    encoder = ModelEncoder(PACKAGED)
    encoder.encode(["warm"], TextKind.DOCUMENT)
    measured: dict[Way, list[Pair]] = {way: [] for way in ways}
    before = encoded_alone(encoder, texts)
    for way in list(ways) * repeat:
        ingest = asyncio.run(ingested(questions, way))
        after = encoded_alone(encoder, texts)
        measured[way].append(Pair(ingest, _mean(before, after)))
        before = after
    return measured


def _mean(one: TimeTaken, other: TimeTaken) -> TimeTaken:
    return TimeTaken((one.wall + other.wall) / 2, (one.processor + other.processor) / 2)


def distinct_texts(questions: Sequence[Question]) -> list[str]:
    """The distinct texts that the assistant encodes for these histories."""
    rounds = (round for question in questions for round in rounds_said(question))
    keys = (keys_of(Record(round, rule_facts(round))) for round in rounds)
    return list(dict.fromkeys(key.text for of_round in keys for key in of_round))


def rounds_said(question: Question) -> Iterator[Round]:
    """The rounds of a history, as the assistant makes them of its turns."""
    for session in question.sessions:
        yield from add_turns(
            [], _turns(session), user_id="u", session_id=f"s{session.position}", title=""
        )


def _turns(session: HaystackSession) -> list[Turn]:
    said = enumerate(session.turns)
    return [Turn(Role(t.role), t.content, session.session_date, caller_id=str(i)) for i, t in said]


def encoded_alone(encoder: Encoder, texts: Sequence[str]) -> TimeTaken:
    """The time of the encoder alone: texts of similar length together, one thread for each core."""
    batches = list(_batches(sorted(texts, key=len, reverse=True)))
    started, used = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        list(threads.map(lambda batch: encoder.encode(batch, TextKind.DOCUMENT), batches))
    return TimeTaken(time.perf_counter() - started, time.process_time() - used)


def _batches(longest_first: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    for text in longest_first:
        width = min(len((batch or [text])[0]), _LONGEST_READ)
        if batch and width * (len(batch) + 1) > _PADDED:
            yield batch
            batch = []
        batch.append(text)
    if batch:
        yield batch


async def ingested(questions: Sequence[Question], way: Way) -> TimeTaken:
    """The time that the harness and a new assistant take to ingest the histories."""
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as (port, process_id):
        waiting = iter(questions)
        endpoint = Endpoint(f"http://127.0.0.1:{port}")
        async with Transport(endpoint, concurrency=way.histories) as transport:
            ingester = Ingester(
                AssistantClient(transport),
                Blinding("replay"),
                barrier_seconds=60,
                on_round=lambda: None,
                together=way.together,
            )

            async def history() -> None:
                for question in waiting:
                    await ingester.ingest(question)

            started, used = time.perf_counter(), time.process_time()
            at_start = processor_seconds(process_id)
            await asyncio.gather(*(history() for _ in range(way.histories)))
            processor = time.process_time() - used + processor_seconds(process_id) - at_start
            return TimeTaken(time.perf_counter() - started, processor)


def _table(measured: Mapping[Way, Sequence[Pair]], rounds: int) -> Table:
    table = Table("request/histories", "rounds/s", "wall ratio", "processor ratio")
    for way, pairs in measured.items():
        table.add_row(
            str(way),
            _spread([rounds / pair.ingest.wall for pair in pairs], digits=1),
            _spread([pair.encoder.wall / pair.ingest.wall for pair in pairs]),
            _spread([pair.encoder.processor / pair.ingest.processor for pair in pairs]),
        )
    return table


def _spread(values: Sequence[float], digits: int = 2) -> str:
    middle, least, most = (f"{f(values):.{digits}f}" for f in (median, min, max))
    return f"{middle} ({least} to {most})"


if __name__ == "__main__":
    main()
