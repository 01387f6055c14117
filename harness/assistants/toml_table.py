"""One table of a profile's TOML, read key by key; what nobody took is a mistake in the file."""

from collections.abc import Mapping
from typing import Any

from harness.assistants.template import unknown_names
from harness.errors import UsageError


class TomlTable:
    """`where` opens every complaint, each a `UsageError`."""

    def __init__(self, table: Mapping[str, Any], where: str) -> None:
        self._table = dict(table)
        self.where = where

    def has(self, key: str) -> bool:
        """Whether the key is there and not taken yet."""
        return key in self._table

    def inner(self, key: str) -> "TomlTable":
        """A table inside, empty where there is none."""
        return TomlTable(self.take(key, dict, default={}), f"{self.where}, [{key}]")

    def take(self, key: str, kind: type | tuple[type, ...], *, default: Any = None) -> Any:
        """A value of one of these kinds; required where there is no default."""
        value = self._table.pop(key, default)
        if value is None:
            raise UsageError(f"{self.where}: {key} is missing")
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if type(value) not in kinds:
            expected = " or ".join(one.__name__ for one in kinds)
            raise UsageError(f"{self.where}: {key} must be {expected}, not {value!r}")
        if unknown := unknown_names(value):
            raise UsageError(f"{self.where}: {key} has unknown names {', '.join(sorted(unknown))}")
        return value

    def finish(self) -> None:
        """Refuse what is left."""
        if self._table:
            raise UsageError(f"{self.where}: unknown setting {', '.join(sorted(self._table))}")
