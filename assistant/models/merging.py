"""The chunks of a stream put together again: what a reply would have been in one piece."""

from collections.abc import Mapping
from typing import Any

# Said once or again in every chunk; all other texts go on from chunk to chunk.
_SAID_WHOLE = ("id", "type", "role", "index", "name")


def merge(whole: dict[str, Any], delta: Mapping[str, Any]) -> None:
    """Add a chunk's delta: texts go on, lists grow, entries with an index are merged by it."""
    for name, value in delta.items():
        before = whole.get(name)
        if value is None:
            whole.setdefault(name, None)
        elif isinstance(value, list):
            whole[name] = before = before if isinstance(before, list) else []
            for item in value:
                _add(before, item)
        elif isinstance(value, Mapping):
            whole[name] = before = before if isinstance(before, dict) else {}
            merge(before, value)
        elif isinstance(value, str) and isinstance(before, str) and name not in _SAID_WHOLE:
            whole[name] = before + value
        else:
            whole[name] = value


def _add(items: list[Any], item: Any) -> None:
    """One entry of a list: a part of the one with its index, or a new one."""
    if not isinstance(item, Mapping):
        items.append(item)
        return
    index = item.get("index")
    known = (
        next((one for one in items if _index(one) == index), None) if index is not None else None
    )
    if known is None:
        items.append(known := {})
    merge(known, item)


def _index(item: Any) -> Any:
    return item.get("index") if isinstance(item, Mapping) else None
