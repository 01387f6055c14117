"""How people type: what they open with, names without capitals, statements without a subject."""

import re

from memory_store.language.kinds import TELLING, kinds_of, likeliest
from memory_store.language.languages import word_list

# Possessive, and each mark in one alternative alone: in how many ways a text can be taken apart,
# so many are tried where nothing follows that fits.
OPENINGS = (
    r"(?:(?:by the way|btw|actually|oh|ok|okay|well|also|and|so|anyway|fyi|update|correction|edit"
    r"|hey|hi|hello|yo|lol|haha|omg|ugh|thanks|first|second|third|finally|then|[*•]|\d{1,2}[.)]"
    r"|sorry|no|wait|these days|nowadays|now|currently|lately|since then|good news|guess what"
    r"|just so you know|i should mention(?: that)?|i made a mistake|i was wrong|my mistake"
    r"|as of (?:today|now|this (?:week|month|year)))[,:;!.]*\s+|[-–—]\s*)*+"
)
OPENING = re.compile(OPENINGS, re.I)
# A capital that does not merely open a sentence, and an "I" without its own.
_CAPITAL = re.compile(r"(?<![.!?]\s)(?<!\A)(?!I\b)\b[A-Z]")
_SMALL_I = re.compile(r"\bi(?:m|['’]m|['’]ve)?\b")

# Where names have no capitals, one is what a frame leaves, up to a word that is in no name.
_NO_NAME = "|".join(word_list("english", "stop_words") + word_list("english", "not_in_names"))
_UNCAPITALISED_WORD = rf"(?!(?:{_NO_NAME})\b)[^\W\d_][\w'’&-]*"
UNCAPITALISED = rf"(?:(?:the\s+)?{_UNCAPITALISED_WORD}(?:\s+{_UNCAPITALISED_WORD}){{0,2}})"


def writes_capitals(text: str) -> bool:
    """Whether names of a text are told by their capitals: not where it has none, or writes "i"."""
    return _SMALL_I.search(text) is None and _CAPITAL.search(text) is not None


# Whoever leaves it out writes briefly.
_LONGEST_WITHOUT = 160
_SUBJECT = re.compile(rf"(?:{'|'.join(word_list('english', 'subjects'))})(?:['’]\w+)?\b", re.I)


def lacks_subject(sentence: str) -> bool:
    """Whether it tells something of whoever wrote it, and says neither "I" nor anybody else."""
    opening = OPENING.match(sentence)
    return (
        len(sentence) <= _LONGEST_WITHOUT
        and not sentence.endswith("?")
        and _SUBJECT.match(sentence, opening.end() if opening else 0) is None
        and likeliest(kinds_of(sentence)) in TELLING
    )
