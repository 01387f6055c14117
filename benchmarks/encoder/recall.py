"""Recall inside the product's fusion, in this process. It is measured on data sets of the harness
that label their evidence, and on examples that nothing is trained on."""

import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from assistant.chat.turns import Role, Turn, add_turns
from benchmarks.encoder.examples import Example
from harness.datasets.dataset import Dataset
from harness.datasets.questions import Question, evidence_rounds
from memory_store import (
    MemoryStore,
    Query,
    RecallSettings,
    Round,
)
from memory_store.embedding import Embedder
from memory_store.engines import EdgeEngine
from memory_store.language import ENGLISH

_USER = "someone"
_SLICE = 256
_DEPTH = 200
_BESIDE = 12
_NOT_FOUND = 1_000_000
_STEP = timedelta(seconds=1)
_SAID_ON = datetime(2025, 1, 1, tzinfo=UTC)


class EvidencePlace(NamedTuple):
    """The rank, from 1, at which the last piece of a question's evidence was found."""

    question_type: str
    rounds: int
    sessions: int


async def recall_of(
    dataset: Dataset, embedder: Embedder, settings: RecallSettings
) -> AsyncIterator[EvidencePlace]:
    """Ask every answerable question with labelled evidence of its own history."""
    for group in dataset.histories([one.question_id for one in dataset.outlines]):
        with tempfile.TemporaryDirectory() as folder:
            engine = EdgeEngine(Path(folder))
            store = MemoryStore(engine, embedder, settings)
            await store.open()
            rounds = list(_rounds(group[0]))
            for start in range(0, len(rounds), _SLICE):
                await store.remember(rounds[start : start + _SLICE])
            for question in _with_evidence(group):
                yield await _found(question, store)
            await engine.close()


def _with_evidence(questions: Sequence[Question]) -> Iterator[Question]:
    return (one for one in questions if not one.is_abstention and evidence_rounds(one))


def _rounds(question: Question) -> Iterator[Round]:
    for session in question.sessions_by_date():
        began = session.session_date.replace(tzinfo=UTC)
        turns = [
            Turn(Role(turn.role), turn.content, began + n * _STEP, name=turn.name, caller_id=str(n))
            for n, turn in enumerate(session.turns)
        ]
        yield from add_turns([], turns, user_id=_USER, session_id=str(session.position))


async def _found(question: Question, store: MemoryStore) -> EvidencePlace:
    asked_on = question.question_date.date()
    recall = await store.recall(Query(_USER, question.question, _DEPTH, asked_on=asked_on))
    rounds = [one.record.round for one in recall.rounds]
    return _placed(question, rounds, [one.session_id for one in recall.sessions])


def _placed(question: Question, rounds: Sequence[Round], sessions: Sequence[str]) -> EvidencePlace:
    """The place of the evidence in these rankings, whose best items come first."""
    ids = {str(session.position): session.session_id for session in question.sessions}
    places = [(int(round.session_id), round.round_index) for round in rounds]
    return EvidencePlace(
        question.question_type,
        _last(places, evidence_rounds(question)),
        _last([ids[one] for one in sessions], question.evidence_session_ids),
    )


def latest(dataset: Dataset) -> Iterator[EvidencePlace]:
    """The places of the evidence if the latest rounds come first, as in a window of the latest
    sessions."""
    for group in dataset.histories([one.question_id for one in dataset.outlines]):
        for question in _with_evidence(group):
            rounds = [*_rounds(question)][::-1]
            yield _placed(question, rounds, [one.session_id for one in rounds])


async def closest(
    examples: Sequence[Example], embedder: Embedder, settings: RecallSettings
) -> AsyncIterator[float]:
    """The closeness of each example's question to the closest sentence among its own messages and
    those of the next examples, about fifty messages as of one person."""
    told = [[*one.positives, *one.negatives] for one in examples]
    with tempfile.TemporaryDirectory() as folder:
        engine = EdgeEngine(Path(folder))
        store = MemoryStore(engine, embedder, settings)
        await store.open()
        for place, one in enumerate(examples):
            around = [*told, *told][place : place + _BESIDE]
            sentences = [s for each in around for text in each for s in ENGLISH.sentences(text)]
            yield max(await store.closeness(one.question, sentences))
        await engine.close()


def _last(ranked: Sequence[object], wanted: Sequence[object]) -> int:
    """The rank of the last wanted item; a very large number if one is missing."""
    places = {one: place for place, one in enumerate(dict.fromkeys(ranked), start=1)}
    return max((places.get(one, _NOT_FOUND) for one in wanted), default=_NOT_FOUND)


async def of_examples(
    examples: Sequence[Example], embedder: Embedder, settings: RecallSettings
) -> AsyncIterator[EvidencePlace]:
    """Ask each example's question of a memory with the messages of all examples, each in a session
    of its own."""
    messages = list(
        dict.fromkeys(text for one in examples for text in one.positives + one.negatives)
    )
    places = {text: n for n, text in enumerate(messages)}
    with tempfile.TemporaryDirectory() as folder:
        engine = EdgeEngine(Path(folder))
        store = MemoryStore(engine, embedder, settings)
        await store.open()
        rounds = [
            Round(_USER, str(n), 0, _SAID_ON + n * _STEP, text, "") for text, n in places.items()
        ]
        for start in range(0, len(rounds), _SLICE):
            await store.remember(rounds[start : start + _SLICE])
        for one in examples:
            recall = await store.recall(Query(_USER, one.question, _DEPTH))
            ranked = [int(found.record.round.session_id) for found in recall.rounds]
            place = _last(ranked, [places[text] for text in one.positives])
            yield EvidencePlace(one.kind, place, place)
        await engine.close()
