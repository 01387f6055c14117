"""Another user, who asks for little: a short search and `/health` at fixed times, whether earlier
ones were answered or not. It is a process of its own, so that the flood does not disturb it."""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Iterator

from benchmarks.fairness.requests import ASKED_AT, Done, NamedRequest, ask, posting
from benchmarks.texts import questions

USER = "ann0"
# Seconds between requests: with many more, two cores would have no time for others.
EVERY = 0.5


async def probe(port: int, seconds: float) -> None:
    """Ask for this many seconds, or until standard input ends, and print each result."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(sys.stdin, stopped.set)
    began = time.perf_counter()
    asked = _requests()
    running: set[asyncio.Task[Done]] = set()
    number = 0
    while not stopped.is_set() and time.perf_counter() < began + seconds:
        due = began + number * EVERY
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        number += 1
        for request in (NamedRequest("health", "GET", "/health"), next(asked)):
            task = asyncio.create_task(ask(port, request, since=due))
            running.add(task)
            task.add_done_callback(_print)
            task.add_done_callback(running.discard)
    await asyncio.gather(*running)


def _requests() -> Iterator[NamedRequest]:
    for question in questions(1_000_000, seed=int(time.time())):
        body = {"user_id": USER, "query": question, "now": ASKED_AT}
        yield posting("search", "/v1/memories/search", body)


def _print(task: "asyncio.Task[Done]") -> None:
    done = task.result()
    print(json.dumps([done.name, done.status, done.seconds]), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("seconds", type=float)
    given = parser.parse_args()
    asyncio.run(probe(given.port, given.seconds))
