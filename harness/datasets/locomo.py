"""LoCoMo files: ten long conversations of two people, and questions about them.

The layout is that of snap-research/locomo. The questions of one conversation share its history.
Neither speaker is an assistant: every turn is told as a user's with the speaker's name, the caption
of a picture beside the words. The search query of a picture is left out: it gives answers away.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

from harness.datasets import refined
from harness.datasets.benchmark import (
    Answered,
    Benchmark,
    Given,
    KnownFile,
    OfficialFormat,
    OfficialMetrics,
    RubricRules,
    or_abstention,
)
from harness.datasets.dataset import ContentHash, Dataset, held, size_of
from harness.datasets.files import read_records, require_list, require_text, sha256_of
from harness.datasets.golds import GoldCorrection, read_corrections, require_known
from harness.datasets.locomo_scores import locomo_scores
from harness.datasets.questions import (
    LOCOMO_CATEGORIES,
    HaystackSession,
    Question,
    Turn,
    with_evidence,
)
from harness.errors import DatasetError, UsageError
from harness.records.schema import GoldRecord
from harness.text import encodable

ADVERSARIAL = LOCOMO_CATEGORIES[5]
# The reference answer of a question that has none.
NOT_MENTIONED = "Not mentioned in the conversation"
_SESSION = re.compile(r"session_(\d+)")
_DATE = re.compile(r"(\d{1,2}):(\d{2})\s*([ap])m on (\d{1,2}) (\w+), (\d{4})", re.IGNORECASE)
_MONTHS = (
    "january february march april may june july august september october november december".split()
)
_NUMBERS = {name: number for number, name in LOCOMO_CATEGORIES.items()}
_LOCOMO = "https://raw.githubusercontent.com/snap-research/locomo/main/data"
_TURN_ID = re.compile(r"D:?(\d+):(\d+)")

Corrections = Mapping[str, GoldCorrection]


@dataclass(frozen=True, slots=True)
class LocomoConversation:
    """One sample of a file; `places` tells session position and turn of every turn id."""

    sample_id: str
    speakers: tuple[str, ...]
    sessions: tuple[HaystackSession, ...]
    places: Mapping[str, tuple[int, int]]

    @property
    def ended(self) -> datetime:
        """When the questions are asked: just after the last turn."""
        last = self.sessions[-1]
        return last.session_date + timedelta(seconds=len(last.turns))


def parse_locomo(
    samples: Iterable[dict[str, Any]], *, source: str, corrections: Corrections | None = None
) -> list[Question]:
    """All questions in file order; `source` opens every error message.

    Raises `DatasetError` naming sample and field.
    """
    questions: list[Question] = []
    known: set[str] = set()
    for number, sample in enumerate(samples):
        where = f"{source}: sample {number}"
        sample_id = str(sample.get("sample_id") or f"conversation-{number}")
        if sample_id in known:
            raise DatasetError(f"{where}: sample_id {sample_id!r} occurs twice")
        known.add(sample_id)
        conversation = parse_conversation(sample, sample_id, where)
        for index, qa in enumerate(require_list(sample.get("qa"), f"{where}: qa")):
            question_id = _question_id(qa, sample_id, index)
            correction = (corrections or {}).get(question_id)
            reader = _Question(qa, f"{where} ({question_id!r})", conversation, correction)
            questions.append(reader.question(question_id))
    if not questions:
        raise DatasetError(f"{source}: holds no questions")
    return questions


def question_name(sample_id: str, index: int) -> str:
    """The id of a question by its place in the sample, as LoCoMo-Refined writes them."""
    return f"{sample_id}#q{index:04d}"


def _question_id(qa: Any, sample_id: str, index: int) -> str:
    named = qa.get("qa_id") if isinstance(qa, dict) else None
    return named if isinstance(named, str) else question_name(sample_id, index)


def parse_conversation(sample: Mapping[str, Any], sample_id: str, where: str) -> LocomoConversation:
    """Return the conversation's sessions; dates without a session are skipped."""
    # An older release holds one conversation a file, its keys at the top.
    content = sample.get("conversation", sample)
    if not isinstance(content, Mapping):
        found = type(content).__name__
        raise DatasetError(f"{where}: conversation: expected an object, found {found}")
    numbers = sorted(
        int(match[1])
        for key, value in content.items()
        if (match := _SESSION.fullmatch(key)) and isinstance(value, list)
    )
    sessions = []
    for position, number in enumerate(numbers):
        field = f"{where}: session_{number}"
        turns = tuple(_turn(turn, field) for turn in content[f"session_{number}"])
        date = parse_date(content.get(f"session_{number}_date_time"), f"{field}_date_time")
        sessions.append(HaystackSession(position, f"session_{number}", date, turns))
    if not sessions:
        raise DatasetError(f"{where}: holds no sessions")
    speakers = tuple(str(content[key]) for key in ("speaker_a", "speaker_b") if key in content)
    return LocomoConversation(sample_id, speakers, tuple(sessions), _places(sessions))


