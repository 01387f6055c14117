"""Lengths of time in words: arithmetic that a language model should not have to do."""

from datetime import date


def days_between(first: date, last: date) -> int:
    """Calendar days from one day to the other; negative when `last` is before `first`."""
    return (last - first).days


def whole_months(first: date, last: date) -> tuple[int, int]:
    """Whole calendar months from `first` to `last`, and the days left; `first` not after `last`."""
    months = (last.year - first.year) * 12 + last.month - first.month
    if last.day >= first.day:
        return months, last.day - first.day
    months -= 1
    year, month = divmod(first.year * 12 + first.month - 1 + months, 12)
    return months, days_between(_clamped(year, month + 1, first.day), last)


def print_span(first: date, last: date) -> str:
    """The same span in days, weeks and months: `45 days (6 weeks 3 days; 1 month 15 days)`.

    Weeks and months are added where there is at least one of them; the order of the days does not
    matter.
    """
    first, last = min(first, last), max(first, last)
    days = days_between(first, last)
    others = []
    if days >= 7:
        others.append(_joined((days // 7, "week"), (days % 7, "day")))
    months, rest = whole_months(first, last)
    if months >= 12:
        others.append(_joined((months // 12, "year"), (months % 12, "month"), (rest, "day")))
    elif months:
        others.append(_joined((months, "month"), (rest, "day")))
    return plural(days, "day") + (f" ({'; '.join(others)})" if others else "")


def plural(number: int, unit: str) -> str:
    """`1 day`, `2 days`."""
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"


def _joined(*parts: tuple[int, str]) -> str:
    return " ".join(plural(number, unit) for number, unit in parts if number)


def _clamped(year: int, month: int, day: int) -> date:
    """The day in that month, or the month's last day."""
    for candidate in range(day, 27, -1):
        try:
            return date(year, month, candidate)
        except ValueError:
            continue
    return date(year, month, min(day, 27))
