"""What a question asks for: one fact, a count, an order, an overview, advice, what was replied.

Only general turns of phrase count here. They decide how many rounds are read and how they are laid
out, never what the answer is.
"""

import re
from dataclasses import dataclass, replace

from memory_store.language.kinds import ASKING, Kind, kinds_of, most_of
from memory_store.time import TimeRange
from memory_store.types import Days

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
    r"\b(?:know|remember|recall|learn(?:ed|t)|told you|tell me|have)(?: \w+){0,2}?"
    r" (?:about|on) (?:me|myself)\b",
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
_ORDER = re.compile(
    r"\bin (?:(?:what|which|the|their|chronological) )?(?:order|sequence)\b(?! to\b)"
    r"|\bthe (?:order|sequence) (?:of|in which)\b|\bchronological|\bearliest to latest\b",
    re.I,
)
_PAST_TALK = re.compile(
    r"\b(?:previous|earlier|last|past|prior) (?:conversation|chat|discussion|session)"
    r"|\bour (?:\w+ )?(?:conversation|chat|discussion|session)"
    r"|\b(?:we|you) (?:\w+ )?(?:discussed|talked|chatted)"
    r"|\bremind me (?:what|which|who|where|how|of)\b",
    re.I,
)
_WAS_SAID = re.compile(
    r"\b(?:i|we)(?:'ve| have)? (?:\w+ )?(?:brought up|mentioned|raised|told|talked|discussed|asked"
    r"|covered|introduced|spoke)\b"
    r"|\bdid (?:i|we) (?:\w+ )?(?:bring up|mention|raise|tell|talk|discuss|ask|cover|introduce"
    r"|speak)\b",
    re.I,
)
_SUMMARY = re.compile(r"\bsummar(?:y|ies|i[sz]e\w*|i[sz]ing)\b|\b(?:overview|recap|sum up)\b", re.I)
# "Summarize this article" asks for nothing that was said; "a summary of how my project went" does.
_OURS = re.compile(r"\b(?:i|i've|my|we|we've|our|us)\b", re.I)
# "When did I finish the recap video?" asks for a day, and "How long was my summary?" for a number.
_PRECISE = re.compile(
    r"\s*(?:who|whom|whose|when|where|did|how (?:many|much|long|often|old))\b", re.I
)
# How sure it has to be that a text asks for anything, to ask for a summary.
_ASKS = 0.3
# Without a question mark, a wish for a summary begins like this.
_WISH = re.compile(
    r"\s*(?:(?:please|pls|plz|now|and|so|then|hey|hi|hello|ok|okay),? )*"
    r"(?:(?:can|could|would|will) (?:you|u|we) (?:please |pls )?)?"
    r"(?:sum(?:mari[sz]e| up)|recap|(?:give|show|tell|write|make) (?:me|us)|put together|list)\b",
    re.I,
)
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_WHAT_WAS = re.compile(
    r"(?:and |so )?(?:(?:please )?(?:tell me|remind me|sum up|summari[sz]e|list) )?(?:"
    r"what (?:all )?(?:(?:did|have|had) (?:i|we)(?: been)? (?:do|done|doing|up to|(?:talk(?:ed)?"
    r"|chat(?:ted)?) about|discuss(?:ed)?|sa(?:y|id)|mention(?:ed)?|(?:tell|told) you)"
    r"|(?:was|were) (?:i|we) (?:doing|up to)"
    r"|(?:has )?happened(?: to me)?)"
    r"|did anything happen(?: to me)?)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """Which of these a question asks for; several may hold at once."""

    about_replies: bool = False
    """What the assistant said."""
    about_user: bool = False
    """What is known of the user at all."""
    counts: bool = False
    """A number of things, or all of them."""
    spans: bool = False
    """A length of time."""
    orders: bool = False
    """In which order things happened."""
    overview: bool = False
    """A summary of what was said, or the order of it: no few rounds answer it."""
    about_time: bool = False
    """Its answer depends on dates: a day, a span, an order, the first or the last."""
    wants_suggestion: bool = False
    """Advice that should fit the person."""
    slot: str | None = None
    """What it wants the value of, where a frame surely fits ("Where do I live?")."""
    time_range: TimeRange | None = None
    """The days that it names."""
    days: Days | None = None
    """The same where it names nothing else to go by: no round is like "What did I do in May?"."""

    @property
    def wants_advice(self) -> bool:
        """A suggestion, and not one that was made before."""
        return self.wants_suggestion and not self.about_replies

    def within(self, time_range: TimeRange | None, text: str) -> "Asked":
        """The same with the days that somebody else read in the text."""
        return replace(self, time_range=time_range, days=days_alone(text, time_range))


def asked_in(text: str) -> Asked:
    """What the turns of phrase of a question ask for; without its slot and its days."""
    text = text.replace("’", "'")
    spans = bool(_SPAN.search(text))
    overview = _names_overview(text) and (
        "?" in text
        or most_of(kinds_of(text), (*ASKING, Kind.TASK)) >= _ASKS
        or any(map(_WISH.match, _SENTENCE.findall(text)))
    )
    return Asked(
        about_replies=bool(_YOUR_WORDS.search(text))
        or (bool(_PAST_TALK.search(text)) and not overview),
        about_user=bool(_ABOUT_USER.search(text)),
        counts=bool(_COUNT.search(text)) and not spans,
        spans=spans,
        orders=bool(_ORDER.search(text)),
        overview=overview,
        about_time=spans or bool(_TIME.search(text)),
        wants_suggestion=bool(_SUGGESTION.search(text)),
    )


def _names_overview(text: str) -> bool:
    """Whether the words are those for a summary of what was said, or for the order in which it
    was. A few rounds cannot answer that, and none is nearest to it."""
    if _ORDER.search(text) and (_PAST_TALK.search(text) or _WAS_SAID.search(text)):
        return True
    return any(
        _SUMMARY.search(one) and _OURS.search(one) and not _PRECISE.match(one)
        for one in _SENTENCE.findall(text)
    )


def days_alone(question: str, range_: TimeRange | None) -> Days | None:
    """The days that the question asks for, where it names nothing else to go by."""
    if range_ is None:
        return None
    rest = " ".join(question.replace(range_.text, " ").split()).strip(" ,.?!")
    return range_.days if _WHAT_WAS.fullmatch(rest) else None