def parse_date(value: Any, where: str) -> datetime:
    """A moment like `1:56 pm on 8 May, 2023`, read without the machine's locale."""
    match = _DATE.fullmatch(value.strip()) if isinstance(value, str) else None
    try:
        if match:
            hour, minute, half, day, month, year = match.groups()
            hours = int(hour) % 12 + (12 if half.lower() == "p" else 0)
            number = _MONTHS.index(month.lower()) + 1
            return datetime(int(year), number, int(day), hours, int(minute), tzinfo=UTC)
    except ValueError:
        pass
    raise DatasetError(f"{where}: expected a date like 1:56 pm on 8 May, 2023, found {value!r}")


def turn_ids(evidence: Iterable[str]) -> list[str]:
    """The turn ids in evidence texts, which hold lists, stray colons and leading zeros."""
    found = (match for text in evidence for match in _TURN_ID.finditer(text))
    return list(dict.fromkeys(f"D{int(match[1])}:{int(match[2])}" for match in found))


def with_caption(text: str, caption: Any) -> str:
    return f"{text} [shares a picture: {caption}]".strip() if caption else text


def _turn(value: Any, where: str) -> Turn:
    if not isinstance(value, dict):
        raise DatasetError(f"{where}: expected a turn object, found {type(value).__name__}")
    for field in ("speaker", "dia_id", "text"):
        if not isinstance(value.get(field), str):
            raise DatasetError(f"{where}: {field}: expected text, found {value.get(field)!r}")
    text = with_caption(value["text"], value.get("blip_caption"))
    return Turn("user", encodable(text), name=value["speaker"], turn_id=value["dia_id"])


def _places(sessions: Iterable[HaystackSession]) -> dict[str, tuple[int, int]]:
    return {
        name: (session.position, i)
        for session in sessions
        for i, turn in enumerate(session.turns)
        for name in turn_ids([turn.turn_id or ""])
    }


