"""Gemini's activities in Google Takeout: each is a prompt and its answer, outside of conversations.

So the activities of a day (in UTC) make a session. An HTML page of activities is read into the
shape that Takeout's JSON has.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from html import unescape
from typing import Any

from assistant.chat.turns import Role
from assistant.imports.conversations import (
    BRANCHES,
    ExportFormat,
    ImportedConversation,
    ImportedMessage,
    daily,
    digest,
    moment,
    objects,
    text_of,
)

_OURS = re.compile(r"\b(?:Gemini|Bard)\b")
_PROMPTED = re.compile(r"Prompted\s+")
_IN_ENGLISH = ("Gemini Apps", "Bard")
_NO_PROMPT = "activities that are no prompts"
_CELL = re.compile(r"<div[^<>]*\bouter-cell\b")
_LONGEST_CELL = 200_000
_MOST_UNREAD = 10
# A date with its time, and little else.
_DATED = re.compile(r"(?=.*\b\d{4}\b)(?=.*\d{1,2}[:.]\d{2}).{12,60}")
_BY_NUMBERS = re.compile(r"\d{1,2}([./-])\s?\d{1,2}\1\s?\d{4}")
# An abbreviation of the times of India, Israel and Ireland.
_AMBIGUOUS = re.compile(r"\bIST\b")
_TOKENS = re.compile(r"(</?[a-zA-Z][^<>]*>)")
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_BLOCKS = frozenset("p div li ul ol h1 h2 h3 h4 h5 h6 pre table tr blockquote hr br".split())


def fits(item: Mapping[str, Any]) -> bool:
    return isinstance(item.get("title"), str) and "time" in item and bool(_product(item))


def read(item: Mapping[str, Any]) -> Iterator[ImportedConversation]:
    at, title = moment(item["time"]), text_of(item, "title").replace("\xa0", " ")
    answers = [text for one in objects(item.get("safeHtmlItem")) if (text := _text(one))]
    found = _PROMPTED.match(title)
    # In other languages than English an entry with an answer was a prompt.
    is_prompt = found or (answers and _product(item) not in _IN_ENGLISH)
    prompt = title[found.end() :] if found else title
    id = digest(at.isoformat() if at else "", prompt)
    said = ImportedMessage(Role.USER, prompt, at, id=id, left_out="" if is_prompt else _NO_PROMPT)
    answered = [
        # The first answer is the one that was shown last; the others are abandoned.
        ImportedMessage(
            Role.ASSISTANT, text, at, id=f"{id}-answer", left_out=BRANCHES if again else ""
        )
        for again, text in enumerate(answers if is_prompt else [])
    ]
    yield daily("Gemini", at, [said, *answered], said="Activities")


def is_page(text: str) -> bool:
    return _CELL.search(text) is not None


def items(page: str) -> Iterator[Mapping[str, Any]]:
    starts = [found.start() for found in _CELL.finditer(page)]
    unread = 0
    for start, end in zip(starts, [*starts[1:], len(page)], strict=True):
        # Trying a date that cannot be read takes seconds, so only some of a page are tried.
        date = _date if unread < _MOST_UNREAD else str
        activity = _activity(page[start : min(end, start + _LONGEST_CELL)], date)
        unread += not activity["time"][:4].isdigit()
        yield activity


def _activity(html: str, date: Callable[[str], str]) -> Mapping[str, Any]:
    cell = _Cell()
    cell.read(html)
    lines = [line.replace("\xa0", " ").replace("\u202f", " ").strip() for line in cell.lines()]
    dates = ((place, date(line)) for place, line in enumerate(lines) if _DATED.fullmatch(line))
    place, time = next(dates, (len(lines), ""))
    answer = "\n".join(lines[place + 1 :]).strip()
    return {
        "header": " ".join(cell.product.split()),
        "title": "\n".join(lines[:place]).strip(),
        "time": time,
        "safeHtmlItem": [{"text": answer}] if answer else [],
    }


def _date(line: str) -> str:
    """A date in the words of any language as ISO 8601; unchanged where it cannot be read."""
    from dateparser import parse  # takes 0.1 s, and few exports need it

    parts: dict[str, Any] = {
        "PARSERS": ["absolute-time"],
        "REQUIRE_PARTS": ["day", "month", "year"],
    }
    if by_numbers := _BY_NUMBERS.match(line):
        if by_numbers[1] == "/":
            return line
        parts["DATE_ORDER"] = "DMY"
    if _AMBIGUOUS.search(line):
        return line
    at: datetime | None = parse(line, settings=parts)
    return at.isoformat() if at and at.tzinfo else line


def _product(item: Mapping[str, Any]) -> str:
    """The product of the activity, where that is Gemini."""
    products = item.get("products")
    named = [item.get("header"), *(products if isinstance(products, list) else [])]
    return next((one for one in named if isinstance(one, str) and _OURS.search(one)), "")


def _text(answer: Mapping[str, Any]) -> str:
    if "text" in answer:
        return text_of(answer, "text")
    reader = _Words()
    reader.read(text_of(answer, "html"))
    return "\n".join(line for line in reader.lines() if line).strip()


class _Words:
    """The text of HTML, a line for each block.

    The library's parser takes minutes for some broken pages. What Takeout writes is regular.
    """

    def __init__(self) -> None:
        self.parts: list[str] = []

    def read(self, html: str) -> None:
        for token in _TOKENS.split(html):
            tag = _TAG.match(token)
            if tag is None:
                self.data(unescape(token))
            elif tag[1]:
                self.end(tag[2].lower())
            else:
                self.start(tag[2].lower(), token)

    def start(self, tag: str, token: str) -> None:
        if tag in _BLOCKS:
            self.parts.append("\n- " if tag == "li" else "\n")

    def end(self, tag: str) -> None:
        if tag in _BLOCKS:
            self.parts.append("\n")

    def data(self, text: str) -> None:
        self.parts.append(text)

    def lines(self) -> list[str]:
        """The lines, without those that are empty."""
        lines = (line.strip(" \t\r") for line in "".join(self.parts).split("\n"))
        return [line for line in lines if line and line != "-"]


class _Cell(_Words):
    """An activity of a page: its product, and the lines of its first content."""

    def __init__(self) -> None:
        super().__init__()
        self.product = ""
        self._in_product = False
        self._depth = 0
        self._is_over = False

    def start(self, tag: str, token: str) -> None:
        if self._depth:
            self._depth += tag == "div"
            super().start(tag, token)
        elif "mdl-typography--title" in token:
            self._in_product = True
        elif "content-cell" in token and not self._is_over:
            self._depth = 1

    def end(self, tag: str) -> None:
        self._in_product = False
        if self._depth:
            self._depth -= tag == "div"
            self._is_over = not self._depth
            super().end(tag)

    def data(self, text: str) -> None:
        if self._in_product:
            self.product += text
        elif self._depth:
            self.parts.append(" ".join(text.split("\n")))


FORMAT = ExportFormat("Gemini", fits, read)
