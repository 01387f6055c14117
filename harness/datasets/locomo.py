"""LoCoMo files: ten long conversations of two people, and questions about them.

The layout is that of snap-research/locomo. The questions of one conversation share its history.
Neither speaker is an assistant: every turn is told as a user's with the speaker's name, the caption
of a picture beside the words. The search query of a picture is left out, it gives answers away.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from harness.datasets.golds import GoldCorrection
from harness.datasets.questions import LOCOMO_CATEGORIES, HaystackSession, Question, Turn
from harness.errors import DatasetError
from harness.text import encodable

ADVERSARIAL = LOCOMO_CATEGORIES[5]
# The reference answer of a question that has none.
NOT_MENTIONED = "Not mentioned in the conversation"
_SESSION = re.compile(r"session_(\d+)")
_DATE = re.compile(r"(\d{1,2}):(\d{2})\s*([ap])m on (\d{1,2}) (\w+), (\d{4})", re.IGNORECASE)
_MONTHS = (
    "january february march april may june july august september october november december".split()
)
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
        """Just after the last turn: when its questions are asked."""
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
        for index, qa in enumerate(_list(sample.get("qa"), f"{where}: qa")):
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
    """The sessions that are there; dates without a session are passed over."""
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
    """Turn ids in evidence as it stands in the files: lists in one string, stray colons, zeros."""
    found = (match for text in evidence for match in _TURN_ID.finditer(text))
    return list(dict.fromkeys(f"D{int(match[1])}:{int(match[2])}" for match in found))


def with_caption(text: str, caption: Any) -> str:
    """A turn's words with what its picture shows."""
    return f"{text} [shares a picture: {caption}]".strip() if caption else text


def labelled(conversation: LocomoConversation, ids: Collection[str]) -> tuple[HaystackSession, ...]:
    """The sessions with these turns marked as evidence; the others are shared, not copied."""
    marked: dict[int, set[int]] = {}
    for name in ids:
        position, turn = conversation.places[name]
        marked.setdefault(position, set()).add(turn)
    return tuple(
        _marked(session, marked[session.position]) if session.position in marked else session
        for session in conversation.sessions
    )


def _marked(session: HaystackSession, turns: set[int]) -> HaystackSession:
    marked = (replace(t, has_answer=i in turns) for i, t in enumerate(session.turns))
    return replace(session, turns=tuple(marked))


def _turn(value: Any, where: str) -> Turn:
    if not isinstance(value, dict):
        raise DatasetError(f"{where}: expected a turn object, found {type(value).__name__}")
    for field in ("speaker", "dia_id", "text"):
        if not isinstance(value.get(field), str):
            raise DatasetError(f"{where}: {field}: expected text, found {value.get(field)!r}")
    text = with_caption(value["text"], value.get("blip_caption"))
    return Turn("user", encodable(text), name=value["speaker"], turn_id=value["dia_id"])


def _places(sessions: Iterable[HaystackSession]) -> dict[str, tuple[int, int]]:
    return dict(_named_places(sessions))


def _named_places(
    sessions: Iterable[HaystackSession],
) -> Iterator[tuple[str, tuple[int, int]]]:
    for session in sessions:
        for i, turn in enumerate(session.turns):
            for name in turn_ids([turn.turn_id or ""]):
                yield name, (session.position, i)


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise DatasetError(f"{where}: expected a list, found {type(value).__name__}")
    return value


class _Question:
    """One question as it stands in the file, with the context an error message needs."""

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
        sessions = labelled(self._conversation, ids)
        found = [self._conversation.places[name][0] for name in ids]
        trap = self._qa.get("adversarial_answer")
        return Question(
            question_id=question_id,
            question_type=category,
            question=self._text("question"),
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
        return tuple(str(item) for item in _list(self._qa.get("evidence", []), self._where))

    def _text(self, field: str) -> str:
        value = self._qa.get(field)
        if not isinstance(value, str):
            raise self._error(field, f"expected text, found {type(value).__name__}")
        return encodable(value)

    def _error(self, field: str, problem: str) -> DatasetError:
        return DatasetError(f"{self._where}: {field}: {problem}")
