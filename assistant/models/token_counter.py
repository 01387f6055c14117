"""How many tokens a text is, for budgets. The estimate; `carried.py` has the tokenizer."""

from collections.abc import Callable

from assistant.by_digest import ByDigest

TokenCounter = Callable[[str], int]
"""From a text to its tokens, close enough to fill a budget by."""

# English chat is 4.6 characters a token in cl100k; JSON, code and names are denser.
CHARACTERS_PER_TOKEN = 4


def about_tokens(text: str) -> int:
    """An estimate that needs no tokenizer, rather too high than too low for English."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


class RememberedCounts:
    """A counter that counts a text once; keeps digests, no texts.

    The same rounds are read for question after question, and a tokenizer takes longer over a
    hundred of them than the search that found them.
    """

    def __init__(self, count: TokenCounter, *, most: int = 50_000) -> None:
        self._count = count
        self._known = ByDigest[int](most)

    def __call__(self, text: str) -> int:
        """The tokens of the text."""
        return self._known.of(text, lambda: self._count(text))
