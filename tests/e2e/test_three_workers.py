"""Three assistants on one Qdrant server, and one extraction model that counts."""

import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from signal import SIGKILL
from typing import Any

import httpx
import pytest
from calls import record
from commands import Server
from extractions import extraction, fact, session
from qdrant_binary import Qdrant
from scripted_model import Reply, ScriptedModel, Sent, scripted_model

pytestmark = [pytest.mark.qdrant_server, pytest.mark.slow]
SESSIONS, ROUNDS = 12, 4
AT_ONCE = 2


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with scripted_model() as running:
        yield running


@pytest.fixture
def workers(own_qdrant: Qdrant, model: ScriptedModel, tmp_path: Path) -> Iterator[list[Server]]:
    own_qdrant.start()
    settings = {
        "ASSISTANT_QDRANT_URL": own_qdrant.url,
        "ASSISTANT_QDRANT__GRPC_PORT": str(own_qdrant.grpc_port),
        "ASSISTANT_EXTRACT_MODEL": "openai/fake",
        "ASSISTANT_EXTRACT_MODEL_BASE_URL": model.url,
        "ASSISTANT_EXTRACT_MODEL_API_KEY": "k",
        "ASSISTANT_ENRICHMENT__IDLE_SECONDS": "1",
        "ASSISTANT_ENRICHMENT__LEASE_SECONDS": "5",
        "ASSISTANT_ENRICHMENT__SESSIONS_AT_ONCE": str(AT_ONCE),
    }
    servers = [Server(tmp_path / f"worker-{number}") for number in range(3)]
    with ThreadPoolExecutor(3) as threads:
        list(threads.map(lambda server: server.start(**settings), servers))
    yield servers
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
    """One session, of one of three users."""
    said = [text for n in range(ROUNDS) for text in (f"I say {number} and {n}.", "Ok.")]
    with httpx.Client(base_url=server.url, timeout=120) as http:
        record(http, f"ann{number % 3}", f"s{number}", *said, **how).raise_for_status()


def close(server: Server, number: int) -> dict[str, int]:
    """End a session and wait for its extraction; what became of its rounds."""
    with httpx.Client(base_url=server.url, timeout=120) as http:
        body = {"user_id": f"ann{number % 3}", "messages": [], "close": True, "wait": True}
        reply = http.post(f"/v1/sessions/s{number}/messages", json=body)
        reply.raise_for_status()
        return dict(reply.json()["enrichment"])


def states(server: Server) -> Counter[str]:
    counts: Counter[str] = Counter()
    with httpx.Client(base_url=server.url, timeout=60) as http:
        for user in range(3):
            listed = http.get("/v1/sessions", params={"user_id": f"ann{user}"}).json()["data"]
            for one in listed:
                counts.update(one["enrichment"])
    return counts


EVERY = [f"I say {number} and {n}." for number in range(SESSIONS) for n in range(ROUNDS)]
ALL_DONE = Counter(done=len(EVERY))


def test_each_round_is_extracted_once_whoever_heard_of_it(
    workers: list[Server], model: ScriptedModel
) -> None:
    extracting(model, 0.5)
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda n: tell(workers[n % 3], n), range(SESSIONS)))
        # Others than those that recorded them are told that they are over, and wait.
        ended = list(threads.map(lambda n: close(workers[(n + 1) % 3], n), range(SESSIONS)))
    assert ended == [{"pending": 0, "done": ROUNDS, "failed": 0}] * SESSIONS
    # A start looks for whatever waits.
    workers[0].end()
    time.sleep(2)
    assert asked(model) == Counter(EVERY)
    assert states(workers[1]) == ALL_DONE


def test_of_a_killed_worker_others_take_up_what_it_had_begun(
    workers: list[Server], model: ScriptedModel
) -> None:
    extracting(model, 2.0)
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda n: tell(workers[0], n), range(SESSIONS)))
    while len(model.requests("extract_facts")) < AT_ONCE:
        time.sleep(0.02)
    workers[0].end(SIGKILL)
    killed = time.monotonic()
    begun = asked(model)
    assert set(begun.values()) == {1}
    with ThreadPoolExecutor(6) as threads:
        # Sessions that nobody else has heard of are told to others; those begun are not.
        fresh = [n for n in range(SESSIONS) if f"I say {n} and 0." not in begun]
        list(threads.map(lambda n: close(workers[1 + n % 2], n), fresh))
    deadline = killed + 30
    while states(workers[1]) != ALL_DONE:
        assert time.monotonic() < deadline, states(workers[1])
        time.sleep(0.2)
    print(f"taken up and done {time.monotonic() - killed:.1f} s after the kill")
    again = asked(model) - Counter(EVERY)
    assert set(asked(model)) == set(EVERY)
    # What the killed worker was working on is asked once more, and nothing else.
    assert set(again) == set(begun)
    assert set(again.values()) == {1}
