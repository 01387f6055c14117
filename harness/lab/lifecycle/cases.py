"""The cases: short dated lives of a memory, in one JSON file a kind, checked when they are read.

A case is a list of steps, each at its time: somebody says something, asks for something to be
forgotten, or asks a question; or the server is restarted. README.md shows the format.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from importlib import resources
from pathlib import Path
from typing import Any

from harness.errors import DatasetError
from harness.judges.lexical.words import tokens
from harness.lab.lifecycle.checks import DayCount, Expected, Number, On, Wanted, says

_FOLDER = "harness.lab.lifecycle"
# Every table has the kinds in this order, which is that of a memory's life.
KINDS = (
    "told",
    "told by the assistant",
    "when it was",
    "changed",
    "corrected",
    "as of a day",
    "put together",
    "forgotten",
    "must not come back",
    "asked by somebody else",
    "after a restart",
    "never told",
)


@dataclass(frozen=True, slots=True)
class Say:
    """A conversation. The texts alternate between user and assistant, the user first; later steps
    refer to the conversation by `name`.
    """

    at: datetime
    person: str
    texts: tuple[str, ...]
    name: str = ""


@dataclass(frozen=True, slots=True)
class Forget:
    """The person wants the conversations named in `of` to be forgotten, and asks so with `text`."""

    at: datetime
    person: str
    text: str
    of: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ask:
    """A question and what its answer is checked against; `as_of` is the day that it is about."""

    at: datetime
    person: str
    text: str
    expected: Expected
    as_of: date | None = None


@dataclass(frozen=True, slots=True)
class Restart:
    at: datetime


Step = Say | Forget | Ask | Restart


@dataclass(frozen=True, slots=True)
class Case:
    """One case; `subject` is the part of somebody's life that it is about."""

    case_id: str
    kind: str
    subject: str
    steps: tuple[Step, ...]

    @property
    def asks(self) -> list[Ask]:
        return [step for step in self.steps if isinstance(step, Ask)]

    @property
    def people(self) -> set[str]:
        return {step.person for step in self.steps if not isinstance(step, Restart)}

    @property
    def needs_restart(self) -> bool:
        return any(isinstance(step, Restart) for step in self.steps)

    @property
    def needs_dates(self) -> bool:
        """Whether only an assistant that knows when things were said can answer the case."""
        return any(ask.as_of or ask.expected.names_time for ask in self.asks)


@dataclass(frozen=True, slots=True)
class Cases:
    cases: tuple[Case, ...]
    means: Mapping[str, str]
    sha256: str


def load_cases(folder: Path | None = None) -> Cases:
    """Read the cases of a folder of `.json` files, or those that come with the harness. Raises
    `DatasetError`, which names the file, the case and what is wrong.
    """
    place = folder or resources.files(_FOLDER) / "cases"
    try:
        texts = {
            path.name: path.read_text(encoding="utf-8")
            for path in sorted(place.iterdir(), key=lambda path: path.name)
            if path.name.endswith(".json")
        }
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"--cases {place}: cannot be read ({error})") from error
    if not texts:
        raise DatasetError(f"--cases {place}: no .json file in it")
    cases: list[Case] = []
    means: dict[str, str] = {}
    for name, text in texts.items():
        kind, meaning, found = _file(name, text)
        means[kind] = meaning
        cases += found
    _require_unique(cases)
    order = {kind: i for i, kind in enumerate(KINDS)}
    cases.sort(key=lambda case: order[case.kind])
    digest = hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()
    return Cases(tuple(cases), means, digest)


def _file(name: str, text: str) -> tuple[str, str, list[Case]]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{name}: not JSON ({error})") from error
    table = _Fields(data, name)
    kind = table.take("kind", str)
    if kind not in KINDS:
        raise DatasetError(f"{name}: unknown kind {kind!r}, expected one of {', '.join(KINDS)}")
    meaning = table.take("means", str)
    cases = [_case(kind, item, name) for item in table.take("cases", list)]
    table.finish()
    return kind, meaning, cases


def _case(kind: str, item: Any, file: str) -> Case:
    table = _Fields(item, file)
    table.where = f"{file}, {table.take('id', str)}"
    case_id = table.where.partition(", ")[2]
    subject = table.take("subject", str)
    steps = tuple(_step(step, table.where) for step in table.take("steps", list))
    table.finish()
    case = Case(case_id, kind, subject, steps)
    for problem in _problems(case):
        raise DatasetError(f"{table.where}: {problem}")
    return case


