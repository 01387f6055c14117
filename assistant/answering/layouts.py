"""The two ways in which memory is written down for a language model: JSON and text.

What was said in one session on one day stands under that day and its age, oldest first, so that
the model need not count days: a session may last for weeks. Beside a round stands what is certain
of it but not in its text: the days that its words name, and which statements hold no longer.
Lengths of time are put in words, as a language model should not have to do arithmetic.
"""

from calendar import monthrange
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, datetime, time
from typing import Any, Protocol

from assistant.answering.packing import Shown
from assistant.answering.plan import Layout
from assistant.dates import print_day
from assistant.prompts.fence import fenced_json, fenced_name, fenced_text
from memory_store import Round, is_anothers


def head(first: Shown, asked_at: datetime, timed: Collection[date] = ()) -> dict[str, str]:
    """The day of rounds and how long ago it was; on a day in `timed` also the first one's time."""
    said_on = first.record.round.session_date
    at = f" {said_on:%H:%M}" if said_on.date() in timed else ""
    return {
        "date": f"{print_day(said_on)}{at}",
        "ago": _age(said_on.date(), asked_at.date()),
    }


def days_with_times(rounds: Iterable[Round]) -> frozenset[date]:
    """The days on which sessions were held at different times: only on these does the time of day
    tell anything."""
    sessions = defaultdict[date, dict[str, time]](dict)
    for round in sorted(rounds, key=lambda one: one.session_date):
        said_on = round.session_date
        sessions[said_on.date()].setdefault(round.session_id, said_on.time())
    return frozenset(day for day, times in sessions.items() if len({*times.values()}) > 1)


_CLOSED = "]},"
DAYS, REPLACED, CONTRADICTED = "days", "replaced", "contradicted"
"""The names of what stands beside a round; the prompts explain them."""
_NOBODY = ("", "system", "developer", "tool", DAYS, REPLACED, CONTRADICTED)
QUOTING = ", quoting a text"
"""Follows the name of a speaker whose message has another's words; the prompts explain it."""
SEVERAL, CUT = "several people", "cut"
"""The marks for names in place of "user", and for messages that are not whole."""


class Written(Protocol):
    """A way to write memory down."""

    def heading(self, head: Mapping[str, str]) -> str:
        """The text that opens one day of a session, and the text that closes it."""

    def sides(self, shown: Shown) -> list[str]:
        """The texts of each side of a round and of what stands beside it; joined, they are the
        round. They are split where no token reaches across, so that their tokens can be added."""

    def whole(self, shown: Sequence[Shown], extras: Mapping[str, Any], asked_at: datetime) -> str:
        """The whole memory as text: the rounds by day, then the `extras` by name."""


class _AsJson:
    """One object; every day of a session on a line of its own."""

    def heading(self, head: Mapping[str, str]) -> str:
        return _opened(head) + _CLOSED

    def sides(self, shown: Shown) -> list[str]:
        fields = [*_sides(shown), *_beside(shown)]
        said = [f" {fenced_json(name)}: {fenced_json(text)}," for name, text in fields]
        if not said:
            return [" {},"]
        said[0] = " {" + said[0].removeprefix(" ")
        said[-1] = said[-1].removesuffix(",") + "},"
        return said

    def whole(self, shown: Sequence[Shown], extras: Mapping[str, Any], asked_at: datetime) -> str:
        days = _days_with_times(shown)
        sessions = (self._session(rounds, asked_at, days) for rounds in _by_day(shown))
        parts = ['"sessions": [' + "".join(f"\n{one}" for one in sessions).rstrip(",") + "]"]
        for name, entries in extras.items():
            written = ",\n".join(fenced_json(entry) for entry in entries)
            parts.append(f'"{name}": [\n{written}]')
        return "{" + ",\n".join(parts) + "}"

    def _session(self, rounds: Sequence[Shown], asked_at: datetime, days: Collection[date]) -> str:
        written = "".join(side for shown in rounds for side in self.sides(shown))
        return _opened(head(rounds[0], asked_at, days)) + written.strip(" ,") + _CLOSED


def _opened(head: Mapping[str, str]) -> str:
    return fenced_json(head).removesuffix("}") + ', "rounds": ['


class _AsText:
    """A heading for every day of a session and a line for every turn."""

    def heading(self, head: Mapping[str, str]) -> str:
        return f"== {head['date']}, age: {head['ago']}\n"

    def sides(self, shown: Shown) -> list[str]:
        said = [f"{fenced_name(who)}: {fenced_text(text)}\n" for who, text in _sides(shown)]
        return said + [f"[{name}: {fenced_text(text)}]\n" for name, text in _beside(shown)]

    def whole(self, shown: Sequence[Shown], extras: Mapping[str, Any], asked_at: datetime) -> str:
        parts: list[str] = []
        days = _days_with_times(shown)
        for rounds in _by_day(shown):
            parts.append(self.heading(head(rounds[0], asked_at, days)))
            parts += (side for shown in rounds for side in self.sides(shown))
        for name, entries in extras.items():
            parts.append(f"== {name.replace('_', ' ')}\n")
            parts += [f"- {fenced_text(_one_line(entry))}\n" for entry in entries]
        return "".join(parts).removesuffix("\n")


