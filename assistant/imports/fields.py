"""Which fields of an entry are read, and which not: fields that an importer does not know are named
rather than dropped in silence."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

_LONGEST = 60
_MOST_NAMED = 40
ANY = "*"


class FieldsRead(Mapping[str, Any]):
    """An object of an export, which notes the fields that its importer asks for. An object that is
    iterated over counts as read whole."""

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
        # The names of an object that is iterated over are data, such as ids: no path shows them.
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
        """How often each field that was not asked for has something in it, by its path."""
        found: Counter[str] = Counter()
        for one in self._all:
            for name, value in one._item.items():
                if value and name not in one._read:
                    found[f"{one._path}.{name}"[-_LONGEST:].removeprefix(".")] += 1
        return found


def most_frequent(unread: Counter[str]) -> dict[str, int]:
    """The most frequent of the unread fields, sorted by their paths."""
    return dict(sorted(unread.most_common(_MOST_NAMED)))
