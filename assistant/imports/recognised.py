"""What a file that is brought in seems to be: one of ours, another assistant's, or neither."""

import codecs
import json
import re
from enum import StrEnum

from assistant.errors import InvalidRequest
from assistant.imports.gemini import is_page
from assistant.imports.markdown import is_transcript

ACCEPTED = (
    'an export of ours (lines of JSON, of which the first is {"format": "aide-memoire/records", '
    '"version": 3}) or an export of ChatGPT, Claude, Gemini (Takeout), Open WebUI, LibreChat, '
    "mem0, Zep or Letta, conversations as lines of JSON, a Markdown transcript, or a zip file of "
    "these"
)
"""What can be brought in, in words."""

_OURS = "aide-memoire/records"
_BEGINNING = 4096
# How files begin that people take for an export; the first that fits counts.
_BEGINNINGS: tuple[tuple[bytes, str], ...] = (
    (rb"\Z", "empty"),
    (rb"\x1f\x8b", "packed with gzip: unpack it first"),
    (rb"%PDF", "a PDF document"),
    (rb"SQLite format 3", "a SQLite database"),
    (rb"\xff\xfe|\xfe\xff", "text in UTF-16: save it as UTF-8"),
    (rb"(?i)\s*<(?:!doctype|html)", "a web page"),
    (rb"\s*<", "XML"),
    (rb"[^\n]*\x00", "no text"),
    (rb"[^\n,;\t]+[,;\t][^\n]*\n[^\n,;\t]+[,;\t]", "a table (CSV)"),
    (rb"", "plain text"),
)


class Export(StrEnum):
    """An export that can be brought in."""

    RECORDS = "records"
    OTHERS = "others"


def recognised(content: bytes) -> Export:
    """Which export this is, by how it begins. Raises `InvalidRequest` that says what can be brought
    in, and what this seems to be."""
    # Some editors put a mark in front of what they save as UTF-8.
    content = content.removeprefix(codecs.BOM_UTF8)
    if content.startswith(b"PK") or content.lstrip().startswith(b"["):
        return Export.OTHERS
    if _OURS in _first_line(content):
        return Export.RECORDS
    if content.lstrip().startswith(b"{") or _is_told(content):
        return Export.OTHERS
    beginning = content[:_BEGINNING]
    seems = next(what for how, what in _BEGINNINGS if re.match(how, beginning))
    raise InvalidRequest(f"this is not {ACCEPTED}: it seems to be {seems}")


def _is_told(content: bytes) -> bool:
    """Whether it is a page of activities, or a transcript."""
    text = content.decode(errors="replace")
    return is_page(text) or is_transcript(text)


def _first_line(content: bytes) -> str:
    """The format that the first line names; empty where it names none."""
    try:
        first = json.loads(content.lstrip().partition(b"\n")[0])
        return str(first.get("format", ""))
    except (ValueError, AttributeError, RecursionError):
        return ""
