"""How long an answer takes: all systems at once, asked in turns, so that each has the same load.

They hold the histories that they were told in their runs. Each user greets first, and the question
is timed: nothing of it is known yet, but the user is.
"""

import json
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx

from benchmarks.rivals.measuring import OURS, Place, started

GREETING = "Hello!"
_SECONDS = 300.0


def medians(place: Place, names: Sequence[str]) -> dict[str, float]:
    """Milliseconds of a system's answers, by its name."""
    taken: dict[str, list[float]] = {name: [] for name in names}
    with ExitStack() as stack:
        urls = {
            name: stack.enter_context(
                started(name, place, place.out / "data" / name, place.reader)
            ).url
            for name in names
        }
        http = stack.enter_context(httpx.Client(trust_env=False, timeout=_SECONDS))
        asked = {name: requests(name, place.out / name) for name in names}
        for question in asked[names[0]]:
            for name in names:
                greeting, request = asked[name][question]
                _timed(http, urls[name], greeting)
                taken[name].append(_timed(http, urls[name], request))
    return {name: statistics.median(times) for name, times in taken.items()}


def requests(name: str, run: Path) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """A greeting and the question as chat requests of a run's users, by the question's id."""
    users = {line["history_id"]: line["user_id"] for line in _lines(run / "ingest.jsonl")}
    found = {}
    for line in _lines(run / "questions.jsonl"):
        user, when = users[line["history_id"]], line["question_date"]
        first, second = (body(name, user, when, text) for text in (GREETING, line["question"]))
        found[line["question_id"]] = (first, second)
    return found


def body(name: str, user: str, when: str, text: str) -> dict[str, Any]:
    """A request that leaves nothing in memory, as a system's profile says it."""
    fixed = {"model": name, "messages": [{"role": "user", "content": text}]}
    if name != OURS:
        return {**fixed, "user": user, "session": "asked", "when": when, "store": False}
    told = {"user_id": user, "session_id": "asked", "timestamp": when, "memory": "read_only"}
    return {**fixed, "metadata": told}


def _timed(http: httpx.Client, url: str, request: Mapping[str, Any]) -> float:
    began = time.perf_counter()
    http.post(f"{url}/v1/chat/completions", json=request).raise_for_status()
    return (time.perf_counter() - began) * 1000


def _lines(file: Path) -> Iterable[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]
