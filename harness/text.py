"""Helpers for texts that the whole harness shares; and prompts: files in a folder, rendered
strictly and named by a hash that reports show.

Where tokens are not counted, a token is taken to be four characters.
"""

import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cached_property
from importlib.resources import files
from string import Template

CHARACTERS_A_TOKEN = 4
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
YEAR = re.compile(r"\b(?:19|20)\d\d\b")


def tokens_of(characters: int) -> int:
    """The number of whole tokens in this many characters."""
    return characters // CHARACTERS_A_TOKEN


def tokens_at_least_one(characters: int) -> int:
    """Like `tokens_of`, but at least 1, for texts that are sent."""
    return max(1, tokens_of(characters))


def characters_of(tokens: int) -> int:
    """The number of characters in this many tokens."""
    return tokens * CHARACTERS_A_TOKEN


def encodable(text: str) -> str:
    """The text with every lone surrogate (half of a cut emoji) replaced by a question mark."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def beginning(text: str, length: int = 160) -> str:
    """The first `length` characters of a text, on one line: enough to recognize it."""
    return " ".join(text[: 2 * length].split())[:length]


def rfc3339(moment: datetime) -> str:
    """A moment as the assistant's API takes it, in UTC with whole seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def names_day(text: str, day: date, *, with_year: bool = True) -> bool:
    """Whether the text names this day. Without `with_year`, month and day are enough where the
    text names no year at all.
    """
    text = text.lower()
    if re.search(rf"\b{day.year}[-/.]0?{day.month}[-/.]0?{day.day}(?!\d)", text):
        return True
    if re.search(rf"\b0?{day.day}[-/.]0?{day.month}[-/.]{day.year}\b", text):
        return True
    if re.search(rf"\b0?{day.month}[-/.]0?{day.day}[-/.]{day.year}\b", text):
        return True
    month = rf"{_MONTHS[day.month - 1]}[a-z]*\.?"
    number = rf"0?{day.day}(?:st|nd|rd|th)?"
    either = rf"(?:\b{number}\s+(?:of\s+)?{month}|\b{month}\s+(?:the\s+)?{number})\b"
    if not re.search(either, text):
        return False
    years = YEAR.findall(text)
    return str(day.year) in years or not (with_year or years)


# `<` where it opens a tag or a special token (`<|im_end|>`, `</s>`, `< /s>`), not in `a < b` or an
# arrow. Mistral, GLM and BERT write their special tokens in brackets: `[INST]`.
_OPENS = re.compile(r"<(?=[^\s\d<>=-]|\s+/)")
_OPENS_IN_BRACKETS = re.compile(r"\[(?=/?(?:[A-Z][A-Z0-9_]+|[gs]MASK|control_\d+)\])")
_LINE_ENDS = re.compile("\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")


@dataclass(frozen=True)
class Prompt:
    """One prompt file with `$name` where a value goes, between tags that fence it off. A prompt
    that others wrote has no such tags: with `fences` false it takes values as they are.
    """

    name: str
    text: str
    fences: bool = True

    @cached_property
    def hash(self) -> str:
        """Twelve hexadecimal digits of the file's SHA-256."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:12]

    def render(self, **values: str) -> str:
        """Fill in the values; one too many or too few is a `ValueError`.

        With `fences`, values are escaped: nothing in them opens a tag or a special token, so that
        no text can close its fence and pose as an instruction.
        """
        wanted = set(Template(self.text).get_identifiers())
        if wanted != set(values):
            raise ValueError(f"prompt {self.name!r} takes {sorted(wanted)}, got {sorted(values)}")
        if self.fences:
            values = {name: fenced(text) for name, text in values.items()}
        return Template(self.text).substitute(values)


def fenced(text: str) -> str:
    """The text with the openings of tags and special tokens escaped as in HTML, and with every
    kind of line end as a plain newline."""
    plain = _LINE_ENDS.sub("\n", text)
    return _OPENS_IN_BRACKETS.sub("&#91;", _OPENS.sub("&lt;", plain))


def load_prompts(package: str) -> dict[str, Prompt]:
    paths = [path for path in files(package).iterdir() if path.name.endswith(".md")]
    return {
        name: Prompt(name, path.read_text(encoding="utf-8").strip())
        for path in sorted(paths, key=lambda path: path.name)
        for name in (path.name.removesuffix(".md"),)
    }
