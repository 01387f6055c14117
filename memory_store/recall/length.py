"""How many rounds are as much to read as so many of usual length. Pure.

People write to each other in a line or two, and to assistants in more; assistants answer at length.
What a reader can take in of the one would leave most of its budget empty with the other.
"""

from collections.abc import Iterable
from itertools import accumulate, takewhile

# Without stop words, as recall counts them. What a round is written down with, its date and its
# speakers, is as long as `_AROUND` words; a longer round than a usual one counts no more than that,
# since its reply is cut (docs/reading.md).
_AROUND = 23
_USUAL = 100


def as_many(words: Iterable[int], rounds: int) -> int:
    """How many of the first rounds, of so many words each, fill the place of `rounds` usual ones;
    never fewer than these."""
    taken = accumulate(_AROUND + min(one, _USUAL) for one in words)
    return sum(1 for _ in takewhile(lambda all: all <= rounds * (_AROUND + _USUAL), taken))
