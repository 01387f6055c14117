"""Values of a profile: read strictly from TOML, `$name` standing for something of the call."""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from datetime import datetime
from string import Template
from typing import Any, Literal, TypeVar, cast, get_origin, get_type_hints
from urllib.parse import quote

from harness.errors import UsageError
from harness.text import rfc3339

# Must be a whole value, which becomes the list of turns: no text can hold a list.
TURNS = "$turns"
UNIX = "$unix"
# The TOML type for the type of a field; any other field is a table.
_KINDS: Mapping[Any, type | tuple[type, ...]] = {
    **{str: str, Literal: str, int: int, bool: bool},
    float: (int, float),
}
T = TypeVar("T")
NAMES = frozenset({"user", "session", "turn", "time", "date", "weekday", "unix"})


@dataclass(frozen=True, slots=True)
class Occasion:
    """The speaker, the session and the time of a request. `turn` names what is said, `turns` are
    those to be recorded, as plain objects."""

    user: str
    session: str
    time: datetime
    turns: list[dict[str, str]] = field(default_factory=list)
    turn: str = ""

    def values(self) -> dict[str, str]:
        return {
            "user": self.user,
            "session": self.session,
            "turn": self.turn,
            "time": rfc3339(self.time),
            "date": f"{self.time:%Y-%m-%d}",
            "weekday": f"{self.time:%A}",
            "unix": str(int(self.time.timestamp())),
        }


def filled(value: Any, occasion: Occasion) -> Any:
    """The value with every name replaced; `$turns` and `$unix` alone become a list and a number."""
    if isinstance(value, Mapping):
        return {name: filled(item, occasion) for name, item in value.items()}
    if isinstance(value, list):
        return [filled(item, occasion) for item in value]
    if value == TURNS:
        return occasion.turns
    if value == UNIX:
        return int(occasion.time.timestamp())
    return Template(value).substitute(occasion.values()) if isinstance(value, str) else value


def filled_path(path: str, occasion: Occasion) -> str:
    """A path with every name replaced, quoted as URLs need it."""
    quoted = {name: quote(value, safe="") for name, value in occasion.values().items()}
    return Template(path).substitute(quoted)


def unknown_names(value: Any) -> set[str]:
    """The `$name`s in a value that are not known."""
    if isinstance(value, Mapping):
        return set().union(*(unknown_names(item) for item in value.values()))
    if isinstance(value, list):
        return set().union(*(unknown_names(item) for item in value))
    if not isinstance(value, str) or value == TURNS:
        return set()
    template = Template(value)
    return set(template.get_identifiers()) - NAMES if template.is_valid() else {value}


def named_in(value: Any) -> frozenset[str]:
    if isinstance(value, Mapping | list):
        items = value.values() if isinstance(value, Mapping) else value
        return frozenset().union(*map(named_in, items))
    return frozenset(Template(value).get_identifiers() if isinstance(value, str) else ())


def merged(*bodies: Mapping[str, Any]) -> dict[str, Any]:
    """Merge objects, inner ones as well; values of later objects win."""
    result: dict[str, Any] = {}
    for body in bodies:
        for name, value in body.items():
            below = result.get(name)
            if isinstance(below, Mapping) and isinstance(value, Mapping):
                value = merged(below, value)
            result[name] = value
    return result


class TomlTable:
    """A table whose keys are taken one by one; `where` opens the text of every `UsageError`."""

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

    def read(self, kind: type[T]) -> T:
        """Read the table as an object of a data class: every field of its type, required if it has
        no default; any other key is refused.
        """
        types, taken = get_type_hints(kind), {}
        for one in fields(cast(Any, kind)):
            default = one.default if one.default_factory is MISSING else one.default_factory()
            wanted = _KINDS.get(get_origin(types[one.name]) or types[one.name], dict)
            value = self.take(one.name, wanted, default=None if default is MISSING else default)
            taken[one.name] = float(value) if types[one.name] is float else value
        self.finish()
        return kind(**taken)

    def finish(self) -> None:
        """Refuse keys that were not taken."""
        if self._table:
            raise UsageError(f"{self.where}: unknown setting {', '.join(sorted(self._table))}")
