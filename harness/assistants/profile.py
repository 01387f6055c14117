"""How an assistant takes user, session and time: a small TOML file, checked before anything is
sent.
"""

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from harness.assistants.returned_sources import SourceLayout
from harness.assistants.template import TomlTable, named_in
from harness.errors import UsageError
from harness.spending import Price

ADD_SEARCH = "add-search"
BUILT_IN = ("aide-memoire", "openai", "plain", ADD_SEARCH)
_FOLDER = "harness.assistants.profiles"

Fields = Mapping[str, Any]
PerRequest = Literal["session", "turn"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Extra:
    """Fields, headers and texts that requests of one kind carry; `prefix` stands before every user
    turn, `system` is the system message."""

    body: Fields = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    prefix: str = ""
    system: str = ""


@dataclass(frozen=True, slots=True)
class RecordRoute:
    """A route that takes turns without answering; `per` is what one request carries."""

    path: str
    body: Fields
    method: str = "POST"
    per: PerRequest = "session"


@dataclass(frozen=True, slots=True)
class ForgetRoute:
    path: str
    method: str = "DELETE"


@dataclass(frozen=True, slots=True)
class Barrier:
    """How to know that everything sent is remembered: wait `wait_seconds`, then ask `path` until
    the values of its reply at the paths in `ready` (dots lead inside, `*` is every item) are as
    given there.
    """

    wait_seconds: float = 0.0
    path: str = ""
    ready: Fields = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AssistantProfile:
    """How to speak to one assistant. `kinds` adds to `extra` for one kind of request: `teacher`,
    `live`, `question`, `control`. With `leaves_no_trace` a question changes nothing in memory.
    """

    name: str
    hash: str
    path: str = "/v1/chat/completions"
    extra: Extra = field(default_factory=Extra)
    kinds: Mapping[str, Extra] = field(default_factory=dict)
    leaves_no_trace: bool = False
    record: RecordRoute | None = None
    forget: ForgetRoute | None = None
    barrier: Barrier = field(default_factory=Barrier)
    price: Price | None = None
    sources: SourceLayout | None = None

    @property
    def is_ours(self) -> bool:
        """Whether the assistant speaks all of docs/api.md, beyond chat."""
        return self.name == "aide-memoire"

    @property
    def is_store(self) -> bool:
        """Whether it keeps and finds by the Add/Search convention, and answers nothing."""
        return self.name == ADD_SEARCH

    @property
    def names(self) -> frozenset[str]:
        """What its chat requests tell of the call: `user`, `session`, `time` and others."""
        extras = (self.extra, *self.kinds.values())
        values = [self.path, *(v for e in extras for v in (e.body, e.headers, e.prefix, e.system))]
        return frozenset().union(*map(named_in, values))

    @property
    def identity(self) -> dict[str, str]:
        """The part of a profile that a manifest keeps."""
        return {"name": self.name, "hash": self.hash}


def load_profile(name: str) -> AssistantProfile:
    """A built-in profile by its name, any other by the path of its file; `UsageError` where the
    file cannot be read or says something that is not known here.
    """
    if name in BUILT_IN:
        text = (files(_FOLDER) / f"{name}.toml").read_text(encoding="utf-8")
        return parse_profile(text, name=name, source=f"profile {name}")
    try:
        text = Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        built_in = ", ".join(BUILT_IN)
        raise UsageError(
            f"--profile {name}: neither built in ({built_in}) nor a readable file ({error})"
        ) from error
    return parse_profile(text, name=Path(name).stem, source=f"profile {name}")


def parse_profile(text: str, *, name: str, source: str) -> AssistantProfile:
    """A profile from its TOML; `source` opens every complaint."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{source}: not TOML: {error}") from error
    reader = TomlTable(table, source)
    kinds = {kind: reader.inner(kind) for kind in ("teacher", "live", "question", "control")}
    no_trace = bool(kinds["question"].take("leaves_no_trace", bool, default=False))
    return AssistantProfile(
        name=name,
        hash=_hash(table),
        path=reader.take("path", str, default="/v1/chat/completions"),
        kinds={kind: _extra(inner) for kind, inner in kinds.items()},
        leaves_no_trace=no_trace,
        record=_record(reader),
        forget=_optional(reader, "forget", ForgetRoute),
        barrier=_barrier(reader),
        price=_optional(reader, "price", Price),
        sources=_sources(reader),
        extra=_extra(reader),
    )


def _hash(table: Fields) -> str:
    """The hash of everything that an assistant can notice: not of comments, nor of what it
    costs."""
    noticed = {name: value for name, value in table.items() if name != "price"}
    return hashlib.sha256(json.dumps(noticed, sort_keys=True).encode()).hexdigest()[:12]


def _extra(table: TomlTable) -> Extra:
    text = table.inner("text")
    headers = table.take("headers", dict, default={})
    extra = Extra(
        body=table.take("body", dict, default={}),
        headers={name: str(value) for name, value in headers.items()},
        prefix=text.take("prefix", str, default=""),
        system=text.take("system", str, default=""),
    )
    text.finish()
    table.finish()
    return extra


def _optional(reader: TomlTable, key: str, kind: type[T]) -> T | None:
    return reader.inner(key).read(kind) if reader.has(key) else None


def _record(reader: TomlTable) -> RecordRoute | None:
    record = _optional(reader, "record", RecordRoute)
    if record is not None and record.per not in get_args(PerRequest):
        raise UsageError(f"[record] per must be session or turn, not {record.per!r}")
    return record


def _barrier(reader: TomlTable) -> Barrier:
    barrier = reader.inner("barrier").read(Barrier)
    if bool(barrier.path) != bool(barrier.ready):
        raise UsageError("[barrier] path and ready belong together: one of them is missing")
    return barrier


def _sources(reader: TomlTable) -> SourceLayout | None:
    layout = _optional(reader, "sources", SourceLayout)
    if layout is None:
        return None
    where = f"{reader.where}, [sources]"
    for one, other in (("path", "header"), ("score", "rank")):
        if getattr(layout, one) and getattr(layout, other):
            raise UsageError(f"{where}: {one} or {other}, not both")
    if not (layout.path or layout.header):
        raise UsageError(f"{where}: path or header must say where the list is")
    if not (layout.session or layout.turn or layout.text):
        raise UsageError(f"{where}: none of session, turn, text says what a source is")
    if layout.round and not layout.session:
        raise UsageError(f"{where}: round needs session")
    return layout
