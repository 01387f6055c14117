"""Standing requests: how the user wants to be answered from now on, whatever they ask about.

"Always give dates as day and month." is like no question that it is meant for, so that it is
looked for by itself, and shown apart from the rounds.
"""

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from assistant.dates import print_day
from memory_store import Days, MemoryStore, Query, Recalled, Record, Speaker, own_sentences

STANDING = "standing requests"
"""Under this name they stand in what a model reads."""

# What is looked for: rounds near to any of these may hold one.
_LIKE = (
    "From now on always answer me in German.",
    "Always write dates and amounts like this when you reply.",
    "Never use emojis or long lists in your answers, and call me by my name.",
)
_ROUNDS = 10
_MOST = 8
_LONGEST = 500
_ANSWERS = (
    r"(?:answer|reply|respond|write|give|show|tell|list|call|address|speak|talk|say|spell|format"
    r"|translate|convert|quote|cite|mention|explain|summari[sz]e|ask|remind|refer)\b"
)
# These are said of much else: "always keep receipts".
_DOES = (
    r"(?:use|put|include|add|start|begin|end|sign|keep|make|round|avoid|skip|stop|leave\s+out|be)\b"
    r"(?=.*\b(?:your?|yourself|answer\w*|repl(?:y|ies)|responses?|messages?|emojis?|bullets?|tables?"
    r"|lists?|markdown|bold|units?|metric|imperial|celsius|fahrenheit|format\w*|euros?|dollars?"
    r"|short|brief|concise|formal|casual|languages?|words|sentences?|dates?|times?|names?|jokes?"
    r"|jargon|apologi[sz]\w+)\b)"
)
_NEGATED = r"(?:(?:do\s+not|don['’]?t)\s+(?:ever\s+)?)"
_POLITE = (
    r"(?:please|pls|plz|and|so|but|ok(?:ay)?|hey|also|oh|btw|by\s+the\s+way|remember\s+to"
    r"|(?:can|could|would|will)\s+you|you\s+(?:should|must|can)"
    r"|i(?:['’]d|\s+would)?\s+(?:want|like|need)\s+you\s+to|when(?:ever)?\s+you\s+\w+[^,.]{0,40})"
)
_OPENING = rf"(?:^|[,;.!–—])\s*(?:{_POLITE}[\s,]+)*"
_ONWARDS = (
    r"(?:from\s+(?:now|here|today)\s+on(?:wards?)?|(?:going|moving)\s+forward"
    r"|in\s+(?:the\s+)?future)"
)
_ALWAYS = r"(?:always|never|every\s+time|whenever\s+(?:i|we)\b[^,]{1,60},)"
_DO = rf"(?:{_ANSWERS}|{_DOES})"
_STANDING_REQUEST = re.compile(
    rf"{_OPENING}(?:"
    rf"{_ONWARDS}[\s,:]+(?:{_POLITE}[\s,]+)*(?:(?:{_ALWAYS}|only|just)\s+|{_NEGATED})*{_DO}"
    rf"|{_ALWAYS}\s+(?:{_POLITE}[\s,]+)*{_NEGATED}?{_DO}"
    rf"|{_NEGATED}?{_DO}.{{1,120}}?(?<!\babout)\s(?:{_ONWARDS}|always|every\s+time)"
    rf"(?:[\s,]+(?:please|pls|ok|thanks))?\s*[.!]*$"
    rf"|(?:{_NEGATED}|stop\s+){_DO}?.{{1,120}}?\b(?:again|any\s?more|ever)\s*[.!]*$"
    r")",
    re.I,
)


@dataclass(frozen=True, slots=True)
class StandingRequest:
    """One sentence of the user, and when it was said."""

    round_id: str
    said_at: datetime
    text: str

    @property
    def entry(self) -> dict[str, Any]:
        """As it is shown."""
        return {"said_on": print_day(self.said_at), "request": self.text}


async def standing_requests(
    store: MemoryStore, recalled: Sequence[Recalled], asked_at: datetime
) -> list[StandingRequest]:
    """What the user whose rounds these are asked for by the day of the question, the newest first.

    Raises what the store raises.
    """
    if not recalled or not store.language.has_rules:
        return []
    user = recalled[0].record.round.user_id
    until = Days(None, asked_at.date())
    found = await asyncio.gather(
        *(store.recall(Query(user, like, _ROUNDS, until, sessions=False)) for like in _LIKE)
    )
    records = {one.record.id: one.record for recall in found for one in recall.rounds}
    records |= {one.record.id: one.record for one in recalled}
    requests = [one for record in records.values() for one in _requests(record)]
    distinct = {one.text.casefold(): one for one in sorted(requests, key=lambda one: one.said_at)}
    return sorted(distinct.values(), key=lambda one: one.said_at, reverse=True)[:_MOST]


def _requests(record: Record) -> Iterator[StandingRequest]:
    round = record.round
    # A longer message may be a text to work on.
    if len(round.user_text) > _LONGEST or any(f.speaker is Speaker.QUOTED for f in record.facts):
        return
    for sentence in own_sentences(round):
        if is_standing_request(sentence):
            yield StandingRequest(record.id, round.session_date, sentence)


def is_standing_request(sentence: str) -> bool:
    """Whether it says how to answer from now on."""
    return _STANDING_REQUEST.search(sentence) is not None
