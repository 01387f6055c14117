"""Questions for an overview: a summary of what was said, or the order in which it was.

A few rounds cannot answer them, and none is nearest to them: what is wanted is all that was said of
a topic. So recall looks to the beginnings of sessions, and the reader is given many rounds.
"""

import re

from memory_store.language.kinds import wants_answer

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
# Without a question mark, a wish for one begins like this.
_WISH = re.compile(
    r"\s*(?:(?:please|pls|plz|now|and|so|then|hey|hi|hello|ok|okay),? )*"
    r"(?:(?:can|could|would|will) (?:you|u|we) (?:please |pls )?)?"
    r"(?:sum(?:mari[sz]e| up)|recap|(?:give|show|tell|write|make) (?:me|us)|put together|list)\b",
    re.I,
)
# "When did I finish the recap video?" asks for a day, and "How long was my summary?" for a number.
_PRECISE = re.compile(
    r"\s*(?:who|whom|whose|when|where|did|how (?:many|much|long|often|old))\b", re.I
)
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")


def wants_order(text: str) -> bool:
    """Whether a question is about the order of something."""
    return bool(_ORDER.search(text))


def is_about_talk(text: str) -> bool:
    """Whether a question is about an earlier conversation."""
    return bool(_PAST_TALK.search(text))


def names_overview(text: str) -> bool:
    """Whether the words of a question are those for a summary of what was said, or for the order in
    which it was."""
    text = text.replace("’", "'")
    if wants_order(text) and (is_about_talk(text) or _WAS_SAID.search(text)):
        return True
    return any(
        _SUMMARY.search(one) and _OURS.search(one) and not _PRECISE.match(one)
        for one in _SENTENCE.findall(text)
    )


def wants_overview(text: str) -> bool:
    """Whether a text, which need not ask for anything, asks for a summary of what was said, or for
    the order in which it was."""
    if not names_overview(text):
        return False
    return "?" in text or any(map(_WISH.match, _SENTENCE.findall(text))) or wants_answer(text)
