"""Whose words an answer repeats, so that it can be withdrawn when they are forgotten."""

from collections import Counter
from collections.abc import Sequence

from assistant.reading.reader import Trace
from memory_store import Recalled, terms

# A word that more of the rounds read have is nobody's.
_FEW = 3
# An answer owes its words to a few rounds, those that it has the most of such words from.
_MOST = 8
# One that shares no such word with any round may repeat those nearest to the question. How many was
# measured: docs/decisions/0015-withdrawn-answers.md.
_NEAREST = 5


def repeated(
    question: str, answer: str, trace: Trace, recalled: Sequence[Recalled]
) -> tuple[str, ...]:
    """Ids of the rounds that the answer may repeat: those it quotes; else those read with which it
    has the most words in common that the question has not, and that few of them have; else the
    nearest ones that were read. `recalled` is in order of nearness.

    In doubt an answer repeats: a round that was read but is not at hand comes next.
    """
    if trace.quoted:
        return tuple(trace.quoted)
    texts = {
        one.record.id: f"{one.record.round.user_text}\n{one.record.round.assistant_text}"
        for one in recalled
    }
    told = frozenset(terms(answer)).difference(terms(question))
    shared = {id: told.intersection(terms(texts[id])) for id in trace.context if id in texts}
    rounds_with = Counter(term for of_round in shared.values() for term in of_round)
    owns = {
        id: sum(rounds_with[term] <= _FEW for term in of_round) for id, of_round in shared.items()
    }
    owed = sorted((id for id in owns if owns[id]), key=lambda id: -owns[id])
    # "Three." shares no word with what was counted.
    owed = owed or [id for id in texts if id in shared][:_NEAREST]
    return tuple([*owed, *(id for id in trace.context if id not in owns)][:_MOST])
