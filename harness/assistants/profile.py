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
from typing import Any, Literal

from harness.assistants.returned_sources import SourceLayout
from harness.assistants.template import TomlTable, named_in
from harness.errors import UsageError
from harness.spending import Price

BUILT_IN = ("aide-memoire", "openai", "plain")
_FOLDER = "harness.assistants.profiles"

Fields = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Extra:
    """Fields, headers and texts that requests of one kind carry; texts stand before every user
    turn and as system message."""

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
    per: Literal["session", "turn"] = "session"


@dataclass(frozen=True, slots=True)
class ForgetRoute:
    path: str
    method: str = "DELETE"


@dataclass(frozen=True, slots=True)
class Barrier:
    """How to know that everything sent is remembered: wait so many seconds, then ask `path` until
    each value of its reply that `ready` names (dots lead inside, `*` is every item) is as it says.
    """

    wait_seconds: float = 0.0
    path: str = ""
    ready: Fields = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AssistantProfile:
    """One assistant's ways. `kinds` adds to `extra` for one kind of request: `teacher`, `live`,
    `question`, `control`. `leaves_no_trace` tells that a question changes nothing in memory.
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
    profile = AssistantProfile(
        name=name,
        hash=_hash(table),
        path=reader.take("path", str, default="/v1/chat/completions"),
        kinds={kind: _extra(inner) for kind, inner in kinds.items()},
        leaves_no_trace=no_trace,
        record=_record(reader),
        forget=_forget(reader),
        barrier=_barrier(reader),
        price=_price(reader),
        sources=_sources(reader),
        extra=_extra(reader),
    )
    return profile


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


def _record(reader: TomlTable) -> RecordRoute | None:
    if not reader.has("record"):
        return None
    table = reader.inner("record")
    per = table.take("per", str, default="session")
    if per not in ("session", "turn"):
        raise UsageError(f"[record] per must be session or turn, not {per!r}")
    record = RecordRoute(
        path=table.take("path", str),
        body=table.take("body", dict),
        method=table.take("method", str, default="POST"),
        per=per,
    )
    table.finish()
    return record


def _forget(reader: TomlTable) -> ForgetRoute | None:
    if not reader.has("forget"):
        return None
    table = reader.inner("forget")
    forget = ForgetRoute(table.take("path", str), table.take("method", str, default="DELETE"))
    table.finish()
    return forget


def _barrier(reader: TomlTable) -> Barrier:
    table = reader.inner("barrier")
    path = table.take("path", str, default="")
    barrier = Barrier(
        wait_seconds=float(table.take("wait_seconds", (int, float), default=0.0)),
        path=path,
        ready=table.take("ready", dict, default={}),
    )
    table.finish()
    if bool(barrier.path) != bool(barrier.ready):
        raise UsageError("[barrier] path and ready belong together: one of them is missing")
    return barrier


def _price(reader: TomlTable) -> Price | None:
    if not reader.has("price"):
        return None
    table = reader.inner("price")
    price = Price(
        float(table.take("prompt", (int, float))), float(table.take("completion", (int, float)))
    )
    table.finish()
    return price


def _sources(reader: TomlTable) -> SourceLayout | None:
    if not reader.has("sources"):
        return None
    table = reader.inner("sources")
    names = ("path", "header", "session", "round", "turn", "text", "score", "rank")
    taken = {name: table.take(name, str, default="") for name in names}
    layout = SourceLayout(**taken, first_round=table.take("first_round", int, default=0))
    table.finish()
    for one, other in (("path", "header"), ("score", "rank")):
        if taken[one] and taken[other]:
            raise UsageError(f"{table.where}: {one} or {other}, not both")
    if not (layout.path or layout.header):
        raise UsageError(f"{table.where}: path or header must say where the list is")
    if not (layout.session or layout.turn or layout.text):
        raise UsageError(f"{table.where}: none of session, turn, text says what a source is")
    if layout.round and not layout.session:
        raise UsageError(f"{table.where}: round needs session")
    return layout
