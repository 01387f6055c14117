"""How natural and how hard authored histories are, in figures: `python tests/harness/authored.py
questions.json` prints them.
"""

import math
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.datasets.longmemeval import load_longmemeval
from harness.datasets.questions import HaystackSession, Question
from harness.judges.lexical.words import content_words

NIGHT = range(5)
# A few phrases are so many, each of so many words.
_FEW, _PHRASE = 5, 3


def repeated_replies(questions: Iterable[Question]) -> float:
    """The share of replies that stood in the same history before."""
    total = repeated = 0
    for question in questions:
        said = [t.content for s in question.sessions for t in s.turns if t.role == "assistant"]
        total += len(said)
        repeated += len(said) - len(set(said))
    return repeated / total


def common_openings(questions: Iterable[Question]) -> float:
    """The share of sessions that open with one of the few commonest phrases."""
    opened = Counter(
        " ".join(re.findall(r"\w+", session.turns[0].content.lower())[:_PHRASE])
        for question in questions
        for session in question.sessions
    )
    return sum(count for _, count in opened.most_common(_FEW)) / opened.total()


def at_night(questions: Iterable[Question]) -> float:
    """The share of sessions between midnight and five."""
    hours = [s.session_date.hour for question in questions for s in question.sessions]
    return sum(hour in NIGHT for hour in hours) / len(hours)


def found_by_words(questions: Iterable[Question], k: int) -> float:
    """The share of evidence sessions among the first `k` that share the question's words (BM25)."""
    found = total = 0
    for question in questions:
        if question.is_abstention:
            continue
        best = set(_by_words(question.question, question.sessions)[:k])
        found += len(best & set(question.evidence_session_ids))
        total += len(question.evidence_session_ids)
    return found / total


def _by_words(asked: str, sessions: Sequence[HaystackSession]) -> list[str]:
    texts = [Counter(content_words("\n".join(t.content for t in s.turns))) for s in sessions]
    mean = sum(text.total() for text in texts) / len(texts)
    wanted = set(content_words(asked))
    rarity = {
        word: math.log(1 + (len(texts) - n + 0.5) / (n + 0.5))
        for word in wanted
        if (n := sum(word in text for text in texts))
    }

    def worth(text: Counter[str]) -> float:
        length = 0.25 + 0.75 * text.total() / mean
        return sum(r * text[w] * 2.2 / (text[w] + 1.2 * length) for w, r in rarity.items())

    ranked = sorted(range(len(texts)), key=lambda i: -worth(texts[i]))
    return [sessions[i].session_id for i in ranked]


if __name__ == "__main__":
    read = load_longmemeval(Path(sys.argv[1]))
    print(f"repeated replies {repeated_replies(read):.3f}")
    print(f"common openings {common_openings(read):.3f}")
    print(f"at night {at_night(read):.3f}")
    for depth in (1, 5, 10):
        print(f"evidence found by words @{depth} {found_by_words(read, depth):.3f}")
