"""One person's plain messages, put to an assistant over the API, without a language model.

Everything is told on its day (one session a day) and asked on one later day (a session for each
question, stored like any chat). Then some messages are forgotten, and some are said that must not
be kept.
"""

import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import httpx

from assistant.app import create_app
from assistant.settings import Settings

HERE = Path(__file__).parent
PEOPLE = sorted(HERE.glob("people/*.json"))
"""The people that the rules and examples were made with."""
HELD_OUT = sorted(HERE.glob("held_out/*.json"))
"""The people that are only measured."""


@dataclass(frozen=True, slots=True)
class PlainMessage:
    """A message, its time, and its form (`form` is empty for messages of a change)."""

    at: str
    say: str
    form: str = ""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Read from a file."""
        return cls(given["at"], given["say"], given.get("form", ""))


@dataclass(frozen=True, slots=True)
class Person:
    """The content of one file. The texts that a quote must hold may have any case in it."""

    name: str
    told: Sequence[Mapping[str, Any]]
    changed: Sequence[Mapping[str, Any]]
    never: Sequence[str]
    remember: Sequence[Mapping[str, Any]]
    forget: Sequence[Mapping[str, Any]]
    refuse: Sequence[str]

    @classmethod
    def read(cls, file: Path) -> Self:
        """The person of a file."""
        given = json.loads(file.read_text("utf-8"))
        return cls(
            given["person"],
            given["told"],
            given["changed"],
            [one["ask"] for one in given["never"]],
            given["remember"],
            given["forget"],
            [one["say"] for one in given["refuse"]],
        )

    @property
    def messages(self) -> list[PlainMessage]:
        """All messages that should be kept, in the order of their times."""
        changes = [each[part] for each in self.changed for part in ("first", "then")]
        every = [*self.told, *changes, *self.remember]
        return sorted(map(PlainMessage.of, every), key=lambda one: one.at)


_USER, _BOTH = "user_text", ("user_text", "assistant_text")
_ASKED_AT = "2026-06-25T10:00:00Z"
_DENIES = re.compile(
    r"\b(?:I don['’]t know|never came up|found nothing|nothing stored|not told me)", re.I
)
_QUOTE = re.compile(r"^- ", re.M)


@dataclass
class HitCounts:
    """Whether each thing happened, case by case, and the cases in which it did not."""

    of: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    shown: list[str] = field(default_factory=list)

    def add(self, name: str, happened: bool, otherwise: str = "") -> None:
        """Count one case; `otherwise` is shown where it did not happen."""
        self.of[name].append(happened)
        if not happened and otherwise:
            self.shown.append(f"[{name}] {otherwise}")


class Chats:
    """One person's chats with an assistant."""

    def __init__(self, http: httpx.AsyncClient, person: str) -> None:
        self._http = http
        self._person = person

    async def say(self, text: str, at: str, session: str) -> str:
        """The reply to a message."""
        reply = await self._http.post(
            "/v1/chat/completions",
            json={
                "model": "aide-memoire",
                "user": self._person,
                "messages": [{"role": "user", "content": text}],
                "metadata": {"timestamp": at, "session_id": session},
            },
        )
        reply.raise_for_status()
        return str(reply.json()["choices"][0]["message"]["content"])

    async def kept(self, *sides: str) -> list[str]:
        """The text of every round that is kept: of both sides, or of those named."""
        reply = await self._http.get(f"/v1/users/{self._person}/export")
        reply.raise_for_status()
        lines = [json.loads(line) for line in reply.text.splitlines() if line.strip()]
        return [" ".join(line[side] for side in sides or _BOTH) for line in lines if _USER in line]

    async def found(self, finding: str) -> list[tuple[str, str]]:
        """The facts with this finding on the health page, each with the other facts named there."""
        page = httpx.QueryParams(user_id=self._person, finding=finding, limit=200)
        reply = await self._http.get("/v1/memories/health", params=page)
        reply.raise_for_status()
        rows = reply.json()["data"]
        return [(row["fact"]["text"], each["text"]) for row in rows for each in row["others"]]


async def put(file: Path, settings: Settings, counts: HitCounts) -> None:
    """Tell, ask, forget and refuse everything of one file."""
    person = Person.read(file)
    app = create_app(settings)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as http,
    ):
        chats = Chats(http, person.name)
        for one in person.messages:
            await chats.say(one.say, one.at, one.at[:10])
        await _check(person, chats, counts)
        await _ask(person, chats, counts)
        await _keep(person, chats, counts)
        await _forget(person, chats, counts)
        await _refuse(person, chats, counts)


