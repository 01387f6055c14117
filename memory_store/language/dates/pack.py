"""The words by which a language names days, from its file of words (`[days]`).

Every word or phrase has one kind: a weekday, a month, "ago". Rules are written in kinds, so that
one grammar reads all languages. If a language has no words of a kind, its rules never match.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from datetime import date, timedelta
from functools import cache
from typing import Any, NamedTuple

from dateutil.easter import easter

from memory_store._spans import Precision, Recurring, Span, nth_weekday, yearly
from memory_store.language.languages import ENGLISH, NAMES, word_list, word_table

FILES = {code: NAMES[code] for code in ("de", "es", "fr", "pt")}
FILES |= {ENGLISH: "english", "zh": "chinese", "ja": "japanese"}
"""The languages whose days are read, and the files of their words."""

# Kinds whose words the file lists under the name of the kind.
_WORDS = (
    "the an of and to from in on at for by since until before after between around over during "
    "throughout within celebrate last past this next coming previous last_after next_after "
    "next_either ago ago_before ahead ahead_after about exactly up_to nothing length each other "
    "half half_a and_half before_last after_next early middle late beginning end earlier later "
    "that time_of_day times_of_day hour now hence time "
    "month_mark day_mark no_season no_holiday thing"
).split()
# Kinds whose words stand for a value, and kinds that are no words.
_MORE = (
    "word day_number number ordinal_number year count vague ordinal unit units night nights "
    "weekend weekends weekday weak_weekday weekday_plural month weak_month season quarter decade "
    "single holiday date month_day clock comma opening dash hyphen possessive mark stop"
).split()
_NUMBERED = (("weekday", 0), ("weekday_plural", 0), ("month", 1), ("ordinal", 1))
KINDS = {name: chr(0xC0 + number) for number, name in enumerate([*_WORDS, *_MORE])}
"""The letter of each kind: a text is read as a line of them."""

CLASSES = {
    "counted": "day_number number count vague an",
    "any_unit": "unit units night nights",
    "any_day": "day_number ordinal_number",
    "any_weekday": "weekday weak_weekday",
    "any_month": "month weak_month",
    "any_time": "time_of_day night",
    "any_until": "to until and hyphen dash",
    "picking": "last past this next coming",
    "preposition": "since until before after for by in on at during over around throughout within "
    "from celebrate",
}
"""Names for several kinds that may stand in the same place of a rule."""


def pattern(rule: str) -> re.Pattern[str]:
    """Compile a rule written in names of kinds to a pattern over lines of their letters."""

    def letters(name: re.Match[str]) -> str:
        kinds = CLASSES.get(name[0], name[0]).split()
        found = "".join(KINDS[kind] for kind in kinds)
        return found if len(kinds) == 1 else f"[{found}]"

    return re.compile(re.sub(r"(?<!<)\b[a-z_]{2,}\b", letters, rule).replace(" ", ""))


class PhraseMeaning(NamedTuple):
    """A phrase: the words after its first, its kind, and what it stands for."""

    rest: tuple[str, ...]
    kind: str
    value: Any


class Pack:
    """The words of one language, ready to be looked up."""

    def __init__(self, code: str) -> None:
        table = word_table(FILES[code], "days")
        self.table = table
        self.code = code
        self.is_english = code == ENGLISH
        self.spaced = code not in ("zh", "ja")
        self.suffixes = frozenset(str(table.get("ordinal_suffixes", "")).split())
        self.with_capital = frozenset(str(table.get("with_capital", "")).split())
        self.elides = bool(table.get("elides"))
        self.after_a_date = frozenset(str(table.get("after_a_date", "")).split())
        self.numbers = {
            name: number
            for number, names in enumerate(_list(code, "numbers"), 1)
            for name in split(names)
        }
        self.phrases: dict[str, list[PhraseMeaning]] = {}
        every = ((kind, one, value) for kind, s, value in self._groups() for one in split(s))
        # If a phrase has two meanings, the first one counts.
        for kind, phrase, value in every:
            first, *rest = re.findall(r"\w+(?:'(?!s\b)\w+)*|'s\b|\S", fold(phrase))
            if not self.spaced:
                first, rest = phrase, []
            self.phrases.setdefault(first, []).append(PhraseMeaning(tuple(rest), kind, value))
        for meanings in self.phrases.values():
            meanings.sort(key=lambda meaning: -len(meaning.rest))

    def _groups(self) -> Iterator[tuple[str, str, Any]]:
        """The kind, the phrases and the value of each entry of the file."""
        table = self.table
        for names, offset in table.get("single", {}).items():
            number, _, unit = str(offset).partition(" ")
            yield "single", names, (int(number), unit or "day")
        for names, rule in table.get("holidays", {}).items():
            yield "holiday", names, holiday(rule)
        yield from ((kind, table.get(kind, ""), None) for kind in _WORDS)
        for ending, units in (("", table["units"]), ("s", table.get("several", {}))):
            for unit, names in units.items():
                kind = unit if unit in ("weekend", "night") else "unit"
                yield kind + ending, names, unit
        for kind, first in _NUMBERED:
            groups = enumerate(_list(self.code, f"{kind}s"), first)
            yield from ((kind, names, number) for number, names in groups)
        if self.spaced:
            yield from (("count", name, number) for name, number in self.numbers.items())
        for kind in ("count", "vague", "ordinal", "season", "quarter", "decade"):
            more = table.get(f"more_{kind}", {}).items()
            yield from ((kind, names, value) for names, value in more)


@cache
def pack_of(code: str) -> Pack:
    """The words of a language, read once."""
    return Pack(code)


def _list(code: str, name: str) -> tuple[str, ...]:
    """A list of the table `[days]`; in English, if it is not there, of the whole file."""
    table = word_table(FILES[code], "days")
    if name in table:
        return tuple(table[name])
    return word_list(FILES[code], name) if code == ENGLISH else ()


def fold(word: str) -> str:
    """Fold a word to lower case, without the accents that many people leave out."""
    word = word.lower()
    if word.isascii():
        return word
    bare = unicodedata.normalize("NFD", word)
    return "".join(letter for letter in bare if not unicodedata.combining(letter))


def split(phrases: str) -> list[str]:
    """The phrases of a list, which "|" separates, with "(a|b)?" spelled out: "letzte(n|r)?" is
    three phrases."""
    found: list[str] = []
    for one in re.findall(r"(?:\([^()]*\)\??|[^|()])+", phrases):
        group = re.search(r"\(([^()]*)\)(\??)", one)
        if group is None:
            found.append(one.strip())
            continue
        ways = group[1].split("|") + [""] * len(group[2])
        for way in ways:
            found += split(one[: group.start()] + way + one[group.end() :])
    return [one for one in found if one]


def holiday(rule: Mapping[str, int]) -> Recurring:
    """A holiday by its rule: a day or a weekday of a month, or days counted from Easter."""
    first = _first_of(rule)
    later, days = timedelta(days=rule.get("later", 0)), rule.get("days", 1)
    precision = Precision.DAY if days == 1 else Precision.SPAN

    def of_year(year: int) -> Span:
        begin = first(year) + later
        return Span(begin, begin + timedelta(days=days - 1), precision)

    return yearly(of_year)


def _first_of(rule: Mapping[str, int]) -> Callable[[int], date]:
    if "easter" in rule:
        return lambda year: easter(year) + timedelta(days=rule["easter"])
    if "nth" in rule:
        return lambda year: nth_weekday(year, rule["month"], rule["weekday"], rule["nth"])
    return lambda year: date(year, rule["month"], rule["day"])
