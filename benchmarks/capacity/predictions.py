"""The predictions: for one process with an embedded memory, a Qdrant server, and many servers."""

from collections.abc import Callable, Mapping
from math import ceil

import numpy as np

from benchmarks.capacity.figures import KnownFigures
from benchmarks.capacity.simulation import Request, Station, waited
from benchmarks.memories import Crowd, sizes_of_people

_REQUESTS = 4000
_SAMPLED_USERS = 10_000
_MONTH_DAYS = 30
Range = tuple[float, float]


class Askers:
    """Draws how many rounds the user has who asks, and how much a request's time strays."""

    def __init__(self, figures: KnownFigures, crowd: Crowd) -> None:
        users = min(crowd.users, _SAMPLED_USERS)
        each = crowd.rounds / crowd.users
        even = np.full(users, each)
        self._sizes = sizes_of_people(round(each * users), users) if crowd.as_people else even
        self._share = self._sizes / self._sizes.sum() if crowd.as_people else None
        self._spread = figures["spread"]

    def rounds(self, random: np.random.Generator) -> float:
        """The rounds of the user who asks; among people, those who told more ask more."""
        return float(random.choice(self._sizes, p=self._share))

    def strayed(self, random: np.random.Generator) -> float:
        """A random factor around one for a request's time."""
        return float(random.lognormal(0.0, self._spread))


def embedded(figures: KnownFigures, crowd: Crowd) -> dict[str, float]:
    """Predict the figures of `python -m benchmarks store` at one size, under the same names."""
    asking = Askers(figures, crowd)

    def search(random: np.random.Generator, more: float = 0.0) -> Request:
        taken = figures.at("search_ms", asking.rounds(random)) * asking.strayed(random) + more
        return [[(Station(1), taken / 1000)]]

    cold = figures.at("first_search_ms", crowd.rounds)
    later = 1000 * waited(search, _REQUESTS, clients=1)
    first = 1000 * waited(lambda random: search(random, cold), _REQUESTS, clients=1)
    kb = figures["disk_kb_round"] + figures["keys"] * figures["disk_kb_key"]
    return {
        "p50": float(np.median(later)),
        "p95": float(np.percentile(later, 95)),
        "cpu_p50": float(np.median(later)),
        "first_p50": float(np.median(first)),
        "anonymous": figures.at("anonymous_mb", crowd.rounds),
        "disk": crowd.rounds * kb / 1000,
        "written": figures.at("written_a_second", crowd.rounds),
    }


def on_server(figures: KnownFigures, crowd: Crowd) -> dict[str, float]:
    """Predict the figures of `python -m benchmarks server`; memory and disk just after writing."""
    asking = Askers(figures, crowd)

    def search(random: np.random.Generator) -> Request:
        rounds, strayed = asking.rounds(random), asking.strayed(random)
        parts = (figures.at(f"server_{part}_ms", rounds) for part in ("ours", "own"))
        return [[(Station(1), strayed * part / 1000)] for part in parts]

    taken = 1000 * waited(search, _REQUESTS, clients=1)
    return {
        "p50": float(np.median(taken)),
        "p95": float(np.percentile(taken, 95)),
        "server_resident": crowd.rounds * figures.range("server_kb_round")[1] / 1000,
        "disk": crowd.rounds * figures.range("server_disk_kb_round")[1] / 1000,
    }


def by_clients(
    figures: KnownFigures, crowd: Crowd, clients: int, cores: int
) -> dict[str, list[float]]:
    """p50, p95 and p99 in ms of searches and of chats with a model, without the model's own time.

    There is one process: encoding runs on any core, everything else on the event loop, one request
    after the other. The encoding of one request runs beside the rest of another.
    """
    asking = Askers(figures, crowd)
    small = figures.at("search_ms", 500)

    def answering(request_ms: float) -> Callable[[np.random.Generator], Request]:
        encoders, loop = Station(cores), Station(1)

        def draw(random: np.random.Generator) -> Request:
            rest = request_ms - figures["encode_ms"] - small
            rest += figures.at("search_ms", asking.rounds(random))
            strayed = asking.strayed(random) / 1000
            return [
                [(encoders, figures["encode_ms"] * strayed)],
                [(loop, rest * strayed)],
            ]

        return draw

    return {
        what: _percentiles(
            waited(answering(figures[f"{what}_request_ms"]), _REQUESTS, clients=clients)
        )
        for what in ("search", "chat")
    }