LAYOUTS: Mapping[Layout, Written] = {Layout.JSON: _AsJson(), Layout.TEXT: _AsText()}


def _days_with_times(shown: Sequence[Shown]) -> frozenset[date]:
    return days_with_times(one.record.round for one in shown)


def _by_day(shown: Sequence[Shown]) -> list[list[Shown]]:
    """Rounds of one session and day together and in their order, the oldest first."""
    sessions: dict[tuple[str, date], list[Shown]] = {}
    for item in shown:
        sessions.setdefault(item.heading, []).append(item)
    ordered = [sorted(rounds, key=_place) for rounds in sessions.values()]
    return sorted(ordered, key=lambda rounds: _place(rounds[0]))


def _place(shown: Shown) -> tuple[datetime, int, str]:
    round = shown.record.round
    return round.session_date, round.round_index, round.session_id


def _age(said_on: date, today: date) -> str:
    if said_on == today:
        return "today"
    return print_span(said_on, today) if said_on < today else "later than today"


def _beside(shown: Shown) -> list[tuple[str, str]]:
    """What stands beside the round, by name."""
    beside = shown.beside
    named = ((DAYS, beside.days), (REPLACED, beside.replaced), (CONTRADICTED, beside.contradicted))
    return [(name, "; ".join(entries)) for name, entries in named if entries]


def _speakers(shown: Shown) -> tuple[str, str]:
    """What the two speakers are called: by their names, unless one could be taken for the other."""
    round = shown.record.round
    if not (round.user_name or round.assistant_name):
        return "user", "assistant"
    user, assistant = round.user_name or "user", round.assistant_name or "assistant"
    first, second = _plain(user), _plain(assistant)
    misleading = first in (second, "assistant", *_NOBODY) or second in ("user", *_NOBODY)
    misleading |= first.startswith("[") or second.startswith("[")
    return ("user", "assistant") if misleading else (user, assistant)


def _plain(name: str) -> str:
    return fenced_name(name).casefold()


def _sides(shown: Shown) -> list[tuple[str, str]]:
    """Who said what; an empty side is left out."""
    user, assistant = _speakers(shown)
    if shown.beside.is_quoting:
        user += QUOTING
    said = ((user, shown.user_text), (assistant, shown.assistant_text))
    return [(name, text) for name, text in said if text]


def marks(shown: Sequence[Shown]) -> frozenset[str]:
    """The marks in these rounds, by the names under which the prompts explain them."""
    found = {name for one in shown for name, _ in _beside(one)}
    if any(one.user_text and one.beside.is_quoting for one in shown):
        found.add(QUOTING.removeprefix(", "))
    if _are_several(shown):
        found.add(SEVERAL)
    if not all(one.is_whole for one in shown):
        found.add(CUT)
    return frozenset(found)


def _are_several(shown: Sequence[Shown]) -> bool:
    """Whether names stand for more people than the user and the assistant."""
    names = {_speakers(one) for one in shown}
    users, others = {user for user, _ in names}, {other for _, other in names} - {"assistant"}
    if any(is_anothers(one.record.round) for one in shown):
        return True
    return len(users) > 1 or bool(others and "user" not in users)


def _one_line(entry: Mapping[str, Any]) -> str:
    """The fields of an entry, joined by semicolons; those within a value become commas."""
    fields = {name.replace("_", " "): str(value) for name, value in entry.items()}
    return "; ".join(f"{name}: {value.replace(';', ',')}" for name, value in fields.items())


def whole_months(first: date, last: date) -> tuple[int, int]:
    """Whole calendar months from `first` to `last`, and the days left; `first` not after `last`."""
    months = (last.year - first.year) * 12 + last.month - first.month
    if last.day >= first.day:
        return months, last.day - first.day
    months -= 1
    year, month = divmod(first.year * 12 + first.month - 1 + months, 12)
    clamped = date(year, month + 1, min(first.day, monthrange(year, month + 1)[1]))
    return months, (last - clamped).days


def print_span(first: date, last: date) -> str:
    """The span in days, and in weeks and months: `45 days (6 weeks 3 days; 1 month 15 days)`.

    Weeks and months are added where there is at least one of them; the order of the days does not
    matter.
    """
    first, last = min(first, last), max(first, last)
    days = (last - first).days
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
