"""What a model replied, read strictly: the wanted thing, or `Unusable` with the reason."""

import json
import re
from collections.abc import Callable
from typing import Any

from harness.authoring.checks import holds
from harness.authoring.draft import Asked
from harness.judges.rubrics import YES_NO, parse_verdict

_OBJECT = re.compile(r"\{.*\}", re.DOTALL)
_LONGEST = 4000


class Unusable(Exception):
    """A reply is not what was asked for; its text says why, to the model."""


def text_of(said: str) -> str:
    """A text that is neither empty nor endless."""
    text = said.strip()
    if not text or len(text) > _LONGEST:
        raise Unusable("it is empty" if not text else f"it is longer than {_LONGEST} characters")
    return text


def telling(statement: str) -> Callable[[str], str]:
    """A reader of messages that must hold a statement's words."""

    def read(said: str) -> str:
        text = text_of(said)
        if not holds(text, statement):
            raise Unusable(f"it does not say this in its words: {statement}")
        return text

    return read


def question_of(said: str) -> Asked:
    """A question and its answer."""
    found = _json(said)
    question, answer = found.get("question"), found.get("answer")
    if isinstance(answer, int | float) and not isinstance(answer, bool):
        answer = str(answer)
    if not isinstance(question, str) or not isinstance(answer, str):
        raise Unusable("question and answer must be texts")
    return Asked(text_of(question), text_of(answer))


def statements_of(said: str, wanted: int) -> tuple[str, ...]:
    """So many statements."""
    found = _json(said).get("statements")
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise Unusable("statements must be a list of texts")
    if len(found) != wanted:
        raise Unusable(f"{len(found)} statements, {wanted} are wanted")
    return tuple(map(text_of, found))


def verdict_of(said: str) -> str:
    """`yes` or `no`."""
    verdict = parse_verdict(said, YES_NO)
    if verdict is None:
        raise Unusable("say yes or no")
    return verdict


def _json(said: str) -> dict[str, Any]:
    match = _OBJECT.search(said)
    try:
        found = json.loads(match[0]) if match else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Unusable("it holds no JSON object")
    return found