async def _check(person: Person, chats: Chats, counts: HitCounts) -> None:
    """Count what became of the messages. Each message states something of its own, so none should
    count as a repetition, and only the changes should replace anything."""
    kept = "\n".join(await chats.kept(_USER))
    changes = [(each["first"]["say"], each["then"]["say"]) for each in person.changed]
    replaced, repeated = await chats.found("replaced"), await chats.found("duplicate")
    marked = {pair: _is_of(pair, replaced) for pair in changes}
    wrongly = [two for two in replaced if not any(_is_of(pair, [two]) for pair in changes)]
    for said in (one.say for one in person.messages):
        lost = [new for old, new in wrongly if old in said]
        twin = [new for old, new in repeated if old in said]
        counts.add("told, kept", said in kept, said)
        counts.add("told, holds", not lost, f"{said!r} was replaced by {lost}")
        counts.add("told, one of its kind", not twin, f"{said!r} was taken for {twin}")
    for (first, then), is_marked in marked.items():
        counts.add("changed: old is marked", is_marked, f"{first!r}, then {then!r}")


def _is_of(messages: tuple[str, str], facts: Sequence[tuple[str, str]]) -> bool:
    return any(old in messages[0] and new in messages[1] for old, new in facts)


async def _ask(person: Person, chats: Chats, counts: HitCounts) -> None:
    for number, one in enumerate(person.told):
        answer = await chats.say(one["ask"], _ASKED_AT, f"ask {number}")
        first, denied = _holds(one["has"], _first_quote(answer)), _denies(answer)
        case = f"{one['form']}: {one['say']!r} ? {one['ask']!r}\n{answer}"
        counts.add("right first, not denied", first and not denied, case)
        counts.add(f"  {one['form']}", first and not denied)
        counts.add("right somewhere", _holds(one["has"], answer), case)
        counts.add("told and denied", denied)
    for number, each in enumerate(person.changed):
        answer = await chats.say(each["ask"], _ASKED_AT, f"changed {number}")
        quote = _first_quote(answer)
        new = _holds(each["new"], quote)
        both = f"{each['first']['say']!r}, then {each['then']['say']!r} ? {each['ask']!r}\n{answer}"
        counts.add("changed: new first", new and not _denies(answer), both)
        counts.add("changed: old first", _holds(each["old"], quote) and not new)
    for number, asked in enumerate(person.never):
        answer = await chats.say(asked, _ASKED_AT, f"never {number}")
        counts.add("never told, admitted", _denies(answer), f"{asked!r}\n{answer}")


async def _keep(person: Person, chats: Chats, counts: HitCounts) -> None:
    kept = "\n".join(await chats.kept(_USER))
    for number, one in enumerate(person.remember):
        counts.add("“remember …” kept", _holds(one["has"], kept), one["say"])
        answer = await chats.say(one["ask"], _ASKED_AT, f"remember {number}")
        right = _holds(one["has"], _first_quote(answer)) and not _denies(answer)
        counts.add("“remember …” right first", right, f"{one['say']!r} ? {one['ask']!r}\n{answer}")


async def _forget(person: Person, chats: Chats, counts: HitCounts) -> None:
    for number, one in enumerate(person.forget):
        told = one["tell"]
        await chats.say(told["say"], told["at"], f"told {number}")
        before = await chats.kept()
        session = f"forget {number}"
        offer = await chats.say(one["request"], _ASKED_AT, session)
        reply = await chats.say(one["yes"], _ASKED_AT, session)
        after = await chats.kept()
        still = [line for line in after if one["gone"].lower() in line.lower()]
        lost = len(before) - len(after)
        case = f"{told['say']!r}: {one['request']!r}\n{offer}\n> {one['yes']}\n{reply}"
        counts.add("forgotten after a yes", not still, case)
        counts.add("and nothing else gone", lost <= 1, f"{lost} gone: {case}")


async def _refuse(person: Person, chats: Chats, counts: HitCounts) -> None:
    for number, text in enumerate(person.refuse):
        before = len(await chats.kept())
        reply = await chats.say(text, _ASKED_AT, f"refuse {number}")
        kept = len(await chats.kept()) > before
        counts.add("refused, kept out", not kept, f"{text!r}\n{reply}")


def _first_quote(answer: str) -> str:
    parts = _QUOTE.split(answer)
    return parts[1] if len(parts) > 1 else answer


def _denies(answer: str) -> bool:
    return _DENIES.search(answer.partition("\n")[0]) is not None


def _holds(texts: Sequence[str], answer: str) -> bool:
    flat = " ".join(answer.lower().split())
    return any(" ".join(text.lower().split()) in flat for text in texts)


async def put_all(files: Sequence[Path]) -> HitCounts:
    """Count the outcomes for all of these people, each in a memory of their own."""
    counts = HitCounts()
    for file in files:
        with tempfile.TemporaryDirectory() as folder:
            await put(file, Settings(data_dir=Path(folder)), counts)
    return counts
