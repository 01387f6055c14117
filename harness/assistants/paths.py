"""Dotted paths into JSON: names lead inside objects, numbers inside lists, `*` to every item."""

from collections.abc import Iterator
from typing import Any

# The value itself.
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
