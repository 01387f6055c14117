"""What a message asks for, told by its words.

Only general turns of phrase count here; a kind decides how the context is laid out and which
computed help comes with it, never what the answer is.
"""

import re
from dataclasses import dataclass

from memory_store import (
    is_about_talk,
    names_overview,
    read_sentences,
    wants_answer,
    wants_order,
)

_YOUR_WORDS = re.compile(
    r"\b(?:you|your) (?:\w+ )?(?:said|told|mentioned|suggest(?:ed|ions?)|recommend(?:ed|ations?)"
    r"|gave|listed|wrote|created|made|provided|explained|described|advised|advice|proposed|shared"
    r"|came up with)\b"
    r"|\bdid you (?:\w+ )?(?:say|tell|mention|suggest|recommend|give|list|write|create|provide"
    r"|explain|describe|advise|propose|share|come up with)\b"
    r"|\baccording to you\b",
    re.I,
)
_ABOUT_USER = re.compile(
    r"\b(?:know|remember|recall|learn(?:ed|t)|told you|tell me)(?: \w+){0,2}?"
    r" about (?:me|myself)\b",
    re.I,
)
_COUNT = re.compile(
    r"\bhow (?:many|much|often)\b|\bnumber of\b|\b(?:in )?total\b|\baltogether\b"
    r"|\blist (?:all|every)|\bwhat (?:are )?all\b",
    re.I,
)
_SPAN = re.compile(r"\bhow (?:many (?:days?|weeks?|months?|years?)|long)\b", re.I)
_TIME = re.compile(
    r"\bwhen\b|\b(?:what|which) (?:(?:is|was) the )?(?:exact )?(?:day|date|year|month|time)\b"
    r"|\bago\b|\bhow (?:old|long)\b"
    r"|\b(?:days?|weeks?|months?|years?) (?:passed|between|before|after|since|ago|had|have)\b"
    r"|\b(?:first|last|earlier|later|earliest|latest|most recent(?:ly)?|order|before|after|since"
    r"|between)\b",
    re.I,
)
_SUGGESTION = re.compile(
    r"\b(?:suggest|recommend|advice|advise|ideas?|tips?|inspiration)\b"
    r"|\bwhat should i\b|\bshould i\b|\bhelp me (?:choose|pick|plan|find|decide)\b"
    r"|\b(?:any|some) (?:thoughts|ways|suggestions|recommendations)\b",
    re.I,
)
_YES_NO = re.compile(
    r"^(?:is|are|am|was|were|do|does|did|has|have|had|can|could|would|will|should) \w+", re.I
)
# "Tell me all …" asks for it; "List price is 40", "Name's Ann" do not.
_REQUEST = re.compile(
    r"^(?:please |pls |can you |could you |now |and |so )*(?:(?:tell|show|give|remind) (?:me|us)\b"
    r"|(?:list|name)(?: me)? (?:all|every\w*|each|the|my|our|some|any|\d+)\b"
    r"|sum(?:mari[sz]e| up)\b)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class QuestionKind:
    """Which of these a message is; several may hold at once."""

    asks: bool = False
    """It asks for something at all; otherwise it only states."""
    about_replies: bool = False
    """It asks for what the assistant said."""
    about_user: bool = False
    """It asks for what is known of the user at all."""
    counts: bool = False
    """It asks for a number of things, or for all of them."""
    spans: bool = False
    """It asks for a length of time."""
    orders: bool = False
    """It asks in which order things happened."""
    overview: bool = False
    """It asks for a summary of what was said, or for the order of it: no few rounds answer it."""
    about_time: bool = False
    """Its answer depends on dates: a day, a span, an order, the first or the last."""
    wants_suggestion: bool = False
    """It asks for advice that should fit the person."""
    yes_no: bool = False
    """It can be answered with yes or no."""

    @property
    def wants_advice(self) -> bool:
        """It asks for a suggestion, and not for one that was made before."""
        return self.wants_suggestion and not self.about_replies


def question_kind(text: str) -> QuestionKind:
    """The kind of a message; a mere statement is of no kind."""
    if not _asks(text):
        return QuestionKind()
    spans = bool(_SPAN.search(text))
    overview = names_overview(text)
    return QuestionKind(
        asks=True,
        about_replies=bool(_YOUR_WORDS.search(text)) or (is_about_talk(text) and not overview),
        about_user=bool(_ABOUT_USER.search(text)),
        counts=bool(_COUNT.search(text)) and not spans,
        spans=spans,
        orders=wants_order(text),
        overview=overview,
        about_time=spans or bool(_TIME.search(text)),
        wants_suggestion=bool(_SUGGESTION.search(text)),
        yes_no=bool(_YES_NO.search(text.strip())),
    )


def _asks(text: str) -> bool:
    """Whether it wants an answer: as a whole, or in one of its sentences. In doubt it does: a
    statement that is answered with quotes is less of a loss than a question that is not."""
    parts = (text, *read_sentences(text))
    return "?" in text or any(
        _YES_NO.search(part) or _REQUEST.search(part) or wants_answer(part) for part in parts
    )
