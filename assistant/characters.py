"""Which text can be stored, and which can be an id. JSON may hold lone halves of surrogate pairs,
but UTF-8 and stores cannot."""

import unicodedata

_LONGEST_ID = 256
# Control characters and lone halves of surrogate pairs: neither headers nor stores can hold them.
_UNFIT = ("Cc", "Cs")
# Spaces, control and format characters.
_UNSEEN = ("Cc", "Cf", "Zl", "Zp", "Zs")
# HTTP clients remove these segments from a path, so that no path could name such an id.
_NO_STEP = (".", "..")
# This character replaces damaged ones: ids that differed only in those would become the same id.
_DAMAGED = "\ufffd"


def whole_characters(text: str) -> str:
    """Return the text with U+FFFD for each lone half of a surrogate pair, which a client leaves
    when it cuts an emoji in two. Any other text is returned unchanged."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def is_blank(text: str) -> bool:
    """Whether a text has only spaces, control characters, joiners and the like."""
    return all(unicodedata.category(character) in _UNSEEN for character in set(text))


def wrong_with_id(text: str) -> str:
    """Return why a text cannot be an id, or an empty text where it can. An id is printable, not
    blank and not too long."""
    if not text.strip() or len(text) > _LONGEST_ID:
        return f"must be text of 1 to {_LONGEST_ID} characters"
    if any(unicodedata.category(character) in _UNFIT for character in text):
        return "must not hold control characters"
    if text in _NO_STEP:
        return f"must not be {text!r}, which no path can name"
    return "is not UTF-8, or was damaged on its way" if _DAMAGED in text else ""
