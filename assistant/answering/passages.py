"""Quotes of replies in their context: passages, and items of lists.

A sentence out of a reply is seldom understood by itself: "This trail offers panoramic views." needs
the sentence before it, "I recommend these five:" the list after it. What people say of themselves
stands alone more often, and is quoted as it is.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assistant.answering.packing import shortened
from assistant.answering.statements import ASKS, Statement
from memory_store import Speaker, reading_of
from memory_store.language import Language, sentences, terms, word_list

# Characters of a passage; a sentence that is longer is one by itself.
_LONGEST = 320
# A message of no more words than the first number is quoted whole. Of a longer one the sentence is
# quoted; around one of no more words than the second, its neighbours up to this many characters.
_SHORT_MESSAGE, _SHORT_SENTENCE, _SHORT = 25, 6, 160


def passages(
    statements: Sequence[Statement], language: Language, *, replies: bool
) -> list[Statement]:
    """Each statement in its passage, without those that an earlier passage holds. Statements of
    replies get their passage only if `replies` is true."""
    found: list[Statement] = []
    places: defaultdict[tuple[Speaker, str], list[int]] = defaultdict(list)
    parts: dict[str, list[str]] = {}
    for statement in statements:
        wider = in_passage(statement, language, replies=replies, parts=parts)
        # A passage can only hold what the same speaker said in the same round.
        around = places[wider.speaker, wider.source.record.id]
        place = next((n for n in around if is_in_passage(wider, found[n])), None)
        if place is not None:
            found[place] = _joined(found[place], wider)
        elif not any(is_in_passage(found[n], wider) for n in around):
            around.append(len(found))
            found.append(wider)
    return found


def _joined(first: Statement, other: Statement) -> Statement:
    """The first one, with the days that either names."""
    days = dict.fromkeys((*first.lead_dates, *other.lead_dates, *other.event_dates))
    lead_dates = tuple(day for day in days if day not in first.event_dates)
    return first._replace(lead_dates=lead_dates)


def in_passage(
    statement: Statement,
    language: Language,
    *,
    replies: bool = True,
    parts: dict[str, list[str]] | None = None,
) -> Statement:
    """The statement with what is needed to understand it: a short message as a whole, else as many
    of the sentences around it as fit; in a reply also the list that it leads to. `parts` caches the
    sentences of messages for their other statements."""
    if statement.passage:
        return statement
    if statement.speaker is Speaker.ASSISTANT:
        return _in_reply(statement) if replies else statement
    said = statement.source.record.round.user_text
    if statement.speaker is Speaker.QUOTED and "\n" in said.strip():
        return statement  # in a pasted text the lines around it are not the user's
    is_short = len(said.split()) <= _SHORT_MESSAGE
    if not is_short and len(statement.text.split()) > _SHORT_SENTENCE:
        return statement
    known = {} if parts is None else parts
    if said not in known:
        known[said] = _telling(statement, language)
    telling = known[said]
    if statement.text not in telling:
        return statement
    if is_short:
        return statement._replace(passage=_with_lines(said, telling))
    around = _around(telling, telling.index(statement.text), _SHORT)
    return statement._replace(passage=_with_lines(said, around))


def _telling(statement: Statement, language: Language) -> list[str]:
    """The sentences of its message that tell something."""
    read = reading_of(statement.source.record.round, language).sentences
    return [one.text for one in read if not one.is_polite and one.only_asks < ASKS]


def _with_lines(said: str, parts: Sequence[str]) -> str:
    """The parts of what was said, joined by line breaks where it has them, else by spaces."""
    passage, end = "", 0
    for part in parts:
        begin = max(said.find(part, end), end)
        between = "\n" if "\n" in said[end:begin] else " "
        passage += f"{between if passage else ''}{part}"
        end = begin + len(part)
    return passage


def _in_reply(statement: Statement) -> Statement:
    reply = statement.source.record.round.assistant_text
    for line in reply.split("\n"):
        parts = sentences(line)
        if statement.text in parts:
            passage = " ".join(_around(parts, parts.index(statement.text), _LONGEST))
            return statement._replace(passage=_with_list(passage, reply))
    return statement


def is_in_passage(statement: Statement, other: Statement) -> bool:
    """Whether the other's passage has the statement in it."""
    return (
        statement.speaker is other.speaker
        and statement.source.record.id == other.source.record.id
        and statement.text in other.passage
    )


def _around(parts: Sequence[str], at: int, longest: int) -> Sequence[str]:
    """The statement with the sentences after and before it in turn, as far as they fit."""
    first = last = at
    left = longest - len(parts[at])
    growing = True
    while growing:
        growing = False
        for place in (last + 1, first - 1):
            if 0 <= place < len(parts) and len(parts[place]) < left:
                left -= len(parts[place]) + 1
                first, last = min(first, place), max(last, place)
                growing = True
    return parts[first : last + 1]


