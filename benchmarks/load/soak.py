"""A day's traffic of many people, with a model that fails now and then: is anything lost, and does
the process stay as small and as quick as it was?

People tell, ask, search, look at their memories, forget sessions, and import what they said
elsewhere. The benchmark notes what each has told, and at the end compares every memory with it.
"""

import asyncio
import json
import random
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from benchmarks.load.assistant import resident_mb, serving
from benchmarks.load.measure import QUICK, chat_request, scripted, settings_for
from benchmarks.measured import Measured
from benchmarks.processes import anonymous_mb
from benchmarks.texts import messages, questions
from memory_store import Query
from memory_store.embedding import PACKAGED

_PEOPLE, _CALLERS = 200, 8
_FAILS_EVERY = 40
_SESSION = 12  # Messages after which a person begins another session.
_RECORDED, _IMPORTED = 4, 60  # Rounds of a session that is sent whole, and of an imported session.
_DAY = "2025-01-15T12:00:00Z"


@dataclass(slots=True)
class Talker:
    """A user, and what their memory must hold."""

    name: str
    sessions: dict[str, set[str]] = field(default_factory=dict)
    """What they have said, by session."""
    unsure: set[str] = field(default_factory=set)
    """What they said when the model failed, which may or may not be in memory."""
    begun: int = 0

    @property
    def told(self) -> set[str]:
        """All texts that must be in memory."""
        return set().union(*self.sessions.values())

    def session(self) -> str:
        """The name of the session for the next message; begins a new one after a full one."""
        name = f"s{self.begun}"
        if len(self.sessions.get(name, ())) >= _SESSION:
            self.begun += 1
            name = f"s{self.begun}"
        self.sessions.setdefault(name, set())
        return name


@dataclass(slots=True)
class Soaked:
    """The results, by tenths of the requests."""

    anonymous: list[float] = field(default_factory=list)
    """MB that no file backs: mapped files grow with what is told."""
    resident: list[float] = field(default_factory=list)
    taken: list[list[float]] = field(default_factory=lambda: [[] for _ in range(10)])
    """Milliseconds of chats, searches and lists."""
    lost: int = 0
    returned: int = 0
    """Rounds that are in memory though they were forgotten or never told."""
    kept: int = 0

    def to_measured(self, requests: int, idle: float) -> list[Measured]:
        """Memory, and the 99th percentile of requests, at the end beside the second tenth."""
        what = f"{requests:,} requests of {_PEOPLE} people"
        rounds = {"kept": self.kept, "lost": self.lost, "returned": self.returned}
        sizes = _by_tenths("after", self.anonymous) | _by_tenths("with_files_after", self.resident)
        usual, slow = (
            [float(np.percentile(taken, share)) for taken in self.taken] for share in (50, 99)
        )
        times = _by_tenths("p50_of", usual) | _by_tenths("p99_of", slow)
        return [
            Measured(
                f"memory that no file backs, after {what}",
                "MB",
                self.anonymous[-1],
                self.anonymous[1],
                "after a fifth of them",
                False,
                {"idle": idle, **rounds, **sizes},
            ),
            Measured(
                f"p99 of chats, searches and lists among {what}",
                "ms",
                slow[-1],
                slow[1],
                "in the second tenth",
                False,
                times,
            ),
        ]


def _by_tenths(name: str, figures: Sequence[float]) -> dict[str, float]:
    return {f"{name}_tenth_{number}": one for number, one in enumerate(figures, start=1)}


async def measure_soak(requests: int = 20_000, *, embedder: str = PACKAGED) -> list[Measured]:
    """Run the traffic and compare. Raises `RuntimeError` if a request fails that should not, if a
    round is lost, or if a forgotten round comes back."""
    with (
        tempfile.TemporaryDirectory() as folder,
        scripted(replace(QUICK, fails_every=_FAILS_EVERY)) as model,
        serving(Path(folder), **settings_for(model, embedder)) as (port, process_id),
    ):
        idle = anonymous_mb(process_id)
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
            traffic = _Traffic(client, requests, process_id)
            soaked = await traffic.run()
    if soaked.lost or soaked.returned:
        raise RuntimeError(f"{soaked.lost} rounds lost, {soaked.returned} there that must not be")
    return soaked.to_measured(requests, idle)


