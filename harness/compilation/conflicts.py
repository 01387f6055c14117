"""Which fillers could say something about what a question asks: they could change its answer.

The benchmark's authors keep out fillers about the same attribute of the user; their files do not
tell which those are. Here a question's words are looked for in what users say of themselves, and
the sessions nearest to it by BM25 are not drawn for it: as many as can be expected to be about one
attribute, whether or not they are.
"""

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator
from heapq import nsmallest
from math import ceil, log

from harness.datasets.questions import HaystackSession
from harness.judges.lexical.words import STOP_WORDS, sentences, stem

# The authors write their own sessions about 164 attributes and take half of their fillers from
# these: three in a thousand are about any one of them.
_ABOUT_ONE = 1 / 250
# In a small pool a single attribute may have more sessions than its share.
_AT_LEAST = 5
# The words that a session shares with a question, unless it has fewer.
_SHARED = 2
# BM25's usual constants.
_K1, _B = 1.2, 0.75
_WORD = re.compile(r"[^\W\d_]+")
_SELF = frozenset(("i", "me", "my", "mine", "myself", "we", "us", "our", "ours"))
# What questions of every kind are put with.
_ASKING = STOP_WORDS | frozenset(
    "ago after amount before between current currently day days did ever first following get go "
    "got happened how kind last long many month months more most much name new number order past "
    "provide recent recently second since suggest take tell think time times total type usually "
    "want week weeks year years".split()
)


class Statements:
    """What users say of themselves in many sessions, ranked by the words of a question."""

    def __init__(self) -> None:
        self._keys: list[bytes] = []
        self._lengths = array("I")
        # For each word the sessions that say it, and how many of their statements do.
        self._postings: dict[str, tuple[array[int], array[int]]] = {}

    def add(self, key: bytes, session: HaystackSession) -> None:
        """Take in a session under its key, once."""
        said = Counter(word for text in _statements(session) for word in _telling(text))
        for word, times in said.items():
            sessions, counts = self._postings.setdefault(word, (array("I"), array("I")))
            sessions.append(len(self._keys))
            counts.append(times)
        self._keys.append(key)
        self._lengths.append(said.total())

    def nearest(self, question: str) -> frozenset[bytes]:
        """The keys of the sessions that come nearest to what a question asks."""
        similarity = self._similarity(_telling(question))
        most = max(_AT_LEAST, ceil(len(self._keys) * _ABOUT_ONE))
        best = nsmallest(most, ((-value, self._keys[n]) for n, value in similarity.items()))
        return frozenset(key for _, key in best)

    def _similarity(self, asked: frozenset[str]) -> dict[int, float]:
        """BM25 of the sessions that share enough words."""
        found, shared = defaultdict[int, float](float), Counter[int]()
        mean = sum(self._lengths) / len(self._keys) if self._keys else 0.0
        for word in asked & self._postings.keys():
            sessions, counts = self._postings[word]
            rarity = log(1 + (len(self._keys) - len(sessions) + 0.5) / (len(sessions) + 0.5))
            for n, times in zip(sessions, counts, strict=True):
                norm = _K1 * (1 - _B + _B * self._lengths[n] / mean)
                found[n] += rarity * times * (_K1 + 1) / (times + norm)
                shared[n] += 1
        enough = min(_SHARED, len(asked))
        return {n: value for n, value in found.items() if shared[n] >= enough}


def _statements(session: HaystackSession) -> Iterator[str]:
    """The sentences in which its user speaks of herself."""
    for turn in session.turns:
        if turn.role == "user":
            for sentence in sentences(turn.content):
                if not _SELF.isdisjoint(_WORD.findall(sentence.lower())):
                    yield sentence


def _telling(text: str) -> frozenset[str]:
    """The stems of the words that say what a text is about."""
    return frozenset(stem(word) for word in _WORD.findall(text.lower()) if word not in _ASKING)
