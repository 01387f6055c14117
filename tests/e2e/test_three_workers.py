"""Three assistants on one Qdrant server, and one extraction model that counts."""

import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from signal import SIGKILL

import pytest
from commands import Server
from qdrant_binary import Qdrant
from scripted_model import ScriptedModel, scripted_model
from workers import ROUNDS, asked, close, every, extracting, several, states, tell

pytestmark = [pytest.mark.qdrant_server, pytest.mark.slow]
SESSIONS = 12
AT_ONCE = 3
"""Sessions a worker extracts side by side: one of each user."""
ALL_DONE = Counter(done=SESSIONS * ROUNDS)


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
    }
    with several(tmp_path, 3, model, **settings) as servers:
        yield servers


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
    assert asked(model) == Counter(every(SESSIONS))
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
    again = asked(model) - Counter(every(SESSIONS))
    assert set(asked(model)) == set(every(SESSIONS))
    # What the killed worker was working on is asked once more, and nothing else.
    assert set(again) == set(begun)
    assert set(again.values()) == {1}
