"""Text that can be kept, and text that can be an id. JSON may hold halves of surrogate pairs, UTF-8
and stores cannot."""

import unicodedata

_LONGEST_ID = 256
# Control characters and lone halves of surrogate pairs: neither headers nor stores can hold them.
_UNFIT = ("Cc", "Cs")
# Spaces, control and format characters.
_UNSEEN = ("Cc", "Cf", "Zl", "Zp", "Zs")
# A client leaves out of a path what names the folder itself or the one above.
_NO_STEP = (".", "..")
# This character stands for damaged ones: ids that differ in them would become one.
_DAMAGED = "\ufffd"


def whole_characters(text: str) -> str:
    """The text with U+FFFD for each half of a pair, as a client leaves it that cuts an emoji in
    two. Any other text is as it was."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def is_blank(text: str) -> bool:
    """Whether there is nothing to read in it: spaces, control characters, joiners and the like."""
    return all(unicodedata.category(character) in _UNSEEN for character in set(text))


def wrong_with_id(text: str) -> str:
    """Why a text cannot be an id: it is to be printable, not blank and not endless. Empty where it
    can."""
    if not text.strip() or len(text) > _LONGEST_ID:
        return f"must be text of 1 to {_LONGEST_ID} characters"
    if any(unicodedata.category(character) in _UNFIT for character in text):
        return "must not hold control characters"
    if text in _NO_STEP:
        return f"must not be {text!r}, which no path can name"
    return "is not UTF-8, or was damaged on its way" if _DAMAGED in text else ""
