"""Rules for weekdays and weekends, and for the habits that look like them."""

import re
from datetime import timedelta

from memory_store.language.english.time.found import (
    ANCHORS_OF_DAYS,
    WINDOW,
    Found,
    Reference,
    Rule,
    fixed,
    picked,
    rule,
)
from memory_store.language.english.time.vocabulary import (
    ANY_WEEKDAY,
    CLEAR_AFTER,
    COUNT,
    TIME_OF_DAY,
    WEEKDAY,
    WEEKDAYS,
    any_of,
    count_of,
    weekday_number,
)
from memory_store.time.calendar import Which, weekends, weekly
from memory_store.time.types import Precision, Span

_WHICH = {
    "last": Which.LAST,
    "past": Which.LAST,
    "this": Which.THIS,
    "coming": Which.FUTURE,
    "next": Which.NEXT,
}
# "the Friday meeting", "a Friday": which one is not said.
_DETERMINED = re.compile(
    r"(?:\b(?:the|an?|my|our|his|your|their|one|another|1st|2nd|3rd"
    r"|an?\s+\w+)|'s)\s+$",
    re.I,
)
_SHIFTED = rf"(?:\s+{TIME_OF_DAY})?"


def _habit(match: re.Match[str], reference: Reference) -> Found:
    return fixed(match, None)


def _qualified(match: re.Match[str], reference: Reference) -> Found | None:
    which = _WHICH[match["which"].lower().split()[-1]]
    return picked(match, weekly(weekday_number(match["weekday"])), reference, which)


def _some_ago(match: re.Match[str], reference: Reference) -> Found:
    """The nth such day before today, today not counted: "two Fridays ago"."""
    today = reference.today
    back = (today.weekday() - weekday_number(match["weekday"])) % 7 or 7
    days = [today - timedelta(days=back + 7 * (number - 1)) for number in count_of(match["count"])]
    return fixed(match, Span(days[1], days[0], Precision.DAY))


def _bare(match: re.Match[str], reference: Reference) -> Found | None:
    which = reference.which(match.start())
    # Today is never called by its weekday's name.
    day = reference.today + timedelta(days=1) if which is Which.FUTURE else reference.today
    recurring = weekly(weekday_number(match["weekday"]))
    span = recurring.which(which if which is Which.FUTURE else Which.LAST, day)
    weak = match["clear"] is None and match["time"] is None
    begin = max(0, match.start() - WINDOW)
    weak = weak or _DETERMINED.search(reference.text, begin, match.start()) is not None
    return Found(
        match.start(), match.end(), span, recurring, needs=ANCHORS_OF_DAYS if weak else None
    )


def _weekend(match: re.Match[str], reference: Reference) -> Found | None:
    return picked(match, weekends(), reference, needs=_OF_WEEKENDS)


_OF_WEEKENDS = frozenset({"over", "on", "at", "during", "for", "before", "after", "since", "until"})
_EACH = r"(?:every|each|any|most|some|all|alternate|other|per|many)"
_UNITS = r"(?:day|night|morning|afternoon|evening|weekday|week|weekend|month|year|season|time)s?"
# Nobody lists more days than there are.
_UP_TO_A_WEEK = "{0,7}"
_LISTED = rf"{WEEKDAY}s?(?:\s*(?:,|and|or|&|/|,\s*and)\s*{WEEKDAY}s?)*"
_PLURAL = rf"(?:{any_of(name + 's' for name in WEEKDAYS if name.endswith('day'))})"

WEEKDAY_RULES: tuple[Rule, ...] = (
    rule(rf"{_EACH}(?:\s+(?:other|single|second|third|few|{COUNT}))?\s+{_UNITS}", _habit),
    rule(
        rf"{_EACH}(?:\s+(?:other|single|second|third))?\s+{_LISTED}(?:\s+{TIME_OF_DAY}s?)?", _habit
    ),
    rule(
        rf"(?:{WEEKDAY}s?\s*(?:,|and|or|&)\s*){_UP_TO_A_WEEK}{_PLURAL}(?!\s+ago)"
        rf"(?:\s*(?:,|and|or|&)\s*{_PLURAL})*",
        _habit,
    ),
    rule(rf"(?:(?:on|at)\s+(?:the\s+)?)?weekends(?!\s+ago)|{WEEKDAY}\s+{TIME_OF_DAY}s", _habit),
    rule(r"mon(?:day)?s?\s*(?:-|–|to|through|thru)\s*(?:fri|sat|sun)(?:day)?s?", _habit),
    rule(
        rf"(?:the\s+)?(?P<which>last|this(?:\s+(?:past|coming))?|next|past|coming)\s+"
        rf"(?P<weekday>{WEEKDAY}){_SHIFTED}",
        _qualified,
    ),
    rule(rf"(?P<count>{COUNT})\s+(?P<weekday>{WEEKDAY})s?\s+ago", _some_ago),
    rule(rf"(?P<weekday>{WEEKDAY})(?P<time>\s+{TIME_OF_DAY})?(?P<clear>{CLEAR_AFTER})?", _bare),
    # "sat" and "sun" are words of their own: a day only beside these.
    rule(
        rf"(?:(?<=\bon\s)|(?<=\bby\s)|(?<=\buntil\s)|(?<=\btill\s))"
        rf"(?P<weekday>{ANY_WEEKDAY})(?P<time>\s+{TIME_OF_DAY})?(?P<clear>{CLEAR_AFTER})",
        _bare,
    ),
    rule(
        rf"(?P<which>last|next)\s+(?P<weekday>{ANY_WEEKDAY}){_SHIFTED}{CLEAR_AFTER}",
        _qualified,
    ),
    rule(r"the\s+weekend", _weekend),
)
