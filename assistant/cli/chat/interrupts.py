"""Ctrl-C while something runs: it takes effect at once, and none is lost."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def interrupts() -> Iterator[Callable[[], None]]:
    """Ctrl-C raises `KeyboardInterrupt` wherever the program is. An event loop would keep it for
    later, and lose it at its end.

    It may come while a library is where exceptions end silently. What this gives raises it again
    then, and does nothing otherwise.
    """
    heard = False

    def interrupt(*_: object) -> None:
        nonlocal heard
        heard = True
        raise KeyboardInterrupt

    def again() -> None:
        if heard:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield again
    finally:
        signal.signal(signal.SIGINT, before)
