"""Text that people wrote, kept apart from our own words in a prompt. Pure.

Retrieved text stands between markers and is data, whatever it says. In JSON no `<` survives, so no
text can write a marker; in plain text the markers themselves are defused and every further line is
indented, so that no text can begin a line of its own.
"""

import json
import re
from typing import Any

_MARKER = re.compile(r"<(?=\s*+(?:/\s*+)?(?:memory|round|notes)\b)", re.I)
_INDENT = "  "
_encode = json.JSONEncoder(ensure_ascii=False).encode


def fenced_json(value: Any) -> str:
    """JSON on one line in which no text can close the fence around it."""
    return _encode(value).replace("<", "\\u003c")


def fenced_text(text: str) -> str:
    """Text without our markers, its lines after the first one indented."""
    lines = _MARKER.sub("&lt;", text).splitlines()
    return f"\n{_INDENT}".join(lines)
