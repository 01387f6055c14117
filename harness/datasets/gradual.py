"""A list that a thread is still filling: the first items are of use before the rest is there."""

import threading
from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Gradual(Generic[T]):
    """Items of an iterable that is run through at once, in a thread of its own.

    An error of the iterable is raised to everybody who reads to the end, after the items before it.
    """

    def __init__(self, items: Iterable[T]) -> None:
        self._found: list[T] = []
        self._problem: Exception | None = None
        self._ended = False
        self._news = threading.Condition()
        # A daemon: nobody should wait for it when the run was interrupted.
        threading.Thread(target=self._fill, args=(items,), name="scan", daemon=True).start()

    @property
    def is_complete(self) -> bool:
        """Whether all items, or the error, are there."""
        return self._ended

    def __iter__(self) -> Iterator[T]:
        """Items in order, waiting for those that are not there yet."""
        place = 0
        while True:
            with self._news:
                self._news.wait_for(lambda at=place: self._ended or at < len(self._found))  # type: ignore[misc]
                if place == len(self._found):
                    if self._problem is not None:
                        raise self._problem
                    return
                item = self._found[place]
            yield item
            place += 1

    def all(self) -> list[T]:
        """Everything, however long it takes."""
        return list(self)

    def _fill(self, items: Iterable[T]) -> None:
        try:
            for item in items:
                self._add(item)
        except Exception as problem:  # whatever it is, it belongs to who reads
            self._problem = problem
        with self._news:
            self._ended = True
            self._news.notify_all()

    def _add(self, item: T) -> None:
        with self._news:
            self._found.append(item)
            self._news.notify_all()
