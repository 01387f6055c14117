"""The parts of histories: each question's own sessions, and the fillers that all questions share.

The data are read in one pass. A session is kept once, as the bytes that will be written, so memory
grows with the number of distinct sessions in the file and not with their occurrences.
"""

import json
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from heapq import nsmallest
from math import ceil, log
from typing import Any

from harness.datasets.longmemeval import Instance
from harness.datasets.questions import HaystackSession, Question, Turn, rounds_of
from harness.judges.lexical.words import STOP_WORDS, sentences, stem

# LongMemEval's authors write sessions about 164 attributes and take half of their fillers from
# these sessions: three fillers in a thousand are about any one attribute.
_ABOUT_ONE = 1 / 250
# In a small pool a single attribute may have more sessions than its share.
_AT_LEAST = 5
# The least number of words that a session must share with a question that has so many.
_SHARED = 2
# BM25's usual constants.
_K1, _B = 1.2, 0.75
_WORD = re.compile(r"[^\W\d_]+")
_SELF = frozenset(("i", "me", "my", "mine", "myself", "we", "us", "our", "ours"))
# Words that occur in questions of every kind.
_ASKING = STOP_WORDS | frozenset(
    "ago after amount before between current currently day days did ever first following get go "
    "got happened how kind last long many month months more most much name new number order past "
    "provide recent recently second since suggest take tell think time times total type usually "
    "want week weeks year years".split()
)


class Statements:
    """An index of what users say of themselves in sessions, ranked by the words of a question."""

    def __init__(self) -> None:
        self._keys: list[bytes] = []
        self._lengths = array("I")
        # For each word, the sessions that have it, and in how many of their statements.
        self._postings: dict[str, tuple[array[int], array[int]]] = {}

    def add(self, key: bytes, session: HaystackSession) -> None:
        said = Counter(word for text in _statements(session) for word in _telling(text))
        for word, times in said.items():
            sessions, counts = self._postings.setdefault(word, (array("I"), array("I")))
            sessions.append(len(self._keys))
            counts.append(times)
        self._keys.append(key)
        self._lengths.append(said.total())

    def nearest(self, question: str) -> frozenset[bytes]:
        """The keys of the sessions that are nearest to a question."""
        similarity = self._similarity(_telling(question))
        most = max(_AT_LEAST, ceil(len(self._keys) * _ABOUT_ONE))
        best = nsmallest(most, ((-value, self._keys[n]) for n, value in similarity.items()))
        return frozenset(key for _, key in best)

    def _similarity(self, asked: frozenset[str]) -> dict[int, float]:
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
    for turn in session.turns:
        if turn.role == "user":
            for sentence in sentences(turn.content):
                if not _SELF.isdisjoint(_WORD.findall(sentence.lower())):
                    yield sentence


def _telling(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in _WORD.findall(text.lower()) if word not in _ASKING)


