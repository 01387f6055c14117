"""Replay each question's history into a store of its own, and ask once for every signal."""

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import UTC
from pathlib import Path

import numpy as np
import numpy.typing as npt
from rank_bm25 import BM25Okapi
from rich.console import Console
from rich.progress import track

from harness.datasets.longmemeval import load_longmemeval
from harness.datasets.questions import HaystackSession, Question, evidence_rounds, rounds_of
from memory_store import (
    MemoryStore,
    Query,
    RecallSettings,
    Record,
    Round,
    Weights,
)
from memory_store._keys import keys_of
from memory_store.embedding import (
    PACKAGED,
    DiskCache,
    Embedder,
    ModelEncoder,
    TextKind,
)
from memory_store.engines import EdgeEngine

Values = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
SIGNALS = tuple(field.name for field in fields(Weights))
QUESTION_ONLY = "question_only"
"""A signal: the nearest key to the question alone, without the statement that would answer it."""
VALUE_ONLY = "value_only"
"""A signal: the similarity to a round's value as its only key, without the keys of its facts."""

_USER = "someone"
_ALL = 100_000
_SLICE = 256
_CACHE_BYTES = 4 << 30


@dataclass(frozen=True, slots=True)
class RecallQuestion:
    """A question, and the signals that its history's memory gives for every round (row) and
    session."""

    question_id: str
    question_type: str
    sessions: tuple[str, ...]
    evidence: frozenset[str]
    session_of: Indices
    """For each row the index of its session."""
    signals: dict[str, Values]
    """The values of each signal, one for each row: the signals of recall, and the two above."""
    names_time: bool
    official: Values
    """For each session its similarity by the official sparse baseline."""


async def ask_all(file: Path, cache: Path, console: Console) -> list[RecallQuestion]:
    """Every answerable question of the file, each asked of its own history."""
    disk_cache = DiskCache(cache, max_bytes=_CACHE_BYTES)
    encoder = ModelEncoder(PACKAGED)
    embedder = Embedder(encoder, workers=os.cpu_count() or 1, disk_cache=disk_cache)
    questions = [q for q in load_longmemeval(file) if not q.is_abstention]
    try:
        return [
            await _ask(question, embedder)
            for question in track(questions, f"{file.name}: replay and ask", console=console)
        ]
    finally:
        await embedder.close()


async def _ask(question: Question, embedder: Embedder) -> RecallQuestion:
    with tempfile.TemporaryDirectory() as folder:
        engine = EdgeEngine(Path(folder))
        store = MemoryStore(engine, embedder, RecallSettings(candidates=_ALL))
        await store.open()
        rounds = [round for round, _ in rounds_of_history(question)]
        for at in range(0, len(rounds), _SLICE):
            await store.remember(rounds[at : at + _SLICE])
        plain = MemoryStore(engine, embedder, RecallSettings(candidates=_ALL, statement=0.0))
        query = Query(_USER, question.question, _ALL, asked_on=question.question_date.date())
        recall = await store.recall(query)
        found = {one.record.id: one.signals for one in recall.rounds}
        alone = {one.record.id: one.signals for one in (await plain.recall(query)).rounds}
        await engine.close()
    found_rounds = [round for round in rounds if round.id in found]
    signals = {
        name: np.array([found[round.id][name] for round in found_rounds]) for name in SIGNALS
    }
    signals[QUESTION_ONLY] = np.array([alone[round.id]["dense"] for round in found_rounds])
    signals[VALUE_ONLY] = await _value_only(question.question, found_rounds, embedder)
    sessions = _in_date_order(question)
    return RecallQuestion(
        question_id=question.question_id,
        question_type=question.question_type,
        sessions=tuple(session.session_id for session in sessions),
        evidence=frozenset(question.evidence_session_ids),
        session_of=np.array([int(round.session_id) for round in found_rounds]),
        signals=signals,
        names_time=recall.time_range is not None,
        official=official_bm25(question.question, [_user_side(session) for session in sessions]),
    )


def rounds_of_history(question: Question) -> list[tuple[Round, bool]]:
    """The rounds of the whole history, oldest first, each with whether it is evidence. A session is
    named by its place, since its id could tell that it is evidence."""
    evidence = set(evidence_rounds(question))
    return [
        (
            Round(
                user_id=_USER,
                session_id=str(place),
                round_index=number,
                session_date=session.session_date.replace(tzinfo=UTC),
                user_text=_said(session, round.turns, "user"),
                assistant_text=_said(session, round.turns, "assistant"),
            ),
            (session.position, round.index) in evidence,
        )
        for place, session in enumerate(_in_date_order(question))
        for number, round in enumerate(rounds_of(session.turns))
    ]


def _in_date_order(question: Question) -> list[HaystackSession]:
    return sorted(question.sessions, key=lambda session: session.session_date)


def _said(session: HaystackSession, turns: Sequence[int], role: str) -> str:
    said = (session.turns[index] for index in turns)
    return "\n\n".join(turn.content for turn in said if turn.role == role)


def _user_side(session: HaystackSession) -> str:
    return " ".join(turn.content for turn in session.turns if turn.role == "user")


async def _value_only(question: str, rounds: Sequence[Round], embedder: Embedder) -> Values:
    texts = [[key.text for key in keys_of(Record(round, ()))] or [""] for round in rounds]
    vector = (await embedder.embed([question], TextKind.QUERY))[0]
    flat = [text for of_round in texts for text in of_round]
    cosines = (await embedder.embed(flat, TextKind.DOCUMENT)) @ vector
    starts = np.cumsum([0, *(len(of_round) for of_round in texts[:-1])])
    return np.maximum.reduceat(cosines, starts).astype(np.float64)


def official_bm25(question: str, sessions: Sequence[str]) -> npt.NDArray[np.float64]:
    """Okapi BM25 of each session's user side, as the official LongMemEval script sets up its sparse
    baseline (`flat-bm25`): split at single spaces, nothing folded or stemmed."""
    corpus = [session.split(" ") for session in sessions]
    scores: npt.NDArray[np.float64] = BM25Okapi(corpus).get_scores(question.split(" "))
    return scores
