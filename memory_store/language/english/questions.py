"""Questions: what slot one asks for, and the statement that would hold its answer.

Facts are kept as they were said: "I fixed the mountain bike on Saturday". The question about them,
"Which bike did I fix the past weekend?", opens with words that no statement has and names a time
that the statement names otherwise; both pull its vector away from the fact. Without them it lies
nearer, and the mean of both vectors finds more than either (measured in docs/benchmark.md).
"""

import re

from memory_store.language.english.slots import stated
from memory_store.language.reading import Sentence

# Many type a question without its mark.
_ASKS = re.compile(
    r"(?:what|who|whom|whose|where|when|why|how)(?:['’]?s|\s+(?:is|are|am|was|were|do|does|did|have"
    r"|has|had|can|could|should|would|will|many|much|long|often|old))\b",
    re.I,
)
# "What's new: I moved to Ghent".
_TELLS = re.compile(r"[,:]\s+(?:i|my|we|our)\b", re.I)
_OF_ONESELF = re.compile(r"\b(?:i|my|we|our|me|us)\b", re.I)
# How much surer than that it tells something it has to be that a sentence asks.
_SURELY = 0.4
# Whoever asks for a value asks for nothing else.
_LONGEST = 300
_END = r"(?:\s+(?:now|right now|currently|these days|at the moment|nowadays))?\s*\?*"
_OPENING = r"(?:(?:and|so|do you (?:know|remember)|remind me|tell me)\s+)?"
# A question, and the statements of which one may answer it.
_ASKED: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = tuple(
    (re.compile(_OPENING + question + _END, re.I), answers)
    for question, answers in (
        (
            r"where\s+(?:(?:do|am|are)\s+)?(?:i|we)\s+(?:am\s+|are\s+)?"
            r"(?:currently\s+|now\s+)?(?:live|living|reside|residing|based)",
            ("I live in Xanadu.",),
        ),
        (
            r"where\s+(?:(?:do|am)\s+)?i\s+(?:am\s+)?(?:currently\s+|now\s+)?(?:work|working)",
            ("I work at Xanadu.",),
        ),
        (
            r"(?:what|who)(?:['’]?s|\s+is|\s+are)\s+(?:my|our)\s+(?:current\s+|new\s+)?"
            r"(?P<what>\w[\w' -]*?)",
            ("My {what} is Xanadu.", "My {what} is 1."),
        ),
        (
            r"how\s+many\s+(?P<what>\w[\w -]*?)\s+do\s+i\s+(?P<verb>have|own|keep)",
            ("I {verb} 1 {what}.",),
        ),
    )
)


def is_question(sentence: str) -> bool:
    """Whether a sentence asks and states nothing: by its mark, or without any by how it begins. Of
    what says nothing of the one who speaks, the model of kinds knows more."""
    if sentence.endswith(("?", "？")):
        return True
    if sentence.endswith((".", "!")):
        return False
    if _ASKS.match(sentence):
        return _TELLS.search(sentence) is None
    return _OF_ONESELF.search(sentence) is None and Sentence.read(sentence).only_asks > _SURELY


def asked_slot(question: str) -> str | None:
    """The slot of which a question wants the value; None where no frame surely fits."""
    if len(question) > _LONGEST:
        return None
    for pattern, answers in _ASKED:
        if match := pattern.fullmatch(" ".join(question.split())):
            known = (stated(answer.format(**match.groupdict())) for answer in answers)
            return next((one.slot for one in known if one), None)
    return None


_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_SHORTEST = 25

_POLITE = re.compile(
    r"^(?:please\s+)?(?:(?:can|could|would|will) you\s+)?(?:please\s+)?"
    r"(?:(?:remind|tell) me(?: (?:about|again))?|help me (?:find|with|remember)|"
    r"list|name)\b(?:\s+(?:me|some|a few|any|an?)\b)*",
    re.I,
)
# Advice that is wished for was never stated: what was asked before is as near as what was told.
_WISH = re.compile(
    r"\bshould (?:i|we)\b|^(?:please\s+)?(?:suggest|recommend)\b|\bdo you have any\b"
    r"|\b(?:can|could|would|will) you (?:\w+ )?(?:suggest|recommend|advise|show|explain"
    r"|help(?! me (?:find|with|remember)))\b"
    r"|\bany (?:\w+ )?(?:suggestions|ideas|tips|advice|recommendations)\b",
    re.I,
)
_QUESTION_OPENING = re.compile(
    r"^(?:(?:and|so|but)\s+)?"
    r"(?:(?:in|on|at|for|to|from|with|by)\s+)?"
    r"(?:what|which|who|whom|whose|where|when|why|how(?:\s+(?:many|much|long|often|old|far))?)"
    r"(?:['’]s|\s+(?:is|was|are|were|do|does|did|have|has|had|can|should|would))?\b",
    re.I,
)
_AUXILIARY = re.compile(
    r"^(?:do|does|did|have|has|had|am|is|was|are|were)\s+(?=i\b|my\b|we\b)", re.I
)
_INVERSION = re.compile(r"\b(?:did|do|have|had|am|was)\s+(?=i\b)", re.I)
_TIME = re.compile(
    r"\b(?:in total|(?:in|over|during|for|within)?\s*the (?:past|last)(?:\s+[\w-]+)?\s+"
    r"(?:days?|weeks?|weekend|months?|years?)|"
    r"(?:this|last|past) (?:year|month|week|weekend|[a-z]+day)|"
    r"(?:an?|[\w-]{1,40}) (?:days?|weeks?|months?|years?) ago)\b",
    re.I,
)
_FIRST_PERSON = re.compile(r"^(?:i|my|we|our)\b", re.I)


def as_statement(question: str) -> str:
    """The question said as by the one who knows: 'How many bikes do I own?' → 'I bikes I own'.

    Not a sentence to read, a text to embed. What has none of these openings (a statement, another
    language), and a wish for advice, come back unchanged.
    """
    bare = _asking(question)
    if _WISH.search(bare):
        return question
    for pattern in (_POLITE, _QUESTION_OPENING, _AUXILIARY):
        bare = pattern.sub("", bare).strip()
    if bare == _asking(question):
        return question
    for pattern in (_INVERSION, _TIME):
        bare = pattern.sub(" ", bare)
    bare = " ".join(bare.split()).strip(" ?.!,")
    if not bare:
        return question
    return bare if _FIRST_PERSON.match(bare) else f"I {bare}"


def _asking(text: str) -> str:
    """The sentence that asks, without what leads up to it; a short one means little alone."""
    last = _SENTENCE_END.split(text.strip())[-1]
    return last if len(last) >= _SHORTEST else text.strip()
