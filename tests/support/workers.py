"""Several assistants on one Qdrant server, what they are told, and a model that counts."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from calls import record
from commands import Server
from extractions import extraction, fact, session
from scripted_model import Reply, ScriptedModel, Sent

ROUNDS = 4
"""Of each session."""
_USERS = 3


@contextmanager
def several(folder: Path, count: int, model: ScriptedModel, **more: str) -> Iterator[list[Server]]:
    """So many, each with a folder of its own, started at once."""
    settings = {
        "ASSISTANT_EXTRACT_MODEL": "openai/fake",
        "ASSISTANT_EXTRACT_MODEL_BASE_URL": model.url,
        "ASSISTANT_EXTRACT_MODEL_API_KEY": "k",
        "ASSISTANT_ENRICHMENT__IDLE_SECONDS": "1",
        "ASSISTANT_ENRICHMENT__LEASE_SECONDS": "5",
    }
    servers = [Server(folder / f"worker-{number}") for number in range(count)]
    try:
        with ThreadPoolExecutor(count) as threads:
            list(threads.map(lambda server: server.start(**settings | more), servers))
        yield servers
    finally:
        for server in servers:
            if server.running:
                server.end()


def extracting(model: ScriptedModel, seconds: float) -> None:
    def answer(sent: Sent) -> Reply:
        def find(one: Any, shown: Any) -> list[Any]:
            return [fact(f"Fact of: {one['user']}")]

        return Reply((extraction(sent, find),), delay=seconds)

    model.on("extract_facts").always(answer)


def asked(model: ScriptedModel) -> Counter[str]:
    """How often the model was shown each round."""
    sent = model.requests("extract_facts")
    return Counter(one["user"] for each in sent for one in session(each)["rounds"])


def tell(server: Server, number: int, **how: Any) -> None:
    """One session, of one of the users."""
    said = [text for n in range(ROUNDS) for text in (f"I say {number} and {n}.", "Ok.")]
    with httpx.Client(base_url=server.url, timeout=120) as http:
        record(http, f"ann{number % _USERS}", f"s{number}", *said, **how).raise_for_status()


def close(server: Server, number: int) -> dict[str, int]:
    """End a session and wait for its extraction; what became of its rounds."""
    with httpx.Client(base_url=server.url, timeout=120) as http:
        body = {"user_id": f"ann{number % _USERS}", "messages": [], "close": True, "wait": True}
        reply = http.post(f"/v1/sessions/s{number}/messages", json=body)
        reply.raise_for_status()
        return dict(reply.json()["enrichment"])


def states(server: Server) -> Counter[str]:
    counts: Counter[str] = Counter()
    with httpx.Client(base_url=server.url, timeout=60) as http:
        for user in range(_USERS):
            listed = http.get("/v1/sessions", params={"user_id": f"ann{user}"})
            for one in listed.raise_for_status().json()["data"]:
                counts.update(one["enrichment"])
    return counts


def every(sessions: int) -> list[str]:
    """What the users say in so many sessions."""
    return [f"I say {number} and {n}." for number in range(sessions) for n in range(ROUNDS)]