class _Traffic:
    def __init__(self, client: httpx.AsyncClient, requests: int, process_id: int) -> None:
        self._client = client
        self._requests = requests
        self._process_id = process_id
        self._said = messages(requests)
        self._asked = questions(requests)
        self._numbers = iter(range(requests))
        self._soaked = Soaked()
        doing: list[tuple[int, Callable[[Talker, int], Awaitable[None]]]] = [
            (45, self._tell),
            (20, self._ask),
            (15, self._search),
            (8, self._record),
            (8, self._list),
            (2, self._forget),
            (2, self._take_in),
        ]
        self._short = (self._tell, self._ask, self._search, self._list)
        self._doing = [one for _, one in doing]
        self._often = [often for often, _ in doing]

    async def run(self) -> Soaked:
        """Send all requests. Each caller has people of its own, so that their order is known."""
        people = [Talker(f"user{number}") for number in range(_PEOPLE)]
        callers = [people[first::_CALLERS] for first in range(_CALLERS)]
        await asyncio.gather(*(self._call(i, own) for i, own in enumerate(callers)))
        for person in people:
            await self._compare(person)
        return self._soaked

    async def _call(self, caller: int, people: Sequence[Talker]) -> None:
        chance = random.Random(caller)
        for number in self._numbers:
            # Some people talk much more than others.
            person = people[int(len(people) * chance.random() ** 2)]
            [do] = chance.choices(self._doing, self._often)
            began = time.perf_counter()
            await do(person, number)
            if do in self._short:
                tenth = number * 10 // self._requests
                self._soaked.taken[tenth].append(1000 * (time.perf_counter() - began))
            if (number + 1) * 10 % self._requests < 10:
                self._soaked.anonymous.append(anonymous_mb(self._process_id))
                self._soaked.resident.append(resident_mb(self._process_id))

    async def _send(
        self, method: str, path: str, *, also: Sequence[int] = (), **body: Any
    ) -> httpx.Response:
        reply = await self._client.request(method, path, **body)
        if reply.status_code != 200 and reply.status_code not in also:
            raise RuntimeError(f"{method} {path}: {reply.status_code} {reply.text[:300]}")
        return reply

    async def _tell(self, person: Talker, number: int) -> None:
        said, session = f"{self._said[number]} ({number})", person.session()
        body = chat_request(Query(person.name, said), session)
        reply = await self._send("POST", "/v1/chat/completions", also=(502,), json=body)
        if reply.status_code == 200 and '"error"' not in reply.text:
            person.sessions[session].add(said)
        else:
            person.unsure.add(said)

    async def _ask(self, person: Talker, number: int) -> None:
        body = chat_request(Query(person.name, self._asked[number]), "asking")
        body["metadata"]["memory"] = "read_only"
        await self._send("POST", "/v1/chat/completions", also=(502,), json=body)

    async def _search(self, person: Talker, number: int) -> None:
        body = {"user_id": person.name, "query": self._asked[number]}
        await self._send("POST", "/v1/memories/search", json=body)

    async def _record(self, person: Talker, number: int) -> None:
        session, turns = self._talk(number, _RECORDED)
        body = {"user_id": person.name, "messages": turns, "wait": True}
        await self._send("POST", f"/v1/sessions/{session}/messages", json=body)
        person.sessions[session] = {turn["content"] for turn in turns}

    async def _take_in(self, person: Talker, number: int) -> None:
        """Import a conversation that was had elsewhere."""
        session, turns = self._talk(number, _IMPORTED)
        path = f"/v1/users/{person.name}/import?format=auto"
        await self._send(
            "POST", path, content=json.dumps({"session_id": session, "messages": turns}) + "\n"
        )
        person.sessions[session] = {turn["content"] for turn in turns}

    def _talk(self, number: int, rounds: int) -> tuple[str, list[dict[str, str]]]:
        """The name of a new session, and its messages."""
        said = [f"{self._said[number]} ({number}, {place})" for place in range(rounds)]
        turns = [{"role": "user", "content": text, "timestamp": _DAY} for text in said]
        return f"r{number}", turns

    async def _list(self, person: Talker, number: int) -> None:
        await self._send("GET", f"/v1/memories?user_id={person.name}&limit=20")

    async def _forget(self, person: Talker, number: int) -> None:
        if not person.sessions:
            return
        session = min(person.sessions)
        path = f"/v1/sessions/{session}?user_id={person.name}"
        # A session in which the model failed at every message may not be there.
        await self._send("DELETE", path, also=(404,))
        del person.sessions[session]
        # The next message must go into a new session, since this one is gone.
        person.begun += session == f"s{person.begun}"

    async def _compare(self, person: Talker) -> None:
        path = f"/v1/users/{person.name}/export?format=records"
        found = set(_texts_of((await self._send("GET", path)).text.splitlines()))
        self._soaked.kept += len(found)
        self._soaked.lost += len(person.told - found)
        self._soaked.returned += len(found - person.told - person.unsure)


def _texts_of(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        record: Mapping[str, Any] = json.loads(line)
        if text := record.get("user_text"):
            yield text