def _with_list(passage: str, reply: str) -> str:
    for listed in lists_in(reply):
        if listed.lead and passage.endswith(listed.lead):
            return passage.removesuffix(listed.lead) + listed.in_short
    return passage


_NUMBERED = re.compile(r"(?:^|(?<=\s))\**(\d{1,3})[.)]\**[ \t]+(?=\S)", re.M)
_BULLETED = re.compile(r"^[ \t]*[-*•–][ \t]*(?=[^\s*-])", re.M)
_FEWEST = 2
# The name of an item ends here: "Campari: a bitter aperitif", "Veja - this French brand".
_NAME_ENDS = re.compile(r":\s|\s[-–—]\s|[.;]\s|\n|$")
_LONGEST_NAME = 80

_ORDINALS = word_list("english", "ordinals")
_PLACES = {word: place for place, word in enumerate(_ORDINALS, start=1)} | {"last": 0, "final": 0}
# The thing asked for ends where the question goes on: "the second bottle | you recommended".
_GOES_ON = r"(?!(?:you|i|we|they|that|which|was|were|is|did|in|on|of|from|for)\b)"
_ORDINAL = re.compile(
    rf"\bthe (?:([1-9]\d{{,2}})(?:st|nd|rd|th)|({'|'.join(_PLACES)}))\b"
    rf"((?:[ -]{_GOES_ON}\w+){{0,3}})",
    re.I,
)
_ANY_ITEM, _NO_ITEM = (
    frozenset(terms(" ".join(word_list("english", f"answers.{name}"))))
    for name in ("any_item", "no_item")
)


@dataclass(frozen=True, slots=True)
class Listed:
    """A list, with the sentence that leads to it."""

    lead: str
    items: tuple[str, ...]

    @property
    def in_short(self) -> str:
        """The lead and the numbered names of the items."""
        names = (f"{number}. {_name(item)}" for number, item in enumerate(self.items, start=1))
        return f"{self.lead} {'; '.join(names)}".strip()


@dataclass(frozen=True, slots=True)
class AskedItem:
    """The item of a list that a question asks for: its place from 1 on, 0 for the last, and the
    terms for it."""

    place: int
    about: frozenset[int]

    def of(self, listed: Listed) -> str | None:
        """The item at this place; None if the list is too short, or lists something else."""
        anything = not self.about or self.about & _ANY_ITEM
        if self.place > len(listed.items) or not (anything or self.about & {*terms(listed.lead)}):
            return None
        return listed.items[self.place - 1]


def asked_item(question: str) -> AskedItem | None:
    """The item that "the fifth bottle" or "the 7th job in the list" asks for; None for "the last
    time"."""
    for digits, word, following in _ORDINAL.findall(question):
        about = frozenset(terms(following))
        if not about & _NO_ITEM:
            return AskedItem(int(digits) if digits else _PLACES[word.lower()], about)
    return None


Marks = list[re.Match[str]]
"""The number or bullet before each item of one list."""


def lists_in(text: str) -> list[Listed]:
    """The lists of a text: with numbers from 1 on, on lines of their own or within a line, or with
    bullets. A list inside an item of another list is part of that item."""
    found: list[Listed] = []
    end = 0
    every = [marks for marks in (*_numbered(text), *_bulleted(text)) if len(marks) >= _FEWEST]
    for marks in sorted(every, key=lambda marks: marks[0].start()):
        if marks[0].start() >= end:
            lead = _lead(text[end : marks[0].start()])
            items, end = _items(text, marks)
            found.append(Listed(lead, items))
    return found


def _numbered(text: str) -> Iterator[Marks]:
    marks: Marks = []
    for mark in _NUMBERED.finditer(text):
        number = int(mark[1])
        if number == len(marks) + 1:
            marks.append(mark)
        elif number == 1:
            yield marks
            marks = [mark]
    yield marks


def _bulleted(text: str) -> Iterator[Marks]:
    marks: Marks = []
    for mark in _BULLETED.finditer(text):
        # A line of another kind ends a list.
        if marks and "\n" in text[marks[-1].end() : mark.start()].strip():
            yield marks
            marks = []
        marks.append(mark)
    yield marks


def _items(text: str, marks: Marks) -> tuple[tuple[str, ...], int]:
    """The items, and where the last of them ends: with its paragraph."""
    paragraph = text.find("\n\n", marks[-1].end())
    end = len(text) if paragraph < 0 else paragraph
    ends = [*(mark.start() for mark in marks[1:]), end]
    items = (text[mark.end() : stop] for mark, stop in zip(marks, ends, strict=True))
    return tuple(" ".join(item.split()) for item in items), end


def _lead(before: str) -> str:
    parts = sentences(before)
    return parts[-1] if parts else ""


def _name(item: str) -> str:
    end = _NAME_ENDS.search(item)
    name = item[: end.start()] if end else item
    return shortened(name.strip(" *:."), _LONGEST_NAME)
