"""How many tokens a text is, for budgets. The estimate; `carried.py` has the tokenizer."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable

TokenCounter = Callable[[str], int]
"""From a text to its tokens, close enough to fill a budget by."""

# English chat is 4.6 characters a token in cl100k; JSON, code and names are denser.
CHARACTERS_PER_TOKEN = 4


def about_tokens(text: str) -> int:
    """An estimate that needs no tokenizer, rather too high than too low for English."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


class RememberedCounts:
    """A counter that counts a text once, for any number of threads; keeps digests, no texts.

    The same rounds are read for question after question, and a tokenizer takes longer over a
    hundred of them than the search that found them.
    """

    def __init__(self, count: TokenCounter, *, most: int = 50_000) -> None:
        self._count = count
        self._most = most
        self._known: OrderedDict[bytes, int] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, text: str) -> int:
        """The tokens of the text."""
        key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        with self._lock:
            if (known := self._known.get(key)) is not None:
                self._known.move_to_end(key)
                return known
        counted = self._count(text)
        with self._lock:
            self._known[key] = counted
            if len(self._known) > self._most:
                self._known.popitem(last=False)
        return counted
