"""How long telling and asking take: all systems run at once and take turns, under the same load.

One user tells each system a made-up history, session by session; then each question is put to one
system after the other. So other work on the machine affects all of them.
"""

import statistics
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx

from benchmarks.rivals.measuring import OURS, Place, started
from benchmarks.texts import messages, questions, replies

ROUNDS = 80
QUESTIONS = 20
_ROUNDS_A_SESSION = 5
_USER = "ann"
_START = datetime(2024, 1, 1, 9, tzinfo=UTC)
_ASKED = "2024-06-01T09:00:00Z"
_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Speed:
    """Rounds stored a second, and the median of milliseconds until an answer."""

    rounds_a_second: float
    answer_ms: float


@dataclass(frozen=True, slots=True)
class SystemCall:
    """One call of a system."""

    path: str
    body: Mapping[str, Any]


def speeds(
    place: Place, names: Sequence[str], rounds: int = ROUNDS, asked: int = QUESTIONS
) -> dict[str, Speed]:
    """The speed of each system by its name; each has an empty folder and no reader."""
    told = {name: 0.0 for name in names}
    answered: dict[str, list[float]] = {name: [] for name in names}
    with ExitStack() as stack:
        temporary = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        http = stack.enter_context(httpx.Client(trust_env=False, timeout=_SECONDS))
        urls: dict[str, str] = {}
        for name in names:
            (temporary / name).mkdir()
            running = stack.enter_context(
                started(name, replace(place, reader=""), temporary / name)
            )
            urls[name] = running.url
            for request in [*telling(name, "before", history(1)), asking(name, "Hello?")]:
                _timed(http, running.url, request)  # Some parts are only loaded at the first call.
        talk = history(rounds)
        for at in range(0, rounds, _ROUNDS_A_SESSION):
            for name in names:
                for request in telling(name, f"s{at}", talk[at : at + _ROUNDS_A_SESSION]):
                    told[name] += _timed(http, urls[name], request)
        for question in questions(asked):
            for name in names:
                answered[name].append(_timed(http, urls[name], asking(name, question)))
    return {
        name: Speed(rounds / told[name], 1000 * statistics.median(answered[name])) for name in names
    }


def history(rounds: int) -> list[list[dict[str, str]]]:
    """Make up this many rounds as turns, an hour apart."""
    made = []
    for number, said in enumerate(zip(messages(rounds), replies(rounds), strict=True)):
        at = f"{_START + timedelta(hours=number):%Y-%m-%dT%H:%M:%SZ}"
        roles = zip(("user", "assistant"), said, strict=True)
        made.append([{"role": role, "content": text, "timestamp": at} for role, text in roles])
    return made


def telling(
    name: str, session: str, rounds: Sequence[Iterable[dict[str, str]]]
) -> list[SystemCall]:
    """The calls that tell a session: ours gets one for each round, as in a chat, others get one."""
    if name != OURS:
        turns = [turn for told in rounds for turn in told]
        return [SystemCall(f"/v1/sessions/{session}", {"user": _USER, "turns": turns})]
    path = f"/v1/sessions/{session}/messages"
    return [
        SystemCall(path, {"user_id": _USER, "messages": list(told), "wait": True})
        for told in rounds
    ]


def asking(name: str, question: str) -> SystemCall:
    """The call that asks and leaves nothing in memory."""
    body = {"model": name, "messages": [{"role": "user", "content": question}]}
    if name == OURS:
        told = {"user_id": _USER, "session_id": "q", "timestamp": _ASKED, "memory": "read_only"}
        return SystemCall("/v1/chat/completions", body | {"metadata": told})
    told = {"user": _USER, "session": "q", "when": _ASKED}
    return SystemCall("/v1/chat/completions", body | told | {"store": False})


def _timed(http: httpx.Client, url: str, request: SystemCall) -> float:
    """Seconds until the reply. Raises `httpx.HTTPStatusError` for an error status."""
    began = time.perf_counter()
    http.post(url + request.path, json=request.body).raise_for_status()
    return time.perf_counter() - began
