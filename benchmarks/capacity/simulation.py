"""Requests that wait for processors: a discrete-event simulation.

A request is stages one after the other. The jobs of a stage run side by side, each at a station,
where the first to come is the first to be served; the stage ends with the last of them.
"""

import heapq
from collections.abc import Callable, Sequence
from itertools import count

import numpy as np
import numpy.typing as npt


class Station:
    """So many servers with one queue."""

    def __init__(self, servers: int) -> None:
        self._free = [0.0] * servers
        self.busy = 0.0
        """Seconds of all servers."""

    def served(self, now: float, seconds: float) -> float:
        """When a job that comes now will be done."""
        end = max(now, self._free[0]) + seconds
        heapq.heapreplace(self._free, end)
        self.busy += seconds
        return end


Request = Sequence[Sequence[tuple[Station, float]]]


def waited(
    draw: Callable[[np.random.Generator], Request],
    requests: int,
    *,
    clients: int = 0,
    a_second: float = 0.0,
    seed: int = 0,
) -> npt.NDArray[np.float64]:
    """Seconds of so many requests: of clients who ask again once answered, or as they come."""
    random, numbers = np.random.default_rng(seed), count()
    coming: list[tuple[float, int, float, Request, int]] = []

    def come(now: float) -> None:
        heapq.heappush(coming, (now, next(numbers), now, draw(random), 0))

    starts = np.zeros(clients) if clients else random.exponential(1 / a_second, requests).cumsum()
    for start in starts:
        come(float(start))
    taken: list[float] = []
    while len(taken) < requests:
        now, number, began, request, stage = heapq.heappop(coming)
        if stage < len(request):
            end = max(station.served(now, seconds) for station, seconds in request[stage])
            heapq.heappush(coming, (end, number, began, request, stage + 1))
            continue
        taken.append(now - began)
        if clients:
            come(now)
    return np.array(taken)
