"""A cache of results worked out from texts, keyed by digests so that no texts are kept."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

_Result = TypeVar("_Result")


class ByDigest(Generic[_Result]):
    """Results for texts, safe for threads; at most `most`, the least recently used go first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: OrderedDict[bytes, _Result] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, text: str, make: Callable[[], _Result]) -> _Result:
        """The result that was made for this text before, else a new one from `make`."""
        key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        made = make()
        with self._lock:
            self._known[key] = made
            if len(self._known) > self._most:
                self._known.popitem(last=False)
        return made
