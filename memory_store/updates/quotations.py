"""What stands between quotation marks, in code fences and in quoted lines. Pure, linear."""

import re
from collections.abc import Iterator

# An opening mark without a closing one reaches to the end of its paragraph.
_PARAGRAPH = r"\n[ \t]*+\n|\Z"
_QUOTED = re.compile(
    r"```(?:[^`]|`(?!``))*+(?:```|\Z)"
    r"|^[ \t]*+>[^\n]*+"
    + "".join(
        rf"|{opens}(?:[^{closes}\n]|\n(?![ \t]*\n))*+(?:[{closes}]|{_PARAGRAPH})"
        for opens, closes in (
            ("[“„]", "”“"),
            ("«", "»"),
            ("»", "«"),
            ("‹", "›"),
            ("「", "」"),
            ("『", "』"),
            ('"', '"'),
        )
    )
    # Apostrophes are none: such a mark opens where a word begins and closes where one ends.
    + r"|(?<![\w'’])['‘](?=\w)(?:[^'’\n]|(?<=\w)['’](?=\w))*+(?:['’]|(?=\n)|\Z)",
    re.M,
)


def quotations(text: str) -> Iterator[tuple[int, int]]:
    """Where each quotation begins and ends, its marks included; in order."""
    return (match.span() for match in _QUOTED.finditer(text))
