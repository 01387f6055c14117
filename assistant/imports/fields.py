"""What of an entry is read, and what not: fields that an importer does not know are named rather
than dropped in silence."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

_LONGEST = 60
_MOST_NAMED = 40
ANY = "*"


class FieldsRead(Mapping[str, Any]):
    """An object of an export as its importer sees it, which notes what is asked of it. What is
    iterated over is read whole."""

    __slots__ = ("_all", "_item", "_path", "_read", "_values")

    def __init__(
        self, item: Mapping[str, Any], path: str = "", among: "list[FieldsRead] | None" = None
    ) -> None:
        self._item = item
        self._path = path
        self._read: set[str] = set()
        self._values: dict[str, Any] = {}
        self._all = [] if among is None else among
        self._all.append(self)

    def __getitem__(self, name: str) -> Any:
        self._read.add(name)
        return self._value(name, name)

    def __contains__(self, name: object) -> bool:
        return name in self._item

    def __iter__(self) -> Iterator[str]:
        # Its names are data, such as ids.
        for name in self._item:
            self._read.add(name)
            self._value(name, ANY)
            yield name

    def __len__(self) -> int:
        return len(self._item)

    def _value(self, name: str, called: str) -> Any:
        value = self._item[name]
        if not isinstance(value, (dict, list)):
            return value
        if name not in self._values:
            path = f"{self._path}.{called}" if self._path else called
            self._values[name] = self._seen(value, path)
        return self._values[name]

    def _seen(self, value: Any, path: str) -> Any:
        if isinstance(value, dict):
            return FieldsRead(value, path, self._all)
        if isinstance(value, list):
            return [self._seen(one, path) for one in value]
        return value

    def unread(self) -> Counter[str]:
        """How often each field has something in it that was not asked for, by its path."""
        found: Counter[str] = Counter()
        for one in self._all:
            for name, value in one._item.items():
                if value and name not in one._read:
                    found[f"{one._path}.{name}"[-_LONGEST:].removeprefix(".")] += 1
        return found


def most_frequent(unread: Counter[str]) -> dict[str, int]:
    """The fields to name, by their paths."""
    return dict(sorted(unread.most_common(_MOST_NAMED)))
