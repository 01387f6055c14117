"""Wording that declines to answer."""

import re
from collections.abc import Sequence

from harness.judges.lexical.words import fold, sentences

_NO_KNOWLEDGE = re.compile(
    r"\b(?:i|we) (?:do not|don't|cannot|can't|could not|couldn't|am not|have no|didn't|did not) "
    r"(?:actually |currently |seem to |yet |really )?(?:know|have|find|see|able|recall|remember|"
    r"determine|answer|tell|sure|say|provide|information|record|any|come)"
    r"|\bi'm (?:not able|unable|not sure|sorry)|\b(?:unable|impossible) to\b|insufficient"
    r"|\bplease provide\b|\bneed (?:some|more|additional) (?:information|detail|context)"
    r"|\b(?:cannot|can't|could not|couldn't) (?:\w+ )?(?:be )?(?:determin|answer|confirm|tell|find)"
    r"|\b(?:unknown|unspecified|unclear)\b|\bno way to (?:know|tell|say|determine)\b"
)
_NO_RECORD = re.compile(
    r"\b(?:you|user) (?:have not|haven't|did not|didn't|never)(?: \w+)? (?:mention|specif|provid|"
    r"said|say|tell|told|share|stat|discuss|talk|record)"
    r"|\bno (?:\w+ ){0,2}(?:information|record|mention|evidence|detail|data|indication|reference|"
    r"memory|memories|answer|confirmation)s?\b"
    r"|\bnot (?:\w+ )?(?:enough|sufficient|mentioned|specified|provided|available|stated|clear|"
    r"recorded|possible|definitive)"
    r"|\b(?:information|history|record|context|conversation|chat|memor)\w*(?: \w+){0,4} "
    r"(?:does not|doesn't|do not|don't|did not|didn't|is not|isn't|are not|aren't|lacks?)\b"
    r"|\b(?:isn't|aren't|wasn't|weren't) (?:any|in|mentioned|specified|provided|recorded|enough)\b"
)


def is_refusal(hypothesis: str) -> bool:
    """Whether the answer says, early or at its end, that the question cannot be answered."""
    parts = sentences(hypothesis)
    return declines([*parts[:2], *parts[-3:]] if len(parts) > 5 else parts)


def declines(parts: Sequence[str]) -> bool:
    """Whether any of these sentences declines to answer."""
    said = fold(" ".join(parts))
    return bool(_NO_KNOWLEDGE.search(said) or _NO_RECORD.search(said))
