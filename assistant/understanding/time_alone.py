"""Questions that ask for a time and nothing else, as "What did I do last month?" does."""

import re

from memory_store import Days, TimeRange

_WHAT_WAS = re.compile(
    r"(?:and |so )?(?:(?:please )?(?:tell me|remind me|sum up|summari[sz]e|list) )?(?:"
    r"what (?:all )?(?:(?:did|have|had) (?:i|we)(?: been)? (?:do|done|doing|up to|(?:talk(?:ed)?"
    r"|chat(?:ted)?) about|discuss(?:ed)?|sa(?:y|id)|mention(?:ed)?|(?:tell|told) you)"
    r"|(?:was|were) (?:i|we) (?:doing|up to)"
    r"|(?:has )?happened(?: to me)?)"
    r"|did anything happen(?: to me)?)",
    re.I,
)


def days_alone(question: str, range_: TimeRange | None) -> Days | None:
    """The days that the question asks for, where it names nothing else to go by.

    No round is like such a question: what was said in another time may as well be nearer to it.
    """
    if range_ is None:
        return None
    rest = " ".join(question.replace(range_.text, " ").split()).strip(" ,.?!")
    return range_.days if _WHAT_WAS.fullmatch(rest) else None
