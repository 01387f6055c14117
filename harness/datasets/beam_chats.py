"""BEAM chats: one long history of dated batches, and twenty questions about it in ten abilities.

The layout is that of mohammadtavakoli78/BEAM (arXiv 2510.27246). A batch becomes a session; where
a message in it names another day, a new session begins. A message names its day in `time_anchor`.
It ends with a reference to the plan that it was written from, which is cut off.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from harness.datasets.files import require_list, require_text
from harness.datasets.questions import (
    BEAM_ABILITIES,
    BEAM_ABSTENTION,
    HaystackSession,
    Question,
    Role,
    Turn,
    with_evidence,
)
from harness.errors import DatasetError
from harness.text import encodable

Record = Mapping[str, Any]
Place = tuple[int, int]
_PLAN_REFERENCE = re.compile(r"\s*->->[\s\d,.()/NA]*$")
_MONTHS = (
    "january february march april may june july august september october november december".split()
)
_NAMED_DAY = re.compile(r"([A-Za-z]{3,9})[-\s]+(\d{1,2})(?:st|nd|rd|th)?[-,\s]+(\d{4})")
_NUMBERED_DAY = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
# When the first session of a day begins, and the pause before the next one on that day.
_MORNING = timedelta(hours=9)
_PAUSE = timedelta(minutes=1)
_ANSWERS = ("answer", "ideal_answer", "ideal_response", "ideal_summary", "expected_compliance")


@dataclass(frozen=True, slots=True)
class BeamChat:
    """One chat; `places` maps each message id that is not repeated to its session and turn."""

    name: str
    sessions: tuple[HaystackSession, ...]
    places: Mapping[str, Place]

    @property
    def ended(self) -> datetime:
        """When the questions are asked: just after the last message of the last day."""
        last = max(self.sessions, key=lambda session: session.session_date)
        return last.session_date + timedelta(seconds=len(last.turns))


def questions_of(record: Record, where: str) -> list[Question]:
    """All questions of one chat, in the order of the abilities in the file; `where` opens every
    error message.

    Raises `DatasetError` naming chat and field.
    """
    name = chat_name(record)
    where = f"{where} ({name})"
    chat = parse_chat(record.get("chat"), name, where)
    found = []
    for ability, asked in _probing(record.get("probing_questions"), where).items():
        if ability not in BEAM_ABILITIES:
            raise DatasetError(f"{where}: unknown ability {ability!r}")
        for number, question in enumerate(require_list(asked, f"{where}: {ability}")):
            found.append(_question(question, f"{name}#{ability}-{number}", ability, chat, where))
    return found


def chat_name(record: Record) -> str:
    """Size and number of a chat: `100K-1`."""
    number = record.get("chat_id", record.get("conversation_id", "?"))
    size = record.get("size")
    return f"{size}-{number}" if size else f"chat-{number}"


def parse_chat(value: Any, name: str, where: str) -> BeamChat:
    """Return the chat with dated sessions; a batch before the first named day gets that day."""
    told = [batch for batch in _batches(value, where) if batch.messages]
    days = [batch.day for batch in told if batch.day is not None]
    if not days:
        raise DatasetError(f"{where}: no message says its day (time_anchor)")
    sessions: list[HaystackSession] = []
    day = days[0]
    for batch in told:
        day = batch.day or day
        begins = day + _MORNING
        if sessions and sessions[-1].session_date.date() == day.date():
            last = sessions[-1]
            begins = last.session_date + timedelta(seconds=len(last.turns)) + _PAUSE
        turns = tuple(batch.messages)
        sessions.append(HaystackSession(len(sessions), batch.name, begins, turns))
    return BeamChat(name, tuple(sessions), _places(sessions))


@dataclass(slots=True)
class _Batch:
    name: str
    day: datetime | None
    messages: list[Turn]


def _batches(value: Any, where: str) -> Iterator[_Batch]:
    """Batches in order, cut where another day begins; 10M chats hold them inside plans."""
    for number, item in enumerate(require_list(value, f"{where}: chat"), start=1):
        if not isinstance(item, dict):
            raise DatasetError(f"{where}: batch {number}: expected an object, found {item!r:.80}")
        if "turns" in item:
            name = f"batch_{item.get('batch_number', number)}"
            yield from _days_of(item, name, f"{where}: {name}")
            continue
        for plan, batches in item.items():
            for place, batch in enumerate(require_list(batches, f"{where}: {plan}"), start=1):
                if not isinstance(batch, dict):
                    raise DatasetError(f"{where}: {plan}: expected batches, found {batch!r:.80}")
                name = f"{plan}_batch_{batch.get('batch_number', place)}"
                yield from _days_of(batch, name, f"{where}: {name}")


def _days_of(batch: Record, name: str, where: str) -> Iterator[_Batch]:
    day = _day(batch.get("time_anchor"), where)
    parts = [_Batch(name, day, [])]
    for exchange in require_list(batch.get("turns"), f"{where}: turns"):
        for message in require_list(exchange, f"{where}: turns"):
            if not isinstance(message, dict):
                raise DatasetError(f"{where}: expected a message object, found {message!r:.80}")
            named = _day(message.get("time_anchor"), where)
            part = parts[-1]
            if named is not None and part.day is not None and named != part.day and part.messages:
                part = _Batch(f"{name}_{len(parts) + 1}", named, [])
                parts.append(part)
            part.day = named or part.day
            part.messages.append(_turn(message, where))
    yield from parts


def _turn(message: Record, where: str) -> Turn:
    role, content = message.get("role"), message.get("content")
    if role not in ("user", "assistant"):
        raise DatasetError(f"{where}: role: expected user or assistant, found {role!r}")
    if not isinstance(content, str):
        raise DatasetError(f"{where}: content: expected text, found {type(content).__name__}")
    said: Role = "user" if role == "user" else "assistant"
    number = message.get("id")
    turn_id = None if number is None else str(number)
    return Turn(said, encodable(_PLAN_REFERENCE.sub("", content)), turn_id=turn_id)


def _day(value: Any, where: str) -> datetime | None:
    if value is None or value == "":
        return None
    text = str(value)
    try:
        if match := _NAMED_DAY.search(text):
            names = [month[: len(match[1])] for month in _MONTHS]
            month = names.index(match[1].lower()) + 1
            return datetime(int(match[3]), month, int(match[2]), tzinfo=UTC)
        if match := _NUMBERED_DAY.search(text):
            return datetime(int(match[1]), int(match[2]), int(match[3]), tzinfo=UTC)
    except ValueError:
        pass
    raise DatasetError(f"{where}: time_anchor: expected a day like March-15-2024, found {value!r}")


def _places(sessions: list[HaystackSession]) -> dict[str, Place]:
    places: dict[str, Place] = {}
    repeated: set[str] = set()
    for session in sessions:
        for i, turn in enumerate(session.turns):
            if turn.turn_id in places:
                repeated.add(turn.turn_id)
            if turn.turn_id is not None:
                places[turn.turn_id] = (session.position, i)
    # An id that several messages share identifies none of them.
    return {name: place for name, place in places.items() if name not in repeated}


def _question(value: Any, question_id: str, ability: str, chat: BeamChat, where: str) -> Question:
    where = f"{where}: {question_id}"
    if not isinstance(value, dict):
        raise DatasetError(f"{where}: expected a question object, found {type(value).__name__}")
    evidence = tuple(_message_ids(value.get("source_chat_ids")))
    known = {name: chat.places[name] for name in evidence if name in chat.places}
    sessions = with_evidence(chat.sessions, set(known.values()))
    positions = dict.fromkeys(position for position, _ in known.values())
    rubric = require_list(value.get("rubric"), f"{where}: rubric")
    if not rubric:
        raise DatasetError(f"{where}: rubric: an empty list")
    return Question(
        question_id=question_id,
        question_type=ability,
        question=require_text(value.get("question"), f"{where}: question"),
        answer=require_text(
            next((value[n] for n in _ANSWERS if n in value), None), f"{where}: answer"
        ),
        answer_is_number=False,
        question_date=chat.ended,
        sessions=sessions,
        evidence_session_ids=tuple(sessions[position].session_id for position in positions),
        is_abstention=ability == BEAM_ABSTENTION,
        shared_history=chat.name,
        evidence_ids=evidence,
        rubric=tuple(encodable(str(item)) for item in rubric),
    )


def _message_ids(value: Any) -> Iterator[str]:
    """The ids in a single value, a list, or an object of lists (by kind of evidence); each once."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        yield from dict.fromkeys(name for item in value for name in _message_ids(item))
    elif isinstance(value, int | str) and str(value).strip():
        yield str(value).strip()


def _probing(value: Any, where: str) -> dict[str, Any]:
    """The questions by ability; rows of the Hugging Face hub hold them as a Python literal."""
    if isinstance(value, str):
        try:
            value = ast.literal_eval(value)
        except (ValueError, SyntaxError) as error:
            raise DatasetError(f"{where}: probing_questions cannot be read ({error})") from error
    if not isinstance(value, dict):
        raise DatasetError(f"{where}: probing_questions: expected an object by ability")
    return value
