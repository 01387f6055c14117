"""Helpers that the readers share: entries that know their place in the file, dates by rule, and
questions with options, of which exactly one is right.

Every error names file, entry, field and reason.
"""

import ast
import csv
import json
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, Self, TypeVar

from harness.datasets.files import open_text, read_records
from harness.datasets.questions import HaystackSession, Role, Turn
from harness.errors import DatasetError
from harness.text import encodable

CSV_SUFFIXES = (".csv", ".csv.gz", ".csv.xz")
# The day of the first session of a history without dates; one session a day follows.
FIRST_DAY = datetime(2024, 1, 1, 9, tzinfo=UTC)
_ROLES: dict[str, Role] = {"user": "user", "human": "user", "assistant": "assistant"}
_CLOCK = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[ T](\d{2}):(\d{2})(?::\d{2})?)?")
_ENGLISH = re.compile(r"(\w{3})\w* (\d{1,2}), (\d{4})(?:,? (\d{1,2}):(\d{2})(?::\d{2})?)?")
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MOST_CHARACTERS_IN_A_CELL = 1 << 28

Sessions = tuple[HaystackSession, ...]
T = TypeVar("T")


class Entry:
    """A JSON object or a table's row, with the place that its errors name."""

    def __init__(self, value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise DatasetError(f"{where}: expected an object, found {type(value).__name__}")
        self.fields: dict[str, Any] = value
        self.where = where

    def has(self, name: str) -> bool:
        """Whether the field is there and not empty."""
        return self.fields.get(name) not in (None, "", [], {})

    def text(self, name: str) -> str:
        value = self._field(name)
        if not isinstance(value, str) or not value.strip():
            raise self.error(name, f"expected text, found {_kind(value)}")
        return encodable(value)

    def answer(self, name: str) -> tuple[str, bool]:
        """Return a field of text or a number as text, and whether it was a number."""
        value = self._field(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value), True
        return self.text(name), False

    def number(self, name: str) -> float:
        value = self._field(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.error(name, f"expected a number, found {_kind(value)}")
        return float(value)

    def whole(self, name: str) -> int:
        """Return a whole number of at least 0, which may be written as text."""
        try:
            number = int(self._field(name))
        except (TypeError, ValueError):
            number = -1
        if number < 0:
            raise self.error(name, f"expected a whole number, found {self.fields[name]!r}")
        return number

    def items(self, name: str) -> list[Any]:
        """A field that holds a list; one that is missing is an error."""
        value = self._field(name)
        if not isinstance(value, list):
            raise self.error(name, f"expected a list, found {_kind(value)}")
        return value

    def literal(self, name: str) -> Any:
        """Return the value in a cell that holds JSON or a Python literal."""
        text = self.text(name)
        for read in (json.loads, ast.literal_eval):
            try:
                return read(text)
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                continue
        raise self.error(name, "neither JSON nor a Python literal")

    def entries(self, name: str) -> list[Self]:
        items = enumerate(self.items(name))
        return [type(self)(item, f"{self.where}: {name}[{i}]") for i, item in items]

    def entry(self, name: str) -> Self:
        return type(self)(self._field(name), f"{self.where}: {name}")

    def members(self) -> Iterator[tuple[str, Self]]:
        for name, value in self.fields.items():
            yield name, type(self)(value, f"{self.where}: {name}")

    def date(self, name: str) -> datetime:
        """A moment like 2024-05-31 10:00 or Sep 04, 2025, 10:00:00; nine if it has no time."""
        return parse_date(self.text(name), f"{self.where}: {name}")

    def role(self, name: str) -> Role:
        """`user` or `assistant`, however it is written."""
        role = _ROLES.get(self.text(name).strip().lower())
        if role is None:
            raise self.error(name, f"expected user or assistant, found {self.fields[name]!r}")
        return role

    def error(self, name: str, problem: str) -> DatasetError:
        return DatasetError(f"{self.where}: {name}: {problem}")

    def _field(self, name: str) -> Any:
        if name not in self.fields:
            raise self.error(name, "missing")
        return self.fields[name]


def entries_of(path: Path) -> Iterator[Entry]:
    """The objects of a JSON or JSON-lines file, in file order; a lone object is one entry."""
    for number, record in enumerate(read_records(path)):
        yield Entry(record, f"{path}: entry {number}")


def rows_of(path: Path) -> Iterator[Entry]:
    """The rows of a table with a header, each named by the line where it ends."""
    csv.field_size_limit(_MOST_CHARACTERS_IN_A_CELL)
    with open_text(path, CSV_SUFFIXES) as file:
        reader = csv.DictReader(file, strict=True)
        try:
            for row in reader:
                if None in row or None in row.values():
                    raise DatasetError(
                        f"{path}: line {reader.line_num}: not as many cells as the header has"
                    )
                yield Entry(row, f"{path}: line {reader.line_num}")
        except csv.Error as error:
            raise DatasetError(f"{path}: line {reader.line_num}: not CSV: {error}") from error


def together(items: Iterable[T], key: Callable[[T], Hashable]) -> Iterator[T]:
    """Yield the items grouped by key, groups in the order of their first items."""
    groups: dict[Hashable, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    for group in groups.values():
        yield from group


def beside(path: Path, name: str, holds: str) -> Path:
    """Return the path of a second file in the folder of the first, plain or compressed."""
    for suffix in ("", ".gz", ".xz"):
        if (found := path.with_name(name + suffix)).exists():
            return found
    raise DatasetError(f"{path}: {holds} are missing: put {name} beside it")


def parse_date(text: str, where: str) -> datetime:
    """Parse a date as `Entry.date` takes it: in UTC, whatever the machine's locale."""
    try:
        if match := _CLOCK.fullmatch(text.strip()):
            year, month, day = (int(part) for part in match.groups()[:3])
            return datetime(year, month, day, *_time(match.groups()[3:]), tzinfo=UTC)
        if match := _ENGLISH.fullmatch(text.strip()):
            month = _MONTHS.index(match[1].lower()) + 1
            clock = _time(match.groups()[3:])
            return datetime(int(match[3]), month, int(match[2]), *clock, tzinfo=UTC)
    except ValueError:
        pass
    raise DatasetError(
        f"{where}: expected a date like 2024-05-31 10:00 or May 31, 2024, 10:00:00, found {text!r}"
    )


def a_day_each(sessions: Iterable[tuple[Turn, ...]]) -> Sessions:
    """Sessions of a history without dates: one a day from `FIRST_DAY` on; empty ones left out."""
    told = (turns for turns in sessions if turns)
    return tuple(
        HaystackSession(i, f"session-{i + 1}", FIRST_DAY + timedelta(days=i), turns)
        for i, turns in enumerate(told)
    )


def just_after(sessions: Sessions) -> datetime:
    """The time of a question that has no date of its own: a second later for each turn of the
    last session."""
    last = max(sessions, key=lambda session: session.session_date)
    return last.session_date + timedelta(seconds=len(last.turns))


def _time(found: tuple[str | None, ...]) -> tuple[int, int]:
    hour, minute = found
    return (9, 0) if hour is None or minute is None else (int(hour), int(minute))


def _kind(value: Any) -> str:
    return "nothing" if value in (None, "") else type(value).__name__


LETTERS = "abcdefghij"


def put_options(question: str, options: Sequence[str]) -> str:
    """The question as it is sent: its options below it, by letter."""
    lines = (f"({letter}) {option}" for letter, option in zip(LETTERS, options, strict=False))
    return "\n".join([question, *lines, "Answer with the letter of one option."])


def checked_options(
    entry: Entry, name: str, options: Sequence[object], answer: str, *, answer_twice: bool = False
) -> tuple[str, ...]:
    """Return the options if they are texts that differ and the answer is one of them. With
    `answer_twice` the answer may stand under several letters, as in some published data.
    """
    texts = tuple(encodable(option.strip()) for option in options if isinstance(option, str))
    if len(texts) != len(options) or not 2 <= len(texts) <= len(LETTERS):
        raise entry.error(name, f"expected 2 to {len(LETTERS)} texts")
    once = [text for text in texts if not (answer_twice and text == answer)]
    if "" in texts or len(set(once)) != len(once):
        raise entry.error(name, "an option is empty or occurs twice")
    if answer not in texts:
        raise entry.error(name, f"the correct answer is not among them: {answer!r}")
    return texts


def shuffled(options: Sequence[str], key: str) -> list[str]:
    """Order the options by texts and key alone, so that no position gives the answer away."""
    return sorted(options, key=lambda option: sha256(f"{key}\0{option}".encode()).digest())
