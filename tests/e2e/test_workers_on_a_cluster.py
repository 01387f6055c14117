"""Three assistants on a Qdrant cluster of three nodes, of which one is killed under load."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from calls import rounds
from commands import Server
from qdrant_binary import Qdrant
from scripted_model import ScriptedModel, scripted_model
from workers import ROUNDS, asked, close, every, extracting, several, states, tell

pytestmark = [pytest.mark.qdrant_server, pytest.mark.slow]
SESSIONS, PER_MINUTE = 90, 60


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with scripted_model() as running:
        yield running


@pytest.fixture
def workers(nodes: list[Qdrant], model: ScriptedModel, tmp_path: Path) -> Iterator[list[Server]]:
    settings = {
        "ASSISTANT_QDRANT_URL": ",".join(node.url for node in nodes),
        "ASSISTANT_QDRANT__GRPC_PORT": str(nodes[0].grpc_port),
        "ASSISTANT_QDRANT__SHARDS": "3",
        "ASSISTANT_QDRANT__REPLICATION": "3",
        "ASSISTANT_QDRANT__WRITE_CONSISTENCY": "2",
        "ASSISTANT_LIMITS__REQUESTS_PER_MINUTE": str(PER_MINUTE),
    }
    with several(tmp_path, 3, model, **settings) as servers:
        yield servers


class Hammer:
    """One user who asks each worker without pause."""

    def __init__(self, workers: list[Server]) -> None:
        self._workers = workers
        self._over = threading.Event()
        self.answers: list[tuple[float, int]] = []

    def __enter__(self) -> "Hammer":
        self._started = time.monotonic()
        self._threads = [
            threading.Thread(target=self._ask, args=(worker,)) for worker in self._workers
        ]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()
        self.seconds = time.monotonic() - self._started

    def _ask(self, worker: Server) -> None:
        with httpx.Client(base_url=worker.url, timeout=120) as http:
            while not self._over.is_set():
                status = http.get("/v1/sessions", params={"user_id": "hammer"}).status_code
                self.answers.append((time.monotonic() - self._started, status))
                time.sleep(0.05)

    @property
    def statuses(self) -> Counter[int]:
        return Counter(status for _, status in self.answers)


def tell_in_the_end(worker: Server, number: int) -> int:
    """Tell a session until it is acknowledged; how often that failed."""
    for failures in range(200):
        try:
            tell(worker, number)
            return failures
        except httpx.HTTPStatusError as error:
            if error.response.status_code not in (429, 503):
                raise
            time.sleep(1.0)
    raise AssertionError("never acknowledged")


def is_enriched(worker: Server) -> bool:
    try:
        return states(worker) == Counter(done=SESSIONS * ROUNDS)
    except httpx.HTTPStatusError:
        return False


def test_a_node_dies_under_load(
    workers: list[Server], nodes: list[Qdrant], model: ScriptedModel
) -> None:
    extracting(model, 0.3)
    with Hammer(workers) as hammer, ThreadPoolExecutor(4) as threads:
        telling = [
            threads.submit(tell_in_the_end, workers[number % 3], number)
            for number in range(SESSIONS)
        ]
        while sum(one.done() for one in telling) < SESSIONS // 3:
            time.sleep(0.05)
        # The node that all of them use.
        nodes[0].kill()
        killed = time.monotonic()
        failures = sum(one.result() for one in telling)
        told = time.monotonic() - killed
        deadline = killed + 240
        while not is_enriched(workers[2]):
            assert time.monotonic() < deadline
            # Who looks too often is refused, too.
            time.sleep(3)
        done = time.monotonic() - killed
    calls = asked(model)
    print(
        f"\n{SESSIONS * ROUNDS} rounds acknowledged, {failures} requests refused meanwhile; "
        f"all told {told:.1f} s after the kill, all extracted after {done:.1f} s; "
        f"shown to the model {calls.total()} times; the limited user in {hammer.seconds:.1f} s: "
        f"{dict(hammer.statuses)}"
    )
    assert calls == Counter(every(SESSIONS))
    allowed = PER_MINUTE + hammer.seconds * PER_MINUTE / 60
    assert hammer.statuses[200] <= allowed
    # The limit, and not the loss of a node, is what stops the user.
    assert hammer.statuses[200] > allowed * 0.7
    with httpx.Client(base_url=workers[1].url, timeout=60) as http:
        for number in range(SESSIONS):
            told_then = rounds(http, f"ann{number % 3}", f"s{number}")
            assert [said for said, _ in told_then] == every(SESSIONS)[number * ROUNDS :][:ROUNDS]
    assert close(workers[0], 0) == {"pending": 0, "done": ROUNDS, "failed": 0}
