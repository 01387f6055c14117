"""Replies of a known shape. The model is asked for a schema where it takes one, else for a JSON
object. The reply is read tolerantly, and the model gets one turn to repair it.

Which of the formats a model takes is found out by asking (see `LitellmModel`).
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from assistant.models.chat_model import Message, ModelReply

_THINKING = re.compile(r"<(/?)think(?:ing)?>", re.I)
_FENCED = re.compile(r"```(?:json)?[^\S\n]*\n(.*?)```", re.S | re.I)


def json_object(text: str) -> dict[str, Any]:
    """The one JSON object in a reply: the whole of it, a fenced block, or the first in the text."""
    said = _without_thinking(text).strip()
    if not said:
        raise ValueError("the reply is empty")
    for candidate in (said, *(block[1] for block in _FENCED.finditer(said))):
        try:
            found = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return found
    if (found := _first_object(said)) is not None:
        return found
    begun = "{" in said
    raise ValueError("the JSON is cut off or broken" if begun else "the reply holds no JSON object")


def _without_thinking(text: str) -> str:
    """The text without what stands between an opening tag of thinking and the next closing one."""
    kept: list[str] = []
    end, opened = 0, -1
    for mark in _THINKING.finditer(text):
        if not mark[1]:
            opened = mark.start() if opened < 0 else opened
        elif opened >= 0:
            kept.append(text[end:opened])
            end, opened = mark.end(), -1
    return "".join([*kept, text[end:]])


def _first_object(text: str) -> dict[str, Any] | None:
    """The outermost object that begins first; an object within broken JSON does not count."""
    start = text.find("{")
    if start < 0:
        return None
    try:
        found, _ = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


_T = TypeVar("_T")
_SHOWN = 2000


@dataclass(frozen=True, slots=True)
class Shape(Generic[_T]):
    """What a reply must look like: a name, a JSON schema (strict), and the reader of the object.

    `read` raises `ValueError` with a text that the model can act on.
    """

    name: str
    schema: Mapping[str, Any]
    read: Callable[[Mapping[str, Any]], _T]

    @property
    def response_format(self) -> dict[str, Any]:
        schema = {"name": self.name, "strict": True, "schema": dict(self.schema)}
        return {"type": "json_schema", "json_schema": schema}

    def parse(self, reply: ModelReply) -> _T:
        """The value in a reply. Raises `ValueError`."""
        if reply.finish_reason == "length":
            raise ValueError("the reply was cut off because it was too long: be briefer")
        return self.read(json_object(reply.text))


def repair(messages: Sequence[Message], reply: ModelReply, why: ValueError) -> list[Message]:
    """The conversation that asks for the same reply again, in a form that can be read."""
    ask = f"That could not be read: {why}. Reply again with nothing but the JSON object."
    said = [Message("assistant", reply.text[:_SHOWN])] if reply.text.strip() else []
    return [*messages, *said, Message("user", ask)]
