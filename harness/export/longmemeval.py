"""The questions of any data set as LongMemEval instances, and a run's rankings as the retrieval log
of LongMemEval's own scripts.

The log holds every item of the official corpus (user text only): first those the assistant ranked,
in its order, then the rest in file order. Metrics are the official ones over that order.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from harness.datasets.dataset import Dataset
from harness.datasets.files import read_records
from harness.datasets.longmemeval import Instance, date_text, iterate_instances
from harness.datasets.questions import (
    Question,
    Turn,
    official_session_id,
    official_turn_id,
    rounds_of,
)
from harness.datasets.sample import sample_json
from harness.metrics.retrieval_metrics import (
    CUT_OFFS,
    official_figures,
    session_view,
    without_turn,
)


def instances_of(dataset: Dataset, file: Path | None) -> Iterator[Instance]:
    """Every question with its record, in file order; records of the format itself stay as they
    are.
    """
    if dataset.name == "sample":
        return iterate_instances(json.loads(sample_json()), source="sample")
    if dataset.name == "longmemeval" and file is not None:
        return iterate_instances(read_records(file), source=str(file))
    ids = {outline.question_id for outline in dataset.outlines}
    return iterate_instances(map(as_record, dataset.read(ids)), source=dataset.name)


def as_record(question: Question) -> dict[str, Any]:
    """A question in LongMemEval's format, speakers' names beside the roles.

    In that format the id marks an abstention question, and session ids are unique in the whole
    file.
    """
    suffix = "_abs" if question.is_abstention and not question.question_id.endswith("_abs") else ""
    names = {s.session_id: f"{question.history_id}_{s.session_id}" for s in question.sessions}
    return {
        "question_id": question.question_id + suffix,
        "question_type": question.question_type,
        "question": question.question,
        "answer": question.answer,
        "question_date": date_text(question.question_date),
        "haystack_session_ids": [names[s.session_id] for s in question.sessions],
        "haystack_dates": [date_text(s.session_date) for s in question.sessions],
        "haystack_sessions": [
            list(map(_turn_record, session.turns)) for session in question.sessions
        ],
        "answer_session_ids": [names[name] for name in question.evidence_session_ids],
    }


def _turn_record(turn: Turn) -> dict[str, Any]:
    name = {} if turn.name is None else {"name": turn.name}
    return {"role": turn.role, **name, "content": turn.content, "has_answer": turn.has_answer}


Granularity = Literal["session", "turn"]
_COPIED = (
    *("question_id", "question_type", "question", "answer", "question_date"),
    *("haystack_dates", "haystack_sessions", "haystack_session_ids", "answer_session_ids"),
)


class _Item(NamedTuple):
    place: tuple[int, int]
    corpus_id: str
    text: str
    timestamp: str


def log_lines(
    instances: Iterable[Instance],
    retrieval: Mapping[str, Mapping[str, Any]],
    granularity: Granularity,
) -> Iterator[dict[str, Any]]:
    for record, question in instances:
        line = retrieval.get(question.question_id)
        if line is None:
            continue
        dates = record["haystack_dates"]
        corpus = list(
            _sessions(question, dates) if granularity == "session" else _turns(question, dates)
        )
        ranked = _ranked(corpus, _places(line, question, granularity))
        yield {name: record[name] for name in _COPIED} | {
            "retrieval_results": {
                "query": question.question,
                "ranked_items": [
                    {"corpus_id": item.corpus_id, "text": item.text, "timestamp": item.timestamp}
                    for item in ranked
                ],
                "metrics": _metrics([item.corpus_id for item in ranked], granularity),
            }
        }


def _sessions(question: Question, dates: Sequence[str]) -> Iterator[_Item]:
    for session in question.sessions:
        name = official_session_id(session)
        if name is not None:
            said = " ".join(turn.content for turn in session.turns if turn.role == "user")
            yield _Item((session.position, 0), name, said, dates[session.position])


def _turns(question: Question, dates: Sequence[str]) -> Iterator[_Item]:
    for session in question.sessions:
        for i, turn in enumerate(session.turns):
            name = official_turn_id(session, i)
            if name is not None:
                yield _Item((session.position, i), name, turn.content, dates[session.position])


def _places(
    line: Mapping[str, Any], question: Question, granularity: Granularity
) -> list[tuple[int, int]]:
    if granularity == "session":
        return [(item["position"], 0) for item in line["ranked_sessions"]]
    sessions = {session.position: session for session in question.sessions}
    places = []
    for item in line["ranked_rounds"]:
        position, index = item["position"], item["round_index"]
        if index >= 0:  # a source may tell no round
            places.append((position, rounds_of(sessions[position].turns)[index].turns[0]))
    return places


def _ranked(corpus: Sequence[_Item], places: Sequence[tuple[int, int]]) -> list[_Item]:
    by_place = {item.place: item for item in corpus}
    # A round without user text is in no official corpus.
    first = [by_place[place] for place in dict.fromkeys(places) if place in by_place]
    taken = {item.place for item in first}
    return [*first, *(item for item in corpus if item.place not in taken)]


def _metrics(ranked: list[str], granularity: Granularity) -> dict[str, dict[str, float]]:
    targets = [name for name in ranked if "answer" in name]
    own = _figures(ranked, targets, {k: k for k in CUT_OFFS})
    if granularity == "session":
        return {"session": own, "turn": {}}
    views = {k: session_view(ranked, k) for k in CUT_OFFS}
    sessions = [without_turn(name) for name in ranked]
    as_sessions = _figures(
        sessions, [without_turn(name) for name in targets], {k: v.k for k, v in views.items()}
    )
    return {"session": as_sessions, "turn": own}


def _figures(
    ranked: Sequence[str], targets: Sequence[str], depths: Mapping[int, int]
) -> dict[str, float]:
    return {
        name.replace("ndcg@", "ndcg_any@").removesuffix("[longmemeval]"): value
        for name, value in official_figures(ranked, targets, depths).items()
    }
