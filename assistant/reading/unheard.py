"""Names in a question that nothing recalled mentions: what is asked never came up. Pure."""

import calendar
import re
from collections.abc import Sequence

from memory_store import Recalled, shared_words

# A word with a capital letter that does not open a sentence: Peter, iPad, NovaTech.
_NAME = re.compile(r"(?<=[\w,;:] )[\"'(‘“]?([A-Za-z][\w-]*)")
_LETTERS = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)*")
_NO_NAMES = frozenset(
    name.lower()
    for name in (*calendar.month_name, *calendar.month_abbr, *calendar.day_name, *calendar.day_abbr)
) | {"i"}


def unheard_names(question: str, recalled: Sequence[Recalled]) -> list[str]:
    """The question's names that no recalled round holds; days and months are no names."""
    heard = " ".join(
        f"{found.record.round.user_text} {found.record.round.assistant_text}" for found in recalled
    )
    names = [word for word in _NAME.findall(question) if _is_name(word)]
    return [
        word for word in dict.fromkeys(names) if not shared_words(word, heard) and heard.strip()
    ]


def _is_name(word: str) -> bool:
    return (
        any(letter.isupper() for letter in word)
        and _LETTERS.fullmatch(word) is not None
        and len(word) > 2
        and word.lower() not in _NO_NAMES
        and shared_words(word, word) > 0  # no stop word, as in a title
    )
