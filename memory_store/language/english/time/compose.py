"""From single finds to expressions: what stands beside a find qualifies it, narrows it, takes a
part of it, joins it to another, or says how the text relates to it.

Every step maps finds (sorted, not overlapping) to finds.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from functools import partial

from memory_store.language.english.time.found import NEVER, WINDOW, Found, Reference, chosen
from memory_store.language.english.time.parts import NEAR, PARTS
from memory_store.language.english.time.vocabulary import WEEKDAY
from memory_store.time.calendar import Recurring, Which
from memory_store.time.types import Precision, Relation, Span


def compose(found: list[Found], reference: Reference) -> list[Found]:
    """Finds with their surroundings read; those that needed a word they did not get are gone."""
    for step in (_qualified, _contained, _parts, _contained, _near, _ranges, _related):
        found = step(found, reference)
    return [item for item in found if item.span is not None and item.needs is None]


def _before(item: Found, reference: Reference) -> tuple[str, int]:
    begin = max(0, item.start - WINDOW)
    return reference.text[begin : item.start], begin


_QUALIFIER = re.compile(
    r"(?<!\w)(?:the\s+)?(?P<which>last|this\s+past|this\s+coming|this|next|coming|previous)\s+$",
    re.I,
)
_WHICH = {
    "last": Which.LAST,
    "past": Which.LAST,
    "previous": Which.LAST,
    "this": Which.THIS,
    "coming": Which.FUTURE,
    "next": Which.NEXT,
}


def _qualified(found: list[Found], reference: Reference) -> list[Found]:
    """Read the word that picks one: "last" March, "this" Christmas, "next" summer."""
    out: list[Found] = []
    for item in found:
        before, begin = _before(item, reference)
        match = _QUALIFIER.search(before) if item.recurring else None
        if match and item.recurring:
            which = _WHICH[match["which"].lower().split()[-1]]
            span = item.recurring.which(which, reference.today)
            start = begin + match.start()
            item = replace(item, start=start, span=span, recurring=None, needs=None)
        out.append(item)
    return out


_BESIDE = re.compile(
    r"(?:,?\s+|\s*\(\s*)(?:(?:of|in|on|at|during|back\s+in|over)\s+)?(?:the\s+)?", re.I
)


def _contained(found: list[Found], reference: Reference) -> list[Found]:
    """Narrow a find by its neighbour: "March of last year", "last week on Friday"."""
    out: list[Found] = []
    for item in found:
        if out and _BESIDE.fullmatch(reference.text[out[-1].end : item.start]):
            merged = _merged(out[-1], item)
            if merged is not None:
                out[-1] = merged
                continue
        out.append(item)
    return out


def _merged(left: Found, right: Found) -> Found | None:
    if left.span is None or right.span is None or left.rolling or right.rolling:
        return None
    inner, container = left, right.span
    if _length(right.span) < _length(left.span):
        inner, container = right, left.span
    joined = replace(inner, start=left.start, end=right.end, recurring=None, needs=None)
    if inner.recurring is not None and _length(left.span) != _length(right.span):
        span = inner.recurring.within(container)
        return replace(joined, span=span) if span else None
    both_days = left.span.precision is right.span.precision is Precision.DAY
    if both_days and left.recurring and left.recurring.period.value == "week":
        return replace(joined, span=right.span, recurring=right.recurring)
    if left.span == right.span and both_days:
        return joined
    return None


def _length(span: Span) -> int:
    return (span.last - span.first).days


def _parts(found: list[Found], reference: Reference) -> list[Found]:
    """Take the part named before a find: "the end of" March, "early" last month."""
    out: list[Found] = []
    for item in found:
        for pattern, part in PARTS:
            before, begin = _before(item, reference)
            match = pattern.search(before)
            if match and item.span is not None:
                item = _part_of(item, begin + match.start(), partial(part, match), reference)
        _put(out, item)
    return out


def _put(out: list[Found], item: Found) -> None:
    """Add a find in the place of those that it has grown over."""
    while out and out[-1].end > item.start:
        out.pop()
    out.append(item)


def _part_of(
    item: Found, start: int, part: Callable[[Span, date], Span | None], reference: Reference
) -> Found:
    """The part of a find; part of a day that comes again comes again too."""
    if item.recurring is None:
        span = part(item.span, reference.today) if item.span else None
        return replace(item, start=start, span=span, needs=None) if span else item
    whole = item.recurring

    def near(day: date) -> list[Span]:
        parts = (part(span, reference.today) for span in whole.near(day))
        return [span for span in parts if span is not None]

    parts = Recurring(near, whole.period)
    span = parts.which(chosen(parts, item.start, reference), reference.today)
    return replace(item, start=start, span=span, recurring=parts, needs=None) if span else item


def _near(found: list[Found], reference: Reference) -> list[Found]:
    """Step off a find: "two days after" Christmas, "the Friday before" May 5."""
    out: list[Found] = []
    for item in found:
        before, begin = _before(item, reference)
        for pattern, part in NEAR:
            match = pattern.search(before)
            if match and item.span is not None and _may_be_near(item, match, reference):
                start = begin + match.start()
                base = item.span
                if item.recurring and match["side"].lower() == "from":
                    base = item.recurring.which(Which.FUTURE, reference.today) or base
                span = part(match, base, reference.today)
                item = replace(item, start=start, span=span, recurring=None, needs=None)
                break
        _put(out, item)
    return out


def _may_be_near(item: Found, match: re.Match[str], reference: Reference) -> bool:
    """A step needs a day; "three days from May 5" is no step but a length and its first day."""
    if match["side"].lower() == "from":
        return _DAYS_FROM.match(reference.text, item.start) is not None
    return item.needs != NEVER


_DAYS_FROM = re.compile(rf"(?:(?:next|this)\s+)?{WEEKDAY}|tomorrow", re.I)
_BOTH_ENDS = re.compile(r"(?<!\w)(?P<word>between|from)\s+(?:the\s+)?$", re.I)
_TO = re.compile(r"\s*(?:-|–|—|to|through|thru|until|till|up\s+to|and)\s*(?:the\s+)?", re.I)


def _ranges(found: list[Found], reference: Reference) -> list[Found]:
    """Join two ends: "from" March "to" May, "between" Monday "and" Friday, May 28 – June 2."""
    out: list[Found] = []
    for item in found:
        joined = _range(out[-1], item, reference) if out else None
        if joined is not None:
            out[-1] = joined
        else:
            out.append(item)
    return out


def _range(left: Found, right: Found, reference: Reference) -> Found | None:
    gap = reference.text[left.end : right.start]
    if left.span is None or right.span is None or not _TO.fullmatch(gap):
        return None
    before, begin = _before(left, reference)
    opening = _BOTH_ENDS.search(before)
    if gap.strip().lower().startswith("and") and not (
        opening and opening["word"].lower() == "between"
    ):
        return None
    bounded = [item.needs is None or "from" in item.needs for item in (left, right)]
    if not any(bounded) or (opening is None and left.needs is not None and right.needs is not None):
        return None
    ends = _ordered(left, right)
    if ends is None:
        return None
    start = begin + opening.start() if opening else left.start
    span = Span(ends[0].first, ends[1].last, Precision.SPAN)
    return Found(start, right.end, span)


def _ordered(left: Found, right: Found) -> tuple[Span, Span] | None:
    """Both ends with the open one chosen by the other; None if they cannot be ordered."""
    first, last = left.span, right.span
    if first is None or last is None:
        return None
    if right.recurring is not None:
        last = right.recurring.not_before(first.first) or last
    elif left.recurring is not None:
        first = left.recurring.not_after(last.first) or first
    return (first, last) if first.first <= last.first and first.first <= last.last else None


# Days one plans something for.
_SHORT = (Precision.DAY, Precision.WEEKEND)
# "since" and "photos from" look back, whatever the verb.
_BACK = ("since", "ever since", "from")
_WORDS = {
    "ever since": Relation.SINCE,
    "since": Relation.SINCE,
    "until": Relation.UNTIL,
    "till": Relation.UNTIL,
    "up to": Relation.UNTIL,
    "before": Relation.BEFORE,
    "prior to": Relation.BEFORE,
    "after": Relation.AFTER,
    "following": Relation.AFTER,
}
_PREPOSITION = re.compile(
    r"(?<![\w'-])(?P<word>ever\s+since|since|until|till|up\s+to|before|prior\s+to|after"
    r"|following|for|by|in|on|at|during|over|around|throughout|within|from"
    r"|spen[dt]|spending|celebrat(?:e|ed|ing)|host(?:ed|ing))\s+(?P<the>the\s+)?$",
    re.I,
)
# "in March and April": the preposition of the first is that of the second.
_LISTED = re.compile(r"\s*+(?:,(?:\s*+(?:and|or|&))?+|and|or|&)\s++", re.I)
_SYNONYM = {"ever since": "since", "up to": "until", "prior to": "before", "following": "after"}


def _related(found: list[Found], reference: Reference) -> list[Found]:
    """Read the word before a find ("since", "before", "in"), which may make it a date at all."""
    out: list[Found] = []
    for item in found:
        item = _with_relation(item, reference)
        if item.needs and out and _LISTED.fullmatch(reference.text[out[-1].end : item.start]):
            before = out[-1]
            if before.span and item.span and before.span.precision is item.span.precision:
                item = replace(item, needs=before.needs, relation=before.relation)
                if before.looks_back and item.recurring:
                    span = item.recurring.which(Which.PAST, reference.today)
                    item = replace(item, span=span, looks_back=True)
        out.append(item)
    return out


def _with_relation(item: Found, reference: Reference) -> Found:
    before, begin = _before(item, reference)
    match = _PREPOSITION.search(before)
    if item.span is None or match is None:
        return item
    word = re.sub(r"\s+", " ", match["word"].lower())
    word = "celebrate" if word.startswith(("spen", "celebrat", "host")) else word
    if item.needs is not None and _SYNONYM.get(word, word) not in item.needs:
        return item
    if item.occasion and item.needs is not None and match["the"]:
        return item  # "at the Halloween party"
    relation = _WORDS.get(word, Relation.ON)
    if word == "for" and item.occasion and item.recurring is not None:
        relation = Relation.FOR
    span = _chosen(item, word, reference) or item.span
    if word == "around" and span.precision is Precision.DAY:
        span = Span(span.first - timedelta(days=3), span.last + timedelta(days=3), Precision.DAY)
    return replace(
        item,
        start=begin + match.start(),
        span=span,
        needs=None,
        relation=relation,
        looks_back=word in _BACK,
    )


def _chosen(item: Found, word: str, reference: Reference) -> Span | None:
    """The words "since" and "from" look back and "for Friday" ahead, whatever the verb."""
    if item.recurring is None:
        return None
    if word == "from" and item.span and item.span.precision is Precision.DAY:
        return None  # "the rent goes up from May 1"
    if word in _BACK:
        return item.recurring.which(Which.PAST, reference.today)
    if word == "for" and not item.occasion and item.span and item.span.precision in _SHORT:
        return item.recurring.which(Which.FUTURE, reference.today)
    return None
