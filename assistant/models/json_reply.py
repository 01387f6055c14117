"""JSON out of what a language model wrote: plain, fenced, between prose, after thinking aloud.

Never a guess: JSON that is cut off or broken is a `ValueError`, whose text can be shown to the
model.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

_THINKING = re.compile(r"<(/?)think(?:ing)?>", re.I)
_FENCED = re.compile(r"```(?:json)?[^\S\n]*\n(.*?)```", re.S | re.I)


def json_object(text: str) -> dict[str, Any]:
    """The one JSON object in a reply: the whole of it, a fenced block, or the first in the text."""
    said = _without_thinking(text).strip()
    if not said:
        raise ValueError("the reply is empty")
    for candidate in _candidates(said):
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
    """The text without what stands between a mark that opens and the next one that closes."""
    kept: list[str] = []
    end, opened = 0, -1
    for mark in _THINKING.finditer(text):
        if not mark[1]:
            opened = mark.start() if opened < 0 else opened
        elif opened >= 0:
            kept.append(text[end:opened])
            end, opened = mark.end(), -1
    return "".join([*kept, text[end:]])


def _candidates(text: str) -> Iterator[str]:
    yield text
    for block in _FENCED.finditer(text):
        yield block[1]


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
