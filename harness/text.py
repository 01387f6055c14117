"""How texts are measured and written, everywhere in the harness alike; and prompts: files in a
folder, rendered strictly, named by a hash that reports show.

Tokens that nobody counted are four characters each.
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
    """Whole tokens of so many characters."""
    return characters // CHARACTERS_A_TOKEN


def tokens_at_least_one(characters: int) -> int:
    """The same for something that is sent, which is never nothing."""
    return max(1, tokens_of(characters))


def characters_of(tokens: int) -> int:
    """How many characters so many tokens hold."""
    return tokens * CHARACTERS_A_TOKEN


def encodable(text: str) -> str:
    """The text with every lone surrogate (half of a cut emoji) replaced by a question mark."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def beginning(text: str, length: int = 160) -> str:
    """As much of a text as it takes to recognize it, on one line."""
    return " ".join(text[: 2 * length].split())[:length]


def rfc3339(moment: datetime) -> str:
    """An instant as the wire wants it, in UTC with whole seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def names_day(text: str, day: date, *, with_year: bool = True) -> bool:
    """Whether a date of this year, month and day occurs. Without `with_year`, month and day are
    enough where the text names no year at all.
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


# These open a tag or a special token (`<|im_end|>`, `</s>`, `<start_of_turn>`), even before a
# space; `a < b` and an arrow do not. Mistral's, GLM's and BERT's kind write `[INST]`.
_OPENS = re.compile(r"<(?=[^\s\d<>=-]|\s+/)")
_OPENS_IN_BRACKETS = re.compile(r"\[(?=/?(?:[A-Z][A-Z0-9_]+|[gs]MASK|control_\d+)\])")
_LINE_ENDS = re.compile("\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")


@dataclass(frozen=True)
class Prompt:
    """One prompt file with `$name` where a value goes, between tags that fence it off; a text of
    somebody else's, which has no such tags, takes values as they are (`fences` is false).
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

        Nothing in a value opens a tag or a special token of a model, so that no text can close its
        fence and speak as the one who asks.
        """
        wanted = set(Template(self.text).get_identifiers())
        if wanted != set(values):
            raise ValueError(f"prompt {self.name!r} takes {sorted(wanted)}, got {sorted(values)}")
        if self.fences:
            values = {name: fenced(text) for name, text in values.items()}
        return Template(self.text).substitute(values)


def fenced(text: str) -> str:
    """A text with what opens a tag or a token written as in HTML, and Unicode's own ends of lines
    as ordinary ones."""
    plain = _LINE_ENDS.sub("\n", text)
    return _OPENS_IN_BRACKETS.sub("&#91;", _OPENS.sub("&lt;", plain))


def load_prompts(package: str) -> dict[str, Prompt]:
    paths = [path for path in files(package).iterdir() if path.name.endswith(".md")]
    return {
        name: Prompt(name, path.read_text(encoding="utf-8").strip())
        for path in sorted(paths, key=lambda path: path.name)
        for name in (path.name.removesuffix(".md"),)
    }
