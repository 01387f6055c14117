"""From single finds to expressions: the words beside a find may choose one of its days, narrow it,
take a part of it, join it to another find, or say how the text relates to it.

Every step maps finds (sorted, not overlapping) to finds.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from memory_store._spans import Precision, Recurring, Relation, Span, Which
from memory_store.language.dates.found import NEVER, FoundDays, ReadLine
from memory_store.language.dates.line import Line
from memory_store.language.dates.pack import KINDS, pattern
from memory_store.language.dates.parts import (
    around,
    away,
    beside,
    count_of,
    nth_of,
    slice_of,
    so_far,
    weekday_beside,
)
from memory_store.language.dates.relative import which_of

# At most this many tokens before a find are read with it.
_WINDOW = 8
_BESIDE = pattern("(?:comma|opening)? (?:of|in|on|at|during|over)? the?")
_QUALIFIER = pattern("the? (?:last|this (?:past|coming)?|next|coming|previous) $")
_PART = pattern(
    "the? (?: (?P<slice>early|middle|late) hyphen? (?:in|on)? the?"
    "| (?P<edge>beginning|middle|end) of the?"
    "| (?P<so_far>earlier|later) in? the?"
    "| (?P<ordinal>ordinal|ordinal_number|last) (?P<part>unit|weekend|half|weekday) (?:of|in) the?"
    "| (?P<around>unit|units|weekend|weekends) of the?) $"
)
_NEAR = pattern(
    "(?P<count>the|counted) (?P<unit>any_unit|time_of_day) (?P<side>before|after|from) the? $"
    "| the (?P<weekday>weekend|weekday) (?P<near>before|after) the? $"
)
_BOTH_ENDS = pattern("(?P<word>between|from) the? $")
_TO = pattern("any_until the?")
_PREPOSITION = pattern("(?P<word>preposition) (?P<the>the)? $")
# In "in March and April" the preposition of the first find counts for the second too.
_LISTED = pattern("comma and? | and")
_UP_TO = pattern("up_to (?:word|of)? $")


def composed(found: list[FoundDays], reading: ReadLine) -> list[FoundDays]:
    """Read each find with its surroundings; drop finds that lack a word they need."""
    found = [_picked(item, reading) for item in found]
    for step in (_contained, _parts, _contained, _near, _ranges, _related):
        found = step(found, reading)
    return [item for item in found if item.span is not None and item.needs is None]


def _before(rule: re.Pattern[str], item: FoundDays, line: Line) -> re.Match[str] | None:
    """The match of a rule right before a find."""
    return rule.search(line.letters, max(0, item.start - _WINDOW), item.start)


def _picked(item: FoundDays, reading: ReadLine) -> FoundDays:
    """Read the word that picks one: "last" March, "this" Christmas, "next" summer."""
    match = _before(_QUALIFIER, item, reading.line) if item.recurring else None
    if match is None or item.recurring is None:
        return item
    span = item.recurring.which(which_of(reading.line, item.start - 1), reading.today)
    return replace(item, start=match.start(), span=span, recurring=None, needs=None)


def _contained(found: list[FoundDays], reading: ReadLine) -> list[FoundDays]:
    """Narrow a find by its neighbour: "March of last year", "last week on Friday"."""
    out: list[FoundDays] = []
    for item in found:
        if out and _BESIDE.fullmatch(reading.line.letters, out[-1].end, item.start):
            merged = _merged(out[-1], item)
            if merged is not None:
                out[-1] = merged
                continue
        out.append(item)
    return out


def _merged(left: FoundDays, right: FoundDays) -> FoundDays | None:
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
    if both_days and left.recurring and left.recurring.period is Precision.WEEK:
        return replace(joined, span=right.span, recurring=right.recurring)
    return joined if left.span == right.span and both_days else None


def _length(span: Span) -> int:
    return (span.last - span.first).days


def _parts(found: list[FoundDays], reading: ReadLine) -> list[FoundDays]:
    """Take the parts named before a find: "the end of" March, "early" last month."""
    out: list[FoundDays] = []
    for item in found:
        grown = _part_of(item, reading)
        while grown is not item:
            item, grown = grown, _part_of(grown, reading)
        _put(out, item)
    return out


def _put(out: list[FoundDays], item: FoundDays) -> None:
    """Add a find, and drop earlier finds that it now overlaps."""
    while out and out[-1].end > item.start:
        out.pop()
    out.append(item)


def _part_of(item: FoundDays, reading: ReadLine) -> FoundDays:
    """The part of a find that the words before it name. A part of recurring days recurs too."""
    match = _before(_PART, item, reading.line) if item.span else None
    if match is None or item.span is None:
        return item
    part = _part(match, reading)
    if item.recurring is None:
        span = part(item.span)
        return replace(item, start=match.start(), span=span, needs=None) if span else item
    parts = Recurring(_each(part, item.recurring), item.recurring.period)
    span = parts.which(reading.chosen(parts, item.start), reading.today)
    if span is None:
        return item
    return replace(item, start=match.start(), span=span, recurring=parts, needs=None)


_OfSpan = Callable[[Span], Span | None]


def _each(part: _OfSpan, whole: Recurring) -> Callable[..., list[Span]]:
    return lambda day: [span for one in whole.near(day) if (span := part(one)) is not None]


def _part(match: re.Match[str], reading: ReadLine) -> _OfSpan:
    values, line = reading.line.values, reading.line
    if letter := match["slice"] or match["edge"]:
        return lambda span: slice_of(span, _KIND_OF[letter])
    if match["so_far"]:
        earlier = match["so_far"] == KINDS["earlier"]
        return lambda span: so_far(span, reading.today, earlier)
    if match["around"]:
        unit = values[match.start("around")]
        return lambda span: around(span, unit)
    place = match.start("ordinal")
    nth = -1 if line.kind(place, "last") else values[place]
    part = "half" if line.kind(place + 1, "half") else values[place + 1]
    return lambda span: nth_of(span, nth, part)


def _near(found: list[FoundDays], reading: ReadLine) -> list[FoundDays]:
    """Step off a find: "two days after" Christmas, "the Friday before" May 5."""
    out: list[FoundDays] = []
    for item in found:
        match = _before(_NEAR, item, reading.line) if item.span else None
        _put(out, _stepped(item, match, reading) if match else item)
    return out


def _stepped(item: FoundDays, match: re.Match[str], reading: ReadLine) -> FoundDays:
    line, base = reading.line, item.span
    is_from = match["side"] == KINDS["from"]
    # A step needs a day. "three days from May 5" is not a step but a length and its first day.
    if base is None or not (_is_near_today(item, line) if is_from else item.needs != NEVER):
        return item
    after = (match["side"] or match["near"]) != KINDS["before"]
    if item.recurring and is_from:
        base = item.recurring.which(Which.FUTURE, reading.today) or base
    span: Span | None
    if match["weekday"]:
        weekday = line.values[match.start("weekday")]
        span = weekday_beside(base, weekday if isinstance(weekday, int) else None, after)
    else:
        place = match.start("unit")
        unit = "day" if line.kind(place, "time_of_day") else str(line.values[place])
        if match["count"] == KINDS["the"]:
            span = beside(base, unit, after)
        else:
            count = count_of(line.values[match.start("count")])
            span = away(base, count, unit, after, exact=is_from)
    return replace(item, start=match.start(), span=span, recurring=None, needs=None)


def _is_near_today(item: FoundDays, line: Line) -> bool:
    """Whether the find is a weekday or tomorrow."""
    place = item.start + line.kind(item.start, "next", "this")
    return line.kind(place, "weekday") or line.values[place] == (1, "day")


def _ranges(found: list[FoundDays], reading: ReadLine) -> list[FoundDays]:
    """Join two ends: "from" March "to" May, "between" Monday "and" Friday, May 28 – June 2."""
    out: list[FoundDays] = []
    for item in found:
        joined = _range(out[-1], item, reading.line) if out else None
        if joined is not None:
            out[-1] = joined
        else:
            out.append(item)
    return out


def _range(left: FoundDays, right: FoundDays, line: Line) -> FoundDays | None:
    if left.span is None or right.span is None:
        return None
    if not _TO.fullmatch(line.letters, left.end, right.start):
        return None
    opening = _before(_BOTH_ENDS, left, line)
    if line.kind(left.end, "and") and not (opening and opening["word"] == KINDS["between"]):
        return None
    bounded = [item.needs is None or "from" in item.needs for item in (left, right)]
    if not any(bounded) or (opening is None and left.needs is not None and right.needs is not None):
        return None
    ends = _ordered(left, right)
    if ends is None:
        return None
    start = opening.start() if opening else left.start
    return FoundDays(start, right.end, Span(ends[0].first, ends[1].last, Precision.SPAN))


def _ordered(left: FoundDays, right: FoundDays) -> tuple[Span, Span] | None:
    """Both ends of a range; of a recurring end the occurrence that fits the other. None if the ends
    cannot be ordered."""
    first, last = left.span, right.span
    if first is None or last is None:
        return None
    if right.recurring is not None:
        last = right.recurring.not_before(first.first) or last
    elif left.recurring is not None:
        first = left.recurring.which(Which.PAST, last.first) or first
    return (first, last) if first.first <= last.first and first.first <= last.last else None


# Spans that people plan something for.
_SHORT = (Precision.DAY, Precision.WEEKEND)
# "since" and "photos from" look back, whatever the tense of the verb.
_BACK = ("since", "from")
_RELATIONS = {
    "since": Relation.SINCE,
    "until": Relation.UNTIL,
    "before": Relation.BEFORE,
    "after": Relation.AFTER,
}
_KIND_OF = {letter: kind for kind, letter in KINDS.items()}


def _related(found: list[FoundDays], reading: ReadLine) -> list[FoundDays]:
    """Read the word before a find ("since", "before", "in"). Some finds are dates only with it."""
    out: list[FoundDays] = []
    letters = reading.line.letters
    for item in found:
        item = _with_relation(item, reading)
        if item.needs and out and _LISTED.fullmatch(letters, out[-1].end, item.start):
            before = out[-1]
            if before.span and item.span and before.span.precision is item.span.precision:
                item = replace(item, needs=before.needs, relation=before.relation)
                if before.looks_back and item.recurring:
                    span = item.recurring.which(Which.PAST, reading.today)
                    item = replace(item, span=span, looks_back=True)
        out.append(item)
    return out


def _with_relation(item: FoundDays, reading: ReadLine) -> FoundDays:
    line = reading.line
    if not line.pack.is_english and _before(_UP_TO, item, line):
        return replace(item, span=None)  # a day that only begins or ends something
    match = _before(_PREPOSITION, item, line)
    if item.span is None or match is None or line.kind(match.start() - 1, "hyphen"):
        return item
    word = _KIND_OF[match["word"]]
    if item.needs is not None and word not in item.needs:
        return item
    if item.occasion and item.needs is not None and match["the"]:
        return item  # "at the Halloween party"
    relation = _RELATIONS.get(word, Relation.ON)
    if word == "for" and item.occasion and item.recurring is not None:
        relation = Relation.FOR
    word = "since" if line.words[match.start()] == "back in" else word
    span = _chosen(item, word, reading) or item.span
    if word == "around" and span.precision is Precision.DAY:
        span = Span(span.first - timedelta(days=3), span.last + timedelta(days=3), Precision.DAY)
    back, start = word in _BACK, match.start()
    return replace(item, start=start, span=span, needs=None, relation=relation, looks_back=back)


def _chosen(item: FoundDays, word: str, reading: ReadLine) -> Span | None:
    """The occurrence that the word before a find chooses. "since" and "from" look back and "for
    Friday" looks ahead, whatever the verb; "until" looks ahead unless a verb says otherwise."""
    if item.recurring is None or item.span is None:
        return None
    if word == "from" and item.span.precision is Precision.DAY:
        return None  # "the rent goes up from May 1"
    if word in _BACK:
        return item.recurring.which(Which.PAST, reading.today)
    if word == "for" and not item.occasion and item.span.precision in _SHORT:
        return item.recurring.which(Which.FUTURE, reading.today)
    if word == "until" and reading.tense(item.start) is None:
        return item.recurring.which(Which.FUTURE, reading.today)
    return None
