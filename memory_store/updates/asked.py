"""Which slot a question asks the value of, told by the statement that would answer it. Pure."""

import re

from memory_store.updates.slots import stated

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


def asked_slot(question: str) -> str | None:
    """The slot of which a question wants the value; None where no frame surely fits."""
    if len(question) > _LONGEST:
        return None
    for pattern, answers in _ASKED:
        if match := pattern.fullmatch(" ".join(question.split())):
            known = (stated(answer.format(**match.groupdict())) for answer in answers)
            return next((one.slot for one in known if one), None)
    return None
