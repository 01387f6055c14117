"""The simulation against queues whose waiting is known, and predictions beside measurements."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.capacity.__main__ import crowd, measured_sizes
from benchmarks.capacity.figures import KnownFigures
from benchmarks.capacity.predictions import by_clients, embedded, large
from benchmarks.capacity.simulation import Request, Station, waited
from benchmarks.memories import Crowd


def _of(*stages: list[tuple[Station, float]]) -> Request:
    return stages


def test_clients_of_one_server_wait_for_all_others() -> None:
    server = Station(1)
    taken = waited(lambda _: _of([(server, 0.5)]), 100, clients=4)
    assert taken[-1] == pytest.approx(2.0)
    assert server.busy == pytest.approx(0.5 * 103, abs=1)


def test_random_arrivals_wait_as_the_theory_of_queues_says() -> None:
    server = Station(1)
    taken = waited(lambda _: _of([(server, 1.0)]), 40_000, a_second=0.5)
    # Pollaczek and Khinchine: half used, one second each.
    assert taken.mean() == pytest.approx(1.5, rel=0.03)


def test_a_stage_ends_with_the_last_of_its_jobs() -> None:
    def draw(_: np.random.Generator) -> Request:
        return _of([(Station(1), 1.0), (Station(1), 3.0)], [(Station(1), 2.0)])

    assert waited(draw, 5, clients=1).tolist() == [5.0] * 5


def test_every_figure_says_where_it_comes_from() -> None:
    for name, figure in KnownFigures().all.items():
        assert figure["kind"] in ("measured", "public", "assumed"), name
        assert len(figure["from"]) > 10, name


def test_a_table_is_read_between_and_beyond_its_points() -> None:
    figures = KnownFigures()
    assert figures.at("search_ms", 30_000) == pytest.approx((8.9 + 18.4) / 2)
    assert figures.at("search_ms", 350_000) == pytest.approx(47.6 + 29.2)


def test_searches_of_people_take_longer_at_the_end_than_those_of_equals() -> None:
    equal = embedded(KnownFigures(), Crowd(1_000_000, 10_000))
    people = embedded(KnownFigures(), Crowd(1_000_000, 10_000, as_people=True))
    assert people["p95"] > 2 * equal["p95"]
    assert people["disk"] == equal["disk"]


def test_more_clients_wait_longer() -> None:
    one, many = (by_clients(KnownFigures(), Crowd(1000, 2), clients, 2) for clients in (1, 8))
    assert many["search"][0] > 4 * one["search"][0]
    assert one["chat"][0] > one["search"][0]


def test_twice_the_rounds_need_twice_the_memory() -> None:
    small = large(KnownFigures(), crowd("100000000/1000000/people"))
    big = large(KnownFigures(), crowd("200000000/2000000/people"))
    what = "memory that must be there, TB, one replica"
    assert big[what] == pytest.approx(tuple(2 * float(value) for value in small[what]))


def test_what_was_measured_stands_beside_what_is_predicted(tmp_path: Path) -> None:
    sizes = ("search, 10,000 rounds of 1 user", "search on a server, 900 rounds of 30 users")
    details = {"p95": 9.0, "disk": 70.0}
    found = {
        "store": [
            {"what": sizes[0], "ours": 5.0, "details": details},
            {"what": "write, 2,000 rounds of 4 users", "ours": 1.0, "details": {}},
        ],
        "server": [
            {"what": f"{sizes[1]}, most with few", "ours": 6.0, "details": details},
            {"what": "record, 1 worker", "ours": 1.0, "details": details},
        ],
    }
    (tmp_path / "bench.json").write_text(json.dumps(found))
    read = json.loads((tmp_path / "bench.json").read_text())
    (one, predicted, measured), (other, of_server, _) = measured_sizes(read, KnownFigures())
    assert (one, other) == (sizes[0], f"{sizes[1]}, most with few")
    assert predicted["p50"] == pytest.approx(8.9, rel=0.1)
    assert measured == {"p50": 5.0, **details}
    assert "server_resident" in of_server
