"""A question as the statement that would hold its answer. Pure.

Facts are kept as they were said: "I fixed the mountain bike on Saturday". The question about them,
"Which bike did I fix the past weekend?", opens with words that no statement has and names a time
that the statement names otherwise; both pull its vector away from the fact. Without them it lies
nearer, and the mean of both vectors finds more than either (measured in docs/benchmark.md).
"""

import re

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_SHORTEST = 25

_POLITE = re.compile(
    r"^(?:please\s+)?(?:(?:can|could|would|will) you\s+)?(?:please\s+)?"
    r"(?:(?:remind|tell) me(?: (?:about|again))?|help me (?:find|with|remember)|"
    r"suggest|recommend|list|name)\b(?:\s+(?:me|some|a few|any|an?)\b)*",
    re.I,
)
_OPENING = re.compile(
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
    language) comes back unchanged.
    """
    bare = _asking(question)
    for pattern in (_POLITE, _OPENING, _AUXILIARY):
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
