"""What a message asks for, told by its words.

Only general turns of phrase count here; a kind decides how the context is laid out and which
computed help comes with it, never what the answer is.
"""

import re
from dataclasses import dataclass

_PAST_TALK = (
    r"\b(?:previous|earlier|last|past|prior) (?:conversation|chat|discussion|session)"
    r"|\bour (?:\w+ )?(?:conversation|chat|discussion|session)"
    r"|\b(?:we|you) (?:\w+ )?(?:discussed|talked|chatted)"
    r"|\bremind me (?:what|which|who|where|how|of)\b"
)
_YOUR_WORDS = (
    r"|\b(?:you|your) (?:\w+ )?(?:said|told|mentioned|suggest(?:ed|ions?)|recommend(?:ed|ations?)"
    r"|gave|listed|wrote|created|made|provided|explained|described|advised|advice|proposed|shared"
    r"|came up with)\b"
    r"|\bdid you (?:\w+ )?(?:say|tell|mention|suggest|recommend|give|list|write|create|provide"
    r"|explain|describe|advise|propose|share)\b"
)
_ABOUT_REPLIES = re.compile(_PAST_TALK + _YOUR_WORDS, re.I)
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
_ORDER = re.compile(
    r"\bin (?:(?:what|which|the|their|chronological) )?(?:order|sequence)\b(?! to\b)"
    r"|\bthe (?:order|sequence) (?:of|in which)\b|\bchronological|\bearliest to latest\b",
    re.I,
)
_TIME = re.compile(
    r"\bwhen\b|\bwhat (?:day|date|year|month|time)\b|\bago\b|\bhow (?:old|long)\b"
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
_OPENS_QUESTION = re.compile(
    r"^(?:what|which|who|whom|whose|when|where|why|how|is|are|am|was|were|do|does|did|has|have|had"
    r"|can|could|would|will|should|may|might)\b",
    re.I,
)
_REQUEST = re.compile(
    r"^(?:please|tell|remind|list|name|show|give|find|explain|describe|recommend|suggest|help"
    r"|summari[sz]e|compare|count|calculate|write|remember (?:what|when|who|where|which))\b"
    r"|\b(?:can|could|would|will) you\b|\bremind me\b|\btell me\b|\bi(?:['’]m| am| was)? wonder"
    r"|\blet me know\b|\bi(?:['’]d| would) like to know\b",
    re.I,
)
# "Please remember that I am allergic to nuts" asks for nothing but to be noted.
_TO_BE_NOTED = re.compile(
    r"^(?:(?:and|also|so|please)[\s,]+)*(?:remember|note|keep in mind|bear in mind|don['’]t forget"
    r"|call me)\b(?! (?:what|when|who|where|which|how|why|if|me)\b)(?:,? that\b|:)?",
    re.I,
)
# "Please note that I moved, and list my addresses": what "and" goes on with is a request where it
# is given an object, else it may be what the user does.
_AND_REQUESTS = re.compile(
    r"\band (?:then |also )?(?:please\b"
    r"|(?:tell|remind|show|give|find|help|write|recommend|suggest) (?:me|us)\b"
    r"|(?:list|summari[sz]e|compare|calculate|translate|explain|describe)"
    r" (?:me|us|it|them|this|that|all|my|our|the)\b)",
    re.I,
)
_YES_NO = re.compile(
    r"^(?:is|are|am|was|were|do|does|did|has|have|had|can|could|would|will|should)\b", re.I
)
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")


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
    return QuestionKind(
        asks=True,
        about_replies=bool(_ABOUT_REPLIES.search(text)),
        about_user=bool(_ABOUT_USER.search(text)),
        counts=bool(_COUNT.search(text)) and not spans,
        spans=spans,
        orders=bool(_ORDER.search(text)),
        about_time=spans or bool(_TIME.search(text)),
        wants_suggestion=bool(_SUGGESTION.search(text)),
        yes_no=bool(_YES_NO.search(text.strip())),
    )


def _asks(text: str) -> bool:
    return "?" in text or any(_sentence_asks(part.strip()) for part in _SENTENCE.findall(text))


def _sentence_asks(sentence: str) -> bool:
    rest, to_be_noted = _TO_BE_NOTED.subn("", sentence)
    asks = _OPENS_QUESTION.search(rest.strip()) or _REQUEST.search(rest.strip())
    return bool(asks or (to_be_noted and _AND_REQUESTS.search(rest)))
