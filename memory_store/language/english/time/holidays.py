"""Days with a name, and names with a day in them.

Movable holidays by their rule; where customs differ, those of the United States. Sources: 5 U.S.C.
§ 6103 for federal holidays, custom for the others. Days that follow the moon (Easter apart) are
left out: a wrong day is worse than none. Titles of shows, songs and books only look like dates.
"""

import re
from collections.abc import Callable
from datetime import date, timedelta

from dateutil.easter import easter

from memory_store.language.english.time.found import (
    ANCHORS_OF_OCCASIONS,
    Found,
    Reference,
    Rule,
    fixed,
    picked,
    rule,
)
from memory_store.time.calendar import nth_weekday, yearly
from memory_store.time.types import Precision, Span


def _nothing(match: re.Match[str], reference: Reference) -> Found:
    return fixed(match, None)


# Shows, songs, chains and sayings with a weekday, season or time word of their own.
NAMES: tuple[Rule, ...] = (
    rule(
        r"(?:friday\s+the\s+13th|friday\s+night\s+lights|freaky\s+friday|casual\s+friday"
        r"|(?:monday|sunday|thursday|friday)\s+night\s+football|saturday\s+night\s+(?:live|fever)"
        r"|monday\.com|taco\s+tuesday|ruby\s+tuesday|tgi\s+fridays?|super\s+bowl\s+sunday"
        r"|sunday\s+(?:school|roast|best|brunch|funday|times)|bloody\s+sunday|giving\s+tuesday"
        r"|last\s+week\s+tonight|the\s+tonight\s+show|(?-i:Tonight\s+Show)|usa\s+today|psychology\s+today|today\s+show"
        r"|wednesday\s+addams|(?-i:(?:The\s+)?Day\s+After\s+Tomorrow)|years?\s+of\s+age"
        r"|winter\s+olympics|summer\s+(?:olympics|camp|school)|spring\s+(?:rolls?|onions?)"
        r"|24/7|9/11|50/50|(?:may|might)\s+(?:be|have|not)|may\s+i|march\s+madness)",
        _nothing,
    ),
)

_QUOTED = re.compile(
    r"\"[^\"\n]{1,80}\"|“[^”\n]{1,80}”|(?<![\w])['‘](?!\d0s)(?=\w)[^\n]{0,80}?\w?[?!.]?['’](?!\w)"
)


def without_titles(text: str) -> str:
    """The text with quoted titles blanked, every other character where it was."""
    if not any(mark in text for mark in "\"“'‘"):
        return text
    return _QUOTED.sub(lambda match: " " * len(match[0]), text)


OfYear = Callable[[int], date]
_MON, _TUE, _THU, _SUN = 0, 1, 3, 6


def _on(month: int, day: int) -> OfYear:
    return lambda year: date(year, month, day)


def _nth(month: int, weekday: int, nth: int, later: int = 0) -> OfYear:
    return lambda year: nth_weekday(year, month, weekday, nth) + timedelta(days=later)


def _easter(later: int) -> OfYear:
    return lambda year: easter(year) + timedelta(days=later)


_DAY = r"(?:\s+day)"
# Name as a pattern, first day of the year's occurrence, number of days.
_HOLIDAYS: tuple[tuple[str, OfYear, int], ...] = (
    (r"new\s+year'?s?'?\s+eve|nye", _on(12, 31), 1),
    (r"new\s+year'?s?'?\s+day", _on(1, 1), 1),
    (r"new\s+years?'?s?", lambda year: date(year - 1, 12, 31), 2),
    (r"(?:mlk|martin\s+luther\s+king(?:\s+jr\.?)?)\s+day", _nth(1, _MON, 3), 1),
    (r"groundhog\s+day", _on(2, 2), 1),
    (r"(?:st\.?\s+|saint\s+)?valentine'?s'?(?:\s+day)?", _on(2, 14), 1),
    (r"president'?s'?\s+day", _nth(2, _MON, 3), 1),
    (r"(?:st\.?|saint)\s+patrick'?s(?:\s+day)?|st\.?\s+paddy'?s(?:\s+day)?", _on(3, 17), 1),
    (r"april\s+fool'?s'?(?:\s+day)?", _on(4, 1), 1),
    (r"good\s+friday", _easter(-2), 1),
    (r"easter\s+monday", _easter(1), 1),
    (r"easter\s+weekend", _easter(-1), 2),
    (r"easter(?:\s+sunday)?", _easter(0), 1),
    (r"palm\s+sunday", _easter(-7), 1),
    (r"ash\s+wednesday", _easter(-46), 1),
    (r"mardi\s+gras", _easter(-47), 1),
    (r"earth\s+day", _on(4, 22), 1),
    (r"cinco\s+de\s+mayo", _on(5, 5), 1),
    (r"mother'?s'?\s+day", _nth(5, _SUN, 2), 1),
    (r"memorial\s+day\s+weekend", _nth(5, _MON, -1, -2), 3),
    (r"memorial\s+day", _nth(5, _MON, -1), 1),
    (r"juneteenth", _on(6, 19), 1),
    (r"father'?s'?\s+day", _nth(6, _SUN, 3), 1),
    (r"independence\s+day|(?:the\s+)?(?:4th|fourth)\s+of\s+july", _on(7, 4), 1),
    (r"labou?r\s+day\s+weekend", _nth(9, _MON, 1, -2), 3),
    (r"labou?r\s+day", _nth(9, _MON, 1), 1),
    (r"(?:columbus|indigenous\s+peoples?'?s?'?)\s+day", _nth(10, _MON, 2), 1),
    (r"halloween", _on(10, 31), 1),
    (r"veterans?'?s?'?\s+day", _on(11, 11), 1),
    (r"thanksgiving\s+weekend", _nth(11, _THU, 4), 4),
    (r"thanksgiving(?:\s+day)?", _nth(11, _THU, 4), 1),
    (r"black\s+friday", _nth(11, _THU, 4, 1), 1),
    (r"cyber\s+monday", _nth(11, _THU, 4, 4), 1),
    (r"christmas\s+eve", _on(12, 24), 1),
    (r"(?:christmas|xmas)(?:\s+day)?", _on(12, 25), 1),
    (r"boxing\s+day", _on(12, 26), 1),
)
_NAMES = "|".join(f"(?P<h{number}>{name})" for number, (name, _, _) in enumerate(_HOLIDAYS))
_THINGS = r"(?:island|eggs?|bunny|baskets?|trees?|seasons?)"


def _of_year(first: OfYear, days: int) -> Callable[[int], Span]:
    precision = Precision.DAY if days == 1 else Precision.SPAN

    def of_year(year: int) -> Span:
        return Span(first(year), first(year) + timedelta(days=days - 1), precision)

    return of_year


_RECURRING = {
    f"h{number}": yearly(_of_year(first, days)) for number, (_, first, days) in enumerate(_HOLIDAYS)
}


def _build(match: re.Match[str], reference: Reference) -> Found | None:
    name = next(key for key, text in match.groupdict().items() if text is not None)
    needs = None if "of" in match[0].lower().split() else ANCHORS_OF_OCCASIONS
    return picked(match, _RECURRING[name], reference, needs=needs, occasion=True)


HOLIDAYS: tuple[Rule, ...] = (
    rule(
        rf"(?:{_NAMES})(?:\s+(?:morning|night|evening|afternoon|lunch|dinner))?(?!\s+{_THINGS}\b)",
        _build,
    ),
)