def _step(item: Any, where: str) -> Step:
    table = _Fields(item, where)
    at = _instant(table.take("at", str), where)
    person = table.take("by", str, "A")
    step: Step
    if "say" in table.rest:
        said = table.take("say", (str, list))
        texts = tuple(_phrase(one, where) for one in ([said] if isinstance(said, str) else said))
        if not texts:
            raise DatasetError(f"{where}: say: nothing is said")
        step = Say(at, person, texts, table.take("name", str, ""))
    elif "forget" in table.rest:
        step = Forget(at, person, table.take("forget", str), tuple(table.take("of", list)))
    elif "restart" in table.rest:
        table.take("restart", bool)
        step = Restart(at)
    else:
        step = Ask(at, person, table.take("ask", str), _expected(table), _as_of(table))
    table.finish()
    return step


def _expected(table: "_Fields") -> Expected:
    groups = table.take("must", list, [])
    for group in groups:
        if not isinstance(group, list) or not group:
            raise DatasetError(f"{table.where}: must: expected lists of phrases, found {group!r}")
    must = tuple(tuple(_wanted(one, table.where) for one in group) for group in groups)
    return Expected(
        must,
        must_not=_phrases(table, "must_not"),
        former=_phrases(table, "former"),
        later=_phrases(table, "later"),
        admit=table.take("admit", bool, False),
    )


def _phrases(table: "_Fields", name: str) -> tuple[str, ...]:
    return tuple(_phrase(one, table.where) for one in table.take(name, list, []))


def _phrase(item: Any, where: str) -> str:
    """A text with at least one word, since a text without words would be found in every answer."""
    if not isinstance(item, str) or not tokens(item):
        raise DatasetError(f"{where}: expected a phrase of words, found {item!r}")
    return item


def _wanted(item: Any, where: str) -> Wanted:
    if isinstance(item, str):
        return _phrase(item, where)
    table = _Fields(item, where)
    wanted: Wanted
    if "date" in table.rest:
        wanted = On(_instant(table.take("date", str), where).date())
    elif "number" in table.rest:
        wanted = Number(table.take("number", int))
    else:
        wanted = DayCount(table.take("days", int))
    table.finish()
    return wanted


def _as_of(table: "_Fields") -> date | None:
    text = table.take("as_of", str, "")
    return _instant(text, table.where).date() if text else None


def _instant(text: str, where: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise DatasetError(f"{where}: {text!r} is no date") from error
    return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)


def _problems(case: Case) -> Iterator[str]:
    times = [step.at for step in case.steps]
    if not case.asks or not isinstance(case.steps[-1], Ask):
        yield "the last step must ask"
    if times != sorted(times):
        yield "the steps are not in the order of their times"
    named = {step.name for step in case.steps if isinstance(step, Say) and step.name}
    for step in case.steps:
        if isinstance(step, Forget) and not set(step.of) <= named:
            yield f"to be forgotten, but never said: {', '.join(sorted(set(step.of) - named))}"
        if isinstance(step, Forget):
            gone = (one for ask in case.asks for one in ask.expected.must_not)
            for phrase in (one for one in gone if says(step.text, one)):
                yield f"{step.text!r} itself names {phrase!r}"
    for ask in case.asks:
        yield from _problems_of(ask)


def _problems_of(ask: Ask) -> Iterator[str]:
    expected = ask.expected
    if not (expected.must or expected.must_not or expected.admit):
        yield f"{ask.text!r} expects nothing"
    if expected.admit and expected.must:
        yield f"{ask.text!r}: who does not know can name nothing"
    for phrase in expected.phrases():
        if says(ask.text, phrase):
            yield f"{ask.text!r} itself names {phrase!r}"


def _require_unique(cases: Iterable[Case]) -> None:
    seen: set[str] = set()
    for case in cases:
        if case.case_id in seen:
            raise DatasetError(f"two cases are called {case.case_id}")
        seen.add(case.case_id)


class _Fields:
    """The fields of an object, each taken once with its type; `where` opens every complaint."""

    def __init__(self, item: Any, where: str) -> None:
        if not isinstance(item, dict):
            raise DatasetError(f"{where}: expected an object, found {item!r}")
        self.rest = dict(item)
        self.where = where

    def take(self, name: str, kind: type | tuple[type, ...], default: Any = None) -> Any:
        """A field of one of these types; required where there is no default."""
        value = self.rest.pop(name, default)
        if value is None or not isinstance(value, kind):
            raise DatasetError(f"{self.where}: {name} is missing or of the wrong type")
        return value

    def finish(self) -> None:
        if self.rest:
            raise DatasetError(f"{self.where}: unknown field {', '.join(sorted(self.rest))}")