_HAYSTACK = frozenset({"haystack_session_ids", "haystack_dates", "haystack_sessions"})
_LABEL = "has_answer"


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a session: `turns` is JSON, `key` is the same for the same text."""

    key: bytes
    turns: bytes
    rounds: int
    characters: int


@dataclass(frozen=True, slots=True)
class PlacedSession:
    """A session at its place in a history; `date_text` is its date as the file has it."""

    session_id: str
    date: datetime
    date_text: str
    content: Content


@dataclass(frozen=True, slots=True)
class Filler:
    """A session that is no evidence, whatever history it is put into.

    Where the data names speakers, this only holds for questions about other people.
    """

    session_id: str
    content: Content
    speakers: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Outline:
    """A question apart from its history: `record` has every field of the file but the haystack's,
    `question` has no sessions. `began` is the date of the oldest session, or of the question if it
    has none; `speakers` are the people in the history, where the data names them.
    """

    question: Question
    record: dict[str, Any]
    evidence: tuple[PlacedSession, ...]
    fillers: tuple[PlacedSession, ...]
    began: datetime
    speakers: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Pool:
    """All questions of a file in file order, and its distinct fillers in order of appearance.

    `statements` indexes what the fillers say of their users. `sessions` counts occurrences;
    `withheld` counts the distinct fillers of the file that are not in the pool, because they repeat
    evidence of some question.
    """

    outlines: tuple[Outline, ...]
    fillers: tuple[Filler, ...]
    sessions: int
    withheld: int
    statements: Statements

    def conflicts(self, outline: Outline) -> frozenset[bytes]:
        """The keys of fillers that could say something about what this question asks. None are
        needed where people are named, because there fillers are about other people anyway.
        """
        if outline.speakers:
            return frozenset()
        return self.statements.nearest(outline.question.question)


def read_pool(instances: Iterable[Instance]) -> Pool:
    """Take the instances apart. Labels alone decide what is evidence, never the look of an id."""
    reader = _PoolReader()
    for instance in instances:
        reader.add(instance)
    return reader.pool()


@dataclass(slots=True)
class _PoolReader:
    outlines: list[Outline] = field(default_factory=list)
    fillers: dict[bytes, Filler] = field(default_factory=dict)
    # A filler's turns as keys, to be compared with the labelled turns of all questions.
    turn_keys: dict[bytes, frozenset[bytes]] = field(default_factory=dict)
    evidence: set[bytes] = field(default_factory=set)
    labelled_turns: set[bytes] = field(default_factory=set)
    sessions: int = 0
    statements: Statements = field(default_factory=Statements)

    def add(self, instance: Instance) -> None:
        record, question = instance
        evidence, fillers = [], []
        for session in question.sessions:
            if _is_evidence(session, question):
                evidence.append(self._evidence(session, record))
            else:
                fillers.append(self._filler(session, record))
        self.sessions += len(question.sessions)
        dates = [session.session_date for session in question.sessions]
        outline = Outline(
            question=replace(question, sessions=()),
            record={name: value for name, value in record.items() if name not in _HAYSTACK},
            evidence=tuple(evidence),
            fillers=tuple(fillers),
            began=min(dates, default=question.question_date),
            speakers=frozenset().union(*(_speakers(session) for session in question.sessions)),
        )
        self.outlines.append(outline)

    def pool(self) -> Pool:
        """The pool. Fillers are chosen only at the end, since a filler may stand in the file before
        the label that makes it evidence."""
        fillers = tuple(
            filler
            for key, filler in self.fillers.items()
            if filler.speakers or self._says_nothing_labelled(key)
        )
        # An empty session fills nothing.
        said = tuple(filler for filler in fillers if filler.content.characters)
        withheld = len(self.fillers) - len(fillers)
        return Pool(tuple(self.outlines), said, self.sessions, withheld, self.statements)

    def _says_nothing_labelled(self, key: bytes) -> bool:
        known = self.turn_keys[key]
        return key not in self.evidence and self.labelled_turns.isdisjoint(known)

    def _evidence(self, session: HaystackSession, record: dict[str, Any]) -> PlacedSession:
        content = _content(session, record["haystack_sessions"][session.position])
        self.evidence.add(content.key)
        self.labelled_turns.update(_turn_key(turn) for turn in session.turns if turn.has_answer)
        return _placed(session, record, content)

    def _filler(self, session: HaystackSession, record: dict[str, Any]) -> PlacedSession:
        key = _session_key(session)
        if key not in self.fillers:
            turns = record["haystack_sessions"][session.position]
            unlabelled = [{k: v for k, v in turn.items() if k != _LABEL} for turn in turns]
            content = _content(session, unlabelled)
            self.fillers[key] = Filler(session.session_id, content, _speakers(session))
            self.turn_keys[key] = frozenset(_turn_key(turn) for turn in session.turns)
            self.statements.add(key, session)
        return _placed(session, record, self.fillers[key].content)


def _speakers(session: HaystackSession) -> frozenset[str]:
    return frozenset(turn.name for turn in session.turns if turn.name is not None)


def _is_evidence(session: HaystackSession, question: Question) -> bool:
    listed = session.session_id in question.evidence_session_ids
    return listed or any(turn.has_answer for turn in session.turns)


def _placed(session: HaystackSession, record: dict[str, Any], content: Content) -> PlacedSession:
    date_text = record["haystack_dates"][session.position]
    return PlacedSession(session.session_id, session.session_date, date_text, content)


def _content(session: HaystackSession, turns: list[dict[str, Any]]) -> Content:
    return Content(
        key=_session_key(session),
        # ASCII escapes keep an unpaired surrogate of the source as it is; UTF-8 would fail on it.
        turns=json.dumps(turns).encode("ascii"),
        rounds=len(rounds_of(session.turns)),
        characters=sum(len(turn.content) for turn in session.turns),
    )


def _session_key(session: HaystackSession) -> bytes:
    return sha256(b"".join(_turn_key(turn) for turn in session.turns)).digest()


def _turn_key(turn: Turn) -> bytes:
    """Equal for the same words by the same role, however they are spaced."""
    words = " ".join(turn.content.split())
    return sha256(f"{turn.role}: {words}".encode()).digest()
