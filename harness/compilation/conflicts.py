"""Which fillers would say something about what a question asks: they could change its answer.

The benchmark's authors keep out fillers about the same attribute of the user; their files do not
tell which those are. Here a sentence in which a user speaks of herself takes a question up if it
holds two of its telling words and at least half of them; the session is not drawn for it then.
"""

import re
from array import array
from collections import Counter
from math import ceil

from harness.datasets.questions import HaystackSession
from harness.judges.lexical.words import STOP_WORDS, sentences, stem

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
    """What users say of themselves in many sessions, found again by the words of a question."""

    def __init__(self) -> None:
        self._keys: list[bytes] = []
        self._session_of = array("I")
        self._postings: dict[str, array[int]] = {}

    def add(self, key: bytes, session: HaystackSession) -> None:
        """Take in a session under its key, once."""
        number = len(self._keys)
        self._keys.append(key)
        for turn in session.turns:
            if turn.role == "user":
                for sentence in sentences(turn.content):
                    self._add(number, sentence)

    def taking_up(self, question: str) -> frozenset[bytes]:
        """The keys of the sessions with a statement that takes the question up."""
        asked = _telling(question)
        needed = max(min(2, len(asked)), ceil(len(asked) / 2))
        if not asked:
            return frozenset()
        found = Counter(n for word in asked for n in self._postings.get(word, ()))
        return frozenset(
            self._keys[self._session_of[n]] for n, count in found.items() if count >= needed
        )

    def _add(self, session: int, sentence: str) -> None:
        if _SELF.isdisjoint(_WORD.findall(sentence.lower())):
            return
        number = len(self._session_of)
        self._session_of.append(session)
        for word in _telling(sentence):
            self._postings.setdefault(word, array("I")).append(number)


def _telling(text: str) -> frozenset[str]:
    """The stems of the words that say what a text is about."""
    return frozenset(stem(word) for word in _WORD.findall(text.lower()) if word not in _ASKING)
