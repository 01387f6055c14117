"""The sources that an assistant names beside its answer, read from a reply of any shape.

A list that cannot be read gives a reason, and a source that cannot be read keeps its place. Neither
spoils the answer, and neither is taken for "found nothing".
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

# The path to the value itself.
ITSELF = "."


def values_at(value: Any, path: str) -> Iterator[Any]:
    """Every value that a path leads to; None where it leads nowhere."""
    if path == ITSELF:
        yield value
    else:
        yield from _values(value, path.split("."))


def value_at(value: Any, path: str) -> Any:
    """The first value that a path leads to, None where there is none."""
    return next(values_at(value, path), None)


def _values(value: Any, path: list[str]) -> Iterator[Any]:
    if not path:
        yield value
    elif path[0] == "*":
        for item in value if isinstance(value, list) else []:
            yield from _values(item, path[1:])
    else:
        yield from _values(_inside(value, path[0]), path[1:])


def _inside(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        return value.get(name)
    if isinstance(value, list) and name.isdecimal() and int(name) < len(value):
        return value[int(name)]
    return None


class _Unreadable(ValueError):
    """Something is there, but not what was announced."""


@dataclass(frozen=True, slots=True)
class SourceLayout:
    """Where a reply lists its sources, best first, and where in a source its parts are.

    `path` leads to the list in the JSON of the reply, or `header` names the header that holds it.
    The others are paths in one source: the `session` and the `turn` by the names that the
    harness gave them, the index of the `round` in its session counted from `first_round`, the
    `text`; `score` (higher is better) or `rank` (lower is better) where the list is not in order.
    """

    path: str = ""
    header: str = ""
    session: str = ""
    round: str = ""
    first_round: int = 0
    turn: str = ""
    text: str = ""
    score: str = ""
    rank: str = ""

    @property
    def tells_rounds(self) -> bool:
        """Whether a source can be told apart from others of its session."""
        return bool(self.round or self.turn or self.text)


@dataclass(frozen=True, slots=True)
class ReturnedSource:
    """What one source says of itself; `problem` tells why it could not be read."""

    session: str | None = None
    round_index: int | None = None
    turn: str | None = None
    text: str | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Returned:
    """The sources of one reply, best first; None where the reply has no list of them, or one that
    cannot be read (`problem`).
    """

    sources: list[ReturnedSource] | None = None
    problem: str | None = None


def read_sources(layout: SourceLayout, reply: Any, headers: Mapping[str, str]) -> Returned:
    """The sources of one reply; never raises."""
    try:
        items = _listed(layout, reply, headers)
        if items is None:
            return Returned()
        return Returned([_source(layout, item) for item in _ordered(layout, items)])
    except _Unreadable as error:
        return Returned(problem=str(error))


def _listed(layout: SourceLayout, reply: Any, headers: Mapping[str, str]) -> list[Any] | None:
    if layout.header:
        text = headers.get(layout.header)
        found = None if text is None else _from_header(text, layout.header)
        where = f"header {layout.header}"
    else:
        several = "*" in layout.path.split(".")
        found = list(values_at(reply, layout.path)) if several else value_at(reply, layout.path)
        where = layout.path
    if found is not None and not isinstance(found, list):
        raise _Unreadable(f"{where}: expected a list, found {type(found).__name__}")
    return found


def _from_header(text: str, header: str) -> Any:
    """JSON, or plain names by comma."""
    if not text.lstrip().startswith(("[", "{")):
        return [part.strip() for part in text.split(",") if part.strip()]
    try:
        return json.loads(text)
    except ValueError as error:
        raise _Unreadable(f"header {header}: not JSON") from error


def _ordered(layout: SourceLayout, items: list[Any]) -> list[Any]:
    path = layout.score or layout.rank
    if not path:
        return items
    numbers = [value_at(item, path) for item in items]
    for place, number in enumerate(numbers):
        if not isinstance(number, int | float) or isinstance(number, bool):
            raise _Unreadable(f"source {place + 1}: {path} is {number!r}, not a number")
    sign = -1 if layout.score else 1
    return [items[i] for i in sorted(range(len(items)), key=lambda i: sign * numbers[i])]


def _source(layout: SourceLayout, item: Any) -> ReturnedSource:
    try:
        index = _index(item, layout.round)
        source = ReturnedSource(
            session=_name(item, layout.session),
            round_index=None if index is None else index - layout.first_round,
            turn=_name(item, layout.turn),
            text=_value(item, layout.text, str | None, "a text"),
        )
    except _Unreadable as error:
        return ReturnedSource(problem=str(error))
    if source.session is None and source.turn is None and source.text is None:
        named = ", ".join(filter(None, (layout.session, layout.turn, layout.text)))
        return ReturnedSource(problem=f"a source without {named}")
    return source


def _name(item: Any, path: str) -> str | None:
    value = _value(item, path, str | int | None, "a name")
    return None if value is None else str(value)


def _index(item: Any, path: str) -> int | None:
    value = value_at(item, path) if path else None
    if isinstance(value, str) and value.isdecimal():
        return int(value)
    index: int | None = _value(item, path, int | None, "the index of a round")
    return index


def _value(item: Any, path: str, kind: Any, said: str) -> Any:
    """What lies at a path, None where the path is empty or leads nowhere."""
    value = value_at(item, path) if path else None
    if isinstance(value, bool) or not isinstance(value, kind):
        text = repr(value)
        shown = text if len(text) <= 60 else f"{text[:60]}…"
        raise _Unreadable(f"{path} is {shown}, not {said}")
    return value
