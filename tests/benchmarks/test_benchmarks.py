"""Every benchmark at a tiny size: it runs, and what it counts is there. Nothing is timed."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from benchmarks.__main__ import BENCHMARKS, to_size
from benchmarks.compare_peers import PEERS_FOLDER, beside, task
from benchmarks.ingest import conversation, encoded_alone, through_the_store
from benchmarks.large.__main__ import measure
from benchmarks.large.filling import fill
from benchmarks.large.growing import grown
from benchmarks.load.soak import measure_soak
from benchmarks.measured import Measured
from benchmarks.memories import DIMENSION, Crowd, Memories, sizes_of_people
from benchmarks.pairs import PairedTimes, WorkTime, in_turns, timed
from benchmarks.peers.peer import PEERS, Matrix, done, read
from benchmarks.store import Size, beside_local_mode, measured
from memory_store.embedding import HashEncoder
from memory_store.engines import EdgeEngine
from memory_store.engines._engine import UserScope

ROOT = Path(__file__).parents[2]


async def test_a_size_is_written_opened_again_and_searched() -> None:
    found = await measured(Size(Crowd(60, 2), keys=(2,)), questions=4)
    assert min(found.written, found.first_p50, found.p50, found.disk, found.peak) > 0
    assert found.fastest_p50 <= found.p95


async def test_the_store_is_measured_beside_local_mode() -> None:
    written, searched = await beside_local_mode(Crowd(40, 2), questions=2)
    assert (written.more_is_better, searched.more_is_better) == (True, False)
    assert min(written.ratio, searched.ratio) > 0


async def test_writing_is_measured_beside_the_encoder() -> None:
    talk = conversation(16)
    assert await encoded_alone(talk, HashEncoder()) > 0
    assert await through_the_store(talk, HashEncoder()) > 0


class Listing:
    """A peer that only keeps what it is given."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.users: list[str] = []
        self.searched: list[str] = []

    def ingest(self, rounds: Sequence[dict[str, str]]) -> None:
        self.texts += [round["user_text"] for round in rounds]

    def load(self, users: Sequence[str], vectors: Matrix) -> None:
        assert vectors.shape == (len(users), DIMENSION)
        self.users += users

    def search(self, user: str, vector: Matrix) -> None:
        assert user in self.users
        self.searched.append(user)


async def test_a_peer_is_given_the_same_rounds_and_points(tmp_path: Path) -> None:
    file, given, peer = tmp_path / "task.npz", task(8, 30, 3, texts=5), Listing()
    given.write(file)
    kept = read(file)

    def call(what: str, first: int, second: int) -> WorkTime:
        return WorkTime(*done(peer, kept, what, first, second))

    figures = await beside("listing", call, given, HashEncoder(), (20, 30))
    assert {figure.what for figure in figures} == {"ingest", "search@20", "search@30"}
    assert all(figure.ours > 0 and figure.baseline > 0 for figure in figures)
    assert peer.texts == [round.user_text for round in given.talk]
    # Each question three times at each size.
    assert (len(peer.users), len(peer.searched)) == (30, 18)


def test_a_peer_does_what_comes_in_and_tells_what_it_took(tmp_path: Path) -> None:
    given = task(2, 4, 1, texts=5)
    given.write(tmp_path / "task.npz")
    kept, peer = read(tmp_path / "task.npz"), Listing()
    assert len(done(peer, kept, "load", 1, 3)) == 2
    assert (peer.users, peer.texts) == (["user0", "user0"], [])


async def test_ours_and_the_baseline_take_turns_in_either_order() -> None:
    said: list[str] = []

    async def ours(number: int) -> None:
        said.append(f"ours {number}")

    other = timed(lambda number: said.append(f"other {number}"))
    pairs = await in_turns(range(2), ours, other, times=2)
    assert said == ["ours 0", "ours 0", "other 0", "other 1", "ours 1", "ours 1"]
    assert len(pairs.ours) == len(pairs.baseline) == 2


async def test_of_several_passes_the_least_counts() -> None:
    took = iter([(5, 1), (3, 4), (4, 2), (6, 3)])

    async def ours(number: int) -> None:
        pass

    pairs = await in_turns(range(2), ours, lambda _: WorkTime(*next(took)), passes=2)
    assert pairs.baseline == [WorkTime(4, 1), WorkTime(3, 3)]


def test_a_ratio_is_the_median_of_pairs() -> None:
    pairs = PairedTimes(
        [WorkTime(1, 1), WorkTime(2, 1), WorkTime(1, 1)],
        [WorkTime(3, 1), WorkTime(4, 2), WorkTime(90, 3)],
    )
    assert (pairs.ratio("clock"), pairs.ratio("processor")) == (3, 2)
    assert pairs.quartiles("processor") == (1.5, 2.5)