def large(figures: KnownFigures, crowd: Crowd, replicas: int = 2) -> dict[str, Range | str]:
    """What a provider needs for these rounds, each as the lowest and highest figure, and how long
    searches take."""
    need = 1 / (1 - figures["free"])
    memory = [crowd.rounds * figures["hot"] * kb / 1e6 for kb in figures.range("server_kb_round")]
    disk = [crowd.rounds * replicas * kb / 1e6 for kb in figures.range("server_disk_kb_round")]
    a_day = crowd.users * figures["rounds_a_user_day"]
    peak = a_day / 86_400 * figures["peak"]
    texts = peak * (1 + figures["keys"])
    cores = peak * (figures["chat_request_ms"] + figures["record_request_ms"]) / 1000 * need
    gpu_low, gpu_high = figures.range("gpu_texts_a_second")
    nodes = [
        max(
            replicas,
            ceil(gb * replicas * need / figures["node_gb"]),
            ceil(stored * need / figures["node_disk_gb"]),
        )
        for gb, stored in zip(memory, disk, strict=True)
    ]
    # Half a processor comes with each rented GB, so a processor for assistants and encoders costs
    # two GB.
    rented = [n * figures["node_gb"] + 2 * cores for n in nodes]
    prices = zip(
        rented,
        disk,
        figures.range("euro_gb_month"),
        figures.range("euro_disk_gb_month"),
        strict=True,
    )
    euros = [(gb * for_memory + stored * for_disk) for gb, stored, for_memory, for_disk in prices]
    cells = ceil(crowd.rounds / figures["cell_rounds"])
    rebuilt = crowd.rounds / figures["whole_writing_a_second_core"] / 86_400
    rebuilt_on_gpu = crowd.rounds * figures["keys"] / gpu_high / 86_400
    per_million = [total / crowd.rounds * 1e6 for total in euros]
    return {
        "rounds told a day": (a_day, a_day),
        "searches a second at the peak": (peak, peak),
        "memory that must be there, TB, one replica": (memory[0] / 1000, memory[1] / 1000),
        f"disk, TB, {replicas} replicas": (disk[0] / 1000, disk[1] / 1000),
        f"nodes of {figures['node_gb']:.0f} GB": (nodes[0], nodes[1]),
        "processors for assistants and encoders": (cores, cores),
        "texts encoded a second at the peak": (texts, texts),
        "GPUs in place of encoding on processors, one spare": (
            ceil(texts / gpu_high) + 1,
            ceil(texts / gpu_low) + 1,
        ),
        "processor-days to encode everything again": (rebuilt, rebuilt),
        "GPU-days to encode everything again, in batches": (rebuilt_on_gpu, rebuilt_on_gpu),
        "euros a month": (euros[0], euros[1]),
        "euros a month for a million rounds": (per_million[0], per_million[1]),
        f"one cluster, {nodes[1]} shards": _searching(figures, crowd, nodes[1], peak),
        f"{cells} cells of one shard": _searching(figures, crowd, 1, peak / cells),
    }


def _searching(figures: KnownFigures, crowd: Crowd, shards: int, a_second: float) -> str:
    """The times of searches at the peak, in words. A search goes to all shards of its cluster, each
    on a node of its own. The user's rounds are spread over the shards; the fixed cost of a search
    arises at every shard.
    """
    asking, need = Askers(figures, crowd), 1 / (1 - figures["free"])
    assistants = Station(ceil(a_second * figures["chat_request_ms"] / 1000 * need) + 1)
    nodes = [Station(int(figures["node_cores"])) for _ in range(shards)]

    def draw(random: np.random.Generator) -> Request:
        rounds = asking.rounds(random)
        own = figures.at("server_own_ms", rounds / shards) / 1000
        ours = figures.at("server_ours_ms", rounds) / 1000 + figures["encode_ms"] / 1000
        return [
            [(assistants, ours * asking.strayed(random))],
            [(node, own * asking.strayed(random)) for node in nodes],
        ]

    p50, p95, p99 = _percentiles(waited(draw, _REQUESTS, a_second=a_second))
    used = 1000 * sum(node.busy for node in nodes) / _REQUESTS
    return (
        f"p50 {p50:.0f}, p95 {p95:.0f}, p99 {p99:.0f} ms; {used:,.0f} ms of the nodes' processors"
    )


def compared(
    predicted: Mapping[str, float], measured: Mapping[str, float]
) -> list[tuple[str, float, float]]:
    """Each figure that both have: its name, predicted, measured."""
    return [(name, value, measured[name]) for name, value in predicted.items() if name in measured]


def _percentiles(seconds: np.ndarray) -> list[float]:
    return [float(value) * 1000 for value in np.percentile(seconds, [50, 95, 99])]
