"""Where an answer states its result."""

import re

from harness.judges.lexical.words import content_words, sentences

_SHORT_ANSWER = 240
_ANNOUNCED_SENTENCES = 6
_ANNOUNCED = re.compile(
    r"\bfinal answer\b\W*|\banswer\W*:\W*|\b(?:in conclusion\b|conclusion\W*:)\W*"
    r"|\btherefore\b\W*|\bthus\b\W*"
    r"|\bconclude[ds]?(?: that)?\b\W*|(?:^|(?<=[.\n]))\s*(?:so|hence|overall)\b\W*",
    re.IGNORECASE,
)
_PREFACE = re.compile(
    r"(?:to (?:determine|answer|find|calculate|identify)|let's|let us|i will|here's|here is)\b"
)


def conclusion(hypothesis: str) -> list[str]:
    """The sentences that state the result, the most telling first.

    What follows the last word that announces a result; else the first, the last and the bold
    sentences. A short answer is given in full.
    """
    parts = [part for part in sentences(hypothesis) if not _PREFACE.match(part.lower())]
    announced = sentences(_announced(hypothesis) or "")[:_ANNOUNCED_SENTENCES]
    if len(hypothesis) <= _SHORT_ANSWER or len(parts) <= 2:
        return list(dict.fromkeys([*announced, *parts])) or [hypothesis]
    if announced:
        return list(dict.fromkeys([*announced, parts[-1]]))
    bold = [part for part in parts[1:-1] if "**" in part and not part.endswith(":**")]
    # A first sentence that only leads to a list says nothing by itself.
    first = [] if parts[0].endswith(":") else parts[:1]
    return list(dict.fromkeys([*first, *parts[-2:], *parts[:2], *bold]))


def _announced(hypothesis: str) -> str | None:
    ends = [match.end() for match in _ANNOUNCED.finditer(hypothesis)]
    tails = (hypothesis[end:].strip() for end in reversed(ends))
    return next((tail for tail in tails if content_words(tail)), None)
