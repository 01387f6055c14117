"""Text that people wrote, kept apart from our own words in a prompt.

Such a text is data, whatever it says. It must not close the fence around it, nor begin a line or a
record of its own, nor hold what a model's server takes for a change of speaker: `<|im_end|>`,
`</s>` or `[INST]` are special tokens wherever they stand in a prompt. In JSON the characters that
open them are escaped, so that a reader decodes the very same text. In plain text they are escaped
as in HTML, and lines after the first are indented.
"""

import json
import re
from typing import Any

# `<` opens a tag or a token unless a space, a digit, or a part of an arrow follows. Before the name
# of one of our own tags spaces may stand, too.
_OPENS = re.compile(r"<(?=[^\s\d<>=-]|\s*+(?:/\s*+)?(?i:memory|round|notes)\b)")
# The tokens of Mistral's, GLM's and BERT's kind.
_OPENS_IN_BRACKETS = re.compile(r"\[(?=/?(?:[A-Z][A-Z0-9_]+|[gs]MASK|control_\d+)\])")
# JSON leaves these as they are, and readers take them for the end of a line or leave them out.
_UNSEEN = re.compile("[\x7f-\x9f\u2028\u2029]")
_INDENT = "  "
_encode = json.JSONEncoder(ensure_ascii=False).encode


def fenced_json(value: Any) -> str:
    """JSON on one line, in which no text can close a fence or hold a special token."""
    written = _OPENS_IN_BRACKETS.sub(r"\\u005b", _encode(value).replace("<", r"\u003c"))
    return _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", written)


def fenced_text(text: str) -> str:
    """Text in which nothing opens a tag or a token, its lines after the first one indented."""
    lines = _OPENS_IN_BRACKETS.sub("&#91;", _OPENS.sub("&lt;", text)).splitlines()
    return f"\n{_INDENT}".join(lines)


def fenced_name(name: str) -> str:
    """A name on one line and without colons, as a colon ends the name."""
    return fenced_text(" ".join(name.replace(":", " ").split()))
