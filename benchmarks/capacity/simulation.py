"""Requests that wait for processors: a discrete-event simulation.

A request has stages that follow one another. The jobs of a stage run side by side, each at a
station, which serves jobs in the order of their arrival. A stage ends with its last job.
"""

import heapq
from collections.abc import Callable, Sequence
from itertools import count

import numpy as np
import numpy.typing as npt


class Station:
    """A number of servers with one queue."""

    def __init__(self, servers: int) -> None:
        self._free = [0.0] * servers
        self.busy = 0.0
        """The busy seconds of all servers together."""

    def served(self, now: float, seconds: float) -> float:
        """The time at which a job that arrives `now` will be done."""
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
    """The seconds that each of `requests` requests takes. They come either from `clients` clients
    who ask again once answered, or at random times, `a_second` a second on average."""
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