class _Question:
    def __init__(
        self,
        qa: Any,
        where: str,
        conversation: LocomoConversation,
        correction: GoldCorrection | None,
    ) -> None:
        if not isinstance(qa, dict):
            raise DatasetError(f"{where}: expected a question object, found {type(qa).__name__}")
        self._qa = qa
        self._where = where
        self._conversation = conversation
        self._correction = correction

    def question(self, question_id: str) -> Question:
        category = self._category()
        answers = self._answers(category)
        evidence = self._evidence()
        ids = [name for name in turn_ids(evidence) if name in self._conversation.places]
        sessions = with_evidence(
            self._conversation.sessions, {self._conversation.places[name] for name in ids}
        )
        found = [self._conversation.places[name][0] for name in ids]
        trap = self._qa.get("adversarial_answer")
        return Question(
            question_id=question_id,
            question_type=category,
            question=require_text(self._qa.get("question"), f"{self._where}: question"),
            answer=str(answers[0]),
            answer_is_number=not isinstance(answers[0], str),
            question_date=self._conversation.ended,
            sessions=sessions,
            evidence_session_ids=tuple(
                sessions[position].session_id for position in dict.fromkeys(found)
            ),
            is_abstention=category == ADVERSARIAL,
            shared_history=self._conversation.sample_id,
            alternatives=tuple(str(answer) for answer in answers[1:]),
            trap=None if trap is None else encodable(str(trap)),
            evidence_ids=evidence,
        )

    def _category(self) -> str:
        try:
            return LOCOMO_CATEGORIES[int(self._qa.get("category", ""))]
        except (ValueError, TypeError, KeyError):
            found = self._qa.get("category")
            raise self._error("category", f"expected 1 to 5, found {found!r}") from None

    def _answers(self, category: str) -> list[str | int | float]:
        if self._correction and self._correction.answers:
            return list(self._correction.answers)
        value = self._qa.get("answer")
        if value is None and category == ADVERSARIAL:
            return [NOT_MENTIONED]
        answers = value if isinstance(value, list) else [value]
        if not answers:
            raise self._error("answer", "an empty list")
        return [self._answer(item) for item in answers]

    def _answer(self, value: Any) -> str | int | float:
        if isinstance(value, str):
            return encodable(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return value
        raise self._error("answer", f"expected text, a number or a list, found {value!r}")

    def _evidence(self) -> tuple[str, ...]:
        if self._correction and self._correction.evidence is not None:
            return self._correction.evidence
        return tuple(str(item) for item in require_list(self._qa.get("evidence", []), self._where))

    def _error(self, field: str, problem: str) -> DatasetError:
        return DatasetError(f"{self._where}: {field}: {problem}")


def open_locomo(given: Given) -> Dataset:
    file, gold_file = given.path, given.gold
    corrections = {} if gold_file is None else read_corrections(gold_file)
    samples = _samples(file)
    if samples is None:
        if gold_file is not None:
            raise UsageError("--gold needs the file with the conversations")
        return _questions_alone(given.name, file)
    questions = parse_locomo(samples, source=str(file), corrections=corrections)
    gold = None
    if gold_file is not None:
        ids = (question.question_id for question in questions)
        changed = require_known(corrections, ids, gold_file)
        gold = GoldRecord(file=gold_file.name, sha256=sha256_of(gold_file), changed=changed)
    fingerprint = ContentHash.of_file(file)
    return held(given.name, file, size_of(file), fingerprint, questions, gold)


def _samples(file: Path) -> Iterator[dict[str, Any]] | None:
    records = read_records(file)
    first = next(records, None)
    if first is None:
        raise DatasetError(f"{file}: holds no questions")
    if not refined.is_public(first):
        return chain([first], records)
    conversations = file.with_name(refined.CONVERSATIONS)
    return refined.samples_of([first, *records], conversations) if conversations.exists() else None


def _questions_alone(name: str, file: Path) -> Dataset:
    def read(ids: Collection[str]) -> Iterator[Question]:
        raise UsageError(
            f"{file} holds questions without their conversations: they can be judged, not "
            f"replayed; put {refined.CONVERSATIONS} beside it, or use locomo_refined.json"
        )

    outlines = refined.digests_of(read_records(file), str(file))
    return Dataset(name, file.name, size_of(file), ContentHash.of_file(file), outlines, read)


def _exported(run: Answered) -> list[dict[str, Any]]:
    """The questions of each conversation, with prediction and retrieved turns under the run's name.

    The scorer needs an `answer` everywhere, so an adversarial question gets its trap as one.
    """
    samples: dict[str, list[dict[str, Any]]] = {}
    for question in run.questions:
        line = run.hypotheses.get(question.question_id, {})
        ranked = run.retrieval.get(question.question_id, {}).get("ranked_rounds", ())
        qa = {
            "question": question.question,
            "answer": question.trap or question.answer,
            "evidence": list(question.evidence_ids),
            "category": _NUMBERS[question.question_type],
            f"{run.name}_prediction": line.get("hypothesis", ""),
            f"{run.name}_prediction_context": [
                t for item in ranked for t in item.get("turn_ids", ())
            ],
        }
        samples.setdefault(question.history_id, []).append(qa)
    return [{"sample_id": sample_id, "qa": qas} for sample_id, qas in samples.items()]


LOCOMO_RUBRIC = RubricRules(
    "locomo",
    1,
    ("lenient", "abstention"),
    or_abstention("lenient", "abstention"),
    ours=("abstention",),
)
LOCOMO = Benchmark(
    "locomo",
    open_locomo,
    takes_gold=True,
    is_compiled=True,
    rubrics=(LOCOMO_RUBRIC,),
    metrics=OfficialMetrics(
        "locomo", ("f1",), locomo_scores, frozenset(LOCOMO_CATEGORIES.values())
    ),
    exports=(
        OfficialFormat("locomo", _exported, "LoCoMo", LOCOMO_CATEGORIES.values(), written="whole"),
    ),
    files=(
        KnownFile(
            key="locomo",
            dataset="locomo",
            edition="ten conversations",
            file="locomo10.json",
            url=f"{_LOCOMO}/locomo10.json",
            licence="CC BY-NC 4.0",
            sha256="79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4",
            size=2_805_274,
        ),
    ),
)
LOCOMO_REFINED = Benchmark(
    "locomo-refined",
    open_locomo,
    takes_gold=True,
    is_compiled=True,
    rubrics=refined.RUBRICS,
    metrics=refined.METRICS,
    exports=refined.EXPORTS,
    files=refined.FILES,
)
