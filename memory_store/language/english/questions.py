"""Questions: what slot one asks for, and the statement that would hold its answer.

Facts are kept as they were said: "I fixed the mountain bike on Saturday". The question about them,
"Which bike did I fix the past weekend?", opens with words that no statement has and names a time
that the statement names otherwise; both pull its vector away from the fact. Without them it lies
nearer, and the mean of both vectors finds more than either (measured in docs/benchmark.md).
"""

import re
from functools import cache

from memory_store.language.english.slots import stated
from memory_store.language.languages import spelled, word_table, wording
from memory_store.language.reading import Sentence

# How much surer than that it tells something it has to be that a sentence asks.
_SURELY = 0.4
# Whoever asks for a value asks for nothing else.
_LONGEST = 300
# A shorter sentence that asks means little without what leads up to it.
_SHORTEST = 25


def is_question(sentence: str) -> bool:
    """Whether a sentence asks and states nothing: by its mark, or without any by how it begins. Of
    what says nothing of the one who speaks, the model of kinds knows more."""
    if sentence.endswith(("?", "？")):
        return True
    if sentence.endswith((".", "!")):
        return False
    if wording("questions.begins").match(sentence):
        return wording("questions.tells").search(sentence) is None
    is_of_oneself = wording("questions.of_oneself").search(sentence) is not None
    return not is_of_oneself and Sentence.read(sentence).only_asks > _SURELY


def asked_slot(question: str) -> str | None:
    """The slot of which a question wants the value; None where no frame surely fits."""
    if len(question) > _LONGEST:
        return None
    for pattern, answers in _frames():
        if match := pattern.fullmatch(" ".join(question.split())):
            known = (stated(answer.format(**match.groupdict())) for answer in answers)
            return next((one.slot for one in known if one), None)
    return None


@cache
def _frames() -> list[tuple[re.Pattern[str], list[str]]]:
    """Questions, and the statements of which one may answer each."""
    return [
        (re.compile(spelled(one["question"], "questions"), re.I), one["answers"])
        for one in word_table("english", "questions")["asked"]
    ]


def as_statement(question: str) -> str:
    """The question said as by the one who knows: 'How many bikes do I own?' → 'I bikes I own'.

    Not a sentence to read, a text to embed. What has none of these openings (a statement, another
    language), and a wish for advice, come back unchanged.
    """
    bare = _asking(question)
    if wording("questions.wish").search(bare):
        return question
    for asks in ("polite", "opening", "auxiliary"):
        bare = wording(f"questions.{asks}").sub("", bare).strip()
    if bare == _asking(question):
        return question
    for differs in ("inversion", "named_time"):
        bare = wording(f"questions.{differs}").sub(" ", bare)
    bare = " ".join(bare.split()).strip(" ?.!,")
    if not bare:
        return question
    return bare if wording("questions.first_person").match(bare) else f"I {bare}"


def _asking(text: str) -> str:
    """The sentence that asks, without what leads up to it; a short one means little alone."""
    last = re.split(r"(?<=[.!?])\s+", text.strip())[-1]
    return last if len(last) >= _SHORTEST else text.strip()