def test_peers_are_pinned() -> None:
    lines = (PEERS_FOLDER / "requirements.txt").read_text().splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert all(re.fullmatch(r"[\w-]+==[\w.]+", pin) for pin in pins)
    assert len(pins) > len(PEERS)


def test_made_up_memories_are_the_same_every_time() -> None:
    first, again = (next(Memories(texts=3).points(Crowd(30, 2))) for _ in range(2))
    assert [point.payload for point in first] == [point.payload for point in again]
    assert all(np.array_equal(a.keys, b.keys) for a, b in zip(first, again, strict=True))
    assert len({point.id for point in first}) == 30


def test_a_crowd_of_people_has_all_rounds_and_most_have_few() -> None:
    crowd = Crowd(1_000_000, 10_000, as_people=True)
    sizes = sorted(crowd.rounds_of(user) for user in range(crowd.users))
    assert (sum(sizes), sizes[0], sizes[-1]) == (crowd.rounds, 1, 50_000)
    assert sizes[5000] < 10 < 1000 < sizes[9900]


def test_people_tell_their_rounds_one_after_the_other_and_who_told_more_asks_more() -> None:
    crowd = Crowd(3000, 30, as_people=True)
    told = [p.payload for part in Memories(texts=3).points(crowd, batch=700) for p in part]
    counts = Counter(str(payload["user_id"]) for payload in told)
    assert counts == {f"user{user}": crowd.rounds_of(user) for user in range(30)}
    biggest = counts.most_common(1)[0][0]
    own = [payload["round_index"] for payload in told if payload["user_id"] == biggest]
    assert own == list(range(counts[biggest]))
    queries, _ = Memories(texts=3).queries(crowd, 300)
    asked = Counter(query.user_id for query in queries)
    assert asked[biggest] == pytest.approx(300 * counts[biggest] / 3000, rel=0.2)


def test_more_people_than_rounds_are_refused() -> None:
    with pytest.raises(ValueError, match="30 people"):
        sizes_of_people(20, 30)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1000", Size(Crowd(1000, 2))),
        ("100", Size(Crowd(100, 1))),
        ("10000/1", Size(Crowd(10_000, 1))),
        ("1000000/2000/2", Size(Crowd(1_000_000, 2000), (2,))),
        ("1000000/10000/people", Size(Crowd(1_000_000, 10_000, as_people=True))),
        ("9000/30/2/people", Size(Crowd(9000, 30, as_people=True), (2,))),
    ],
)
def test_sizes_on_the_command_line(text: str, size: Size) -> None:
    assert to_size(text) == size


def test_ratios_above_one_are_in_our_favour() -> None:
    assert Measured("rate", "/s", 30.0, 10.0, "them", True).ratio == 3.0
    assert Measured("delay", "ms", 10.0, 30.0, "them", False).ratio == 3.0
    assert json.dumps(Measured("delay", "ms", 10.0, 30.0, "them", False).to_json())


def test_every_benchmark_is_documented() -> None:
    text = (ROOT / "docs/benchmark.md").read_text()
    assert all(f"| `{name}` |" in text for name in BENCHMARKS)


async def test_a_large_memory_is_filled_where_it_stopped(tmp_path: Path) -> None:
    crowd, progress = Crowd(30, 3), tmp_path / "progress.json"
    for _ in range(2):
        assert (await fill(EdgeEngine(tmp_path), crowd, progress, (2,)))["disk_mb"] > 0
    assert json.loads(progress.read_text())["rounds"] == 30
    engine = EdgeEngine(tmp_path)
    await engine.open(DIMENSION)
    assert [await engine.count(UserScope(f"user{n}")) for n in range(3)] == [10, 10, 10]
    await engine.close()


async def test_a_memory_is_searched_while_it_grows(tmp_path: Path) -> None:
    (step,) = (await grown(EdgeEngine(tmp_path), 300, (2,))).values()
    assert step["searches"] > 0
    engine = EdgeEngine(tmp_path)
    await engine.open(DIMENSION)
    assert await engine.count(UserScope("growing0")) == 300
    await engine.close()


@pytest.mark.slow
@pytest.mark.qdrant_server
async def test_a_cluster_is_asked_while_a_node_is_away(tmp_path: Path) -> None:
    figures = await measure(tmp_path, Size(Crowd(60, 3), (2,)), nodes=3)
    lost = figures["node_lost"]
    assert (lost["search_away_failed"], lost["record_away_failed"], lost["lost"]) == (0, 0, 0)
    assert min(lost["search_away_done"], lost["record_away_done"], lost["acknowledged"]) > 0
    assert "scrubbed" not in figures


@pytest.mark.slow
async def test_a_days_traffic_is_checked() -> None:
    memory, slowest = await measure_soak(40, embedder="hash")
    assert (memory.details["lost"], memory.details["returned"]) == (0, 0)
    assert memory.details["kept"] > 20
    assert slowest.ours > 0
