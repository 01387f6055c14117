"""The prompt that reads a question, and the reader of its reply."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from assistant.models.chat_model import Message
from assistant.models.structured import Shape
from assistant.prompts.prompt_file import Prompt, load_prompt
from memory_store import Precision, TimeRange

PROMPT: Prompt = load_prompt("understand_question")
# Nobody asks about days of their own farther away than this.
_LIFETIME = timedelta(days=36525)
_LONGEST_QUERY = 300


@dataclass(frozen=True, slots=True)
class Understood:
    """What a question asks of the memory: the days, where it names any, and its parts."""

    time_range: TimeRange | None = None
    queries: tuple[str, ...] = ()


def question_messages(question: str, today: date, sub_queries: int) -> list[Message]:
    """The instructions, and the question."""
    day = today.strftime("%A, %Y-%m-%d")
    system = PROMPT.render(today=day, queries=str(sub_queries))
    return [Message("system", system), Message("user", question)]


def question_shape(today: date, sub_queries: int) -> Shape[Understood]:
    """The reply. A range that no question can mean is refused like a reply that cannot be read."""

    def read(found: Mapping[str, Any]) -> Understood:
        queries = found.get("queries") or []
        if not isinstance(queries, list) or not all(isinstance(one, str) for one in queries):
            raise ValueError('"queries" must be a list of texts')
        kept = [one.strip()[:_LONGEST_QUERY] for one in queries if one.strip()]
        return Understood(_time_range(found, today), tuple(kept[:sub_queries]))

    return Shape("question", _SCHEMA, read)


def _time_range(found: Mapping[str, Any], today: date) -> TimeRange | None:
    first, last = _day(found.get("first"), "first"), _day(found.get("last"), "last")
    if first is None and last is None:
        return None
    if first and last and first > last:
        raise ValueError('"first" must not be after "last"')
    if any(day and abs(day - today) > _LIFETIME for day in (first, last)):
        raise ValueError("the days are more than a lifetime away")
    precision = Precision.DAY if first == last else Precision.SPAN
    return TimeRange(first, last, precision, "as the model reads it")


def _day(found: Any, name: str) -> date | None:
    if found in (None, ""):
        return None
    try:
        return date.fromisoformat(found)
    except (TypeError, ValueError):
        raise ValueError(f'"{name}" must be a day such as "2023-05-19", or null') from None


_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "first": {"type": ["string", "null"]},
        "last": {"type": ["string", "null"]},
        "queries": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["first", "last", "queries"],
    "additionalProperties": False,
}
