"""Text of others as a terminal may show it: nothing in it moves the cursor or sets a colour."""

import re

# C0 without tab and newline, delete, C1; and characters that turn the direction of writing.
_UNSHOWN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """The text without what a terminal would obey."""
    return _UNSHOWN.sub("", text)


def one_line(text: str) -> str:
    """The text in a single line."""
    return " ".join(plain(text).split())


def shortened(text: str, most: int) -> str:
    """At most so many characters of a text, cut between words where it has any."""
    if len(text) <= most:
        return text
    words, _, _ = text[: most + 1].rpartition(" ")
    return f"{words.rstrip() or text[:most]} …"
