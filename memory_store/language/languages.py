"""The known languages: their words, in one TOML file per language, and the language of a text.

The commonest words of a text and its script tell its language; if they are unclear, it has none.
Short texts have few words that tell their language, so words that several languages share count
too, as a fraction for each.
"""

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

ENGLISH = "en"
NAMES = {
    "de": "german",
    "es": "spanish",
    "fr": "french",
    "it": "italian",
    "nl": "dutch",
    "pt": "portuguese",
}
"""The other known languages in Latin script, and the names of their files."""


def word_list(language: str, name: str) -> tuple[str, ...]:
    """The words of a list, in its order. `name` is a key of the language's file, such as
    "time.weekdays". The list is an array, or a text with spaces between its words."""
    found: Any = _lists(language)
    for key in name.split("."):
        found = found[key]
    return tuple(found.split() if isinstance(found, str) else found)


def word_table(language: str, name: str) -> Mapping[str, Any]:
    """A table of a language's file."""
    found: Mapping[str, Any] = _lists(language)[name]
    return found


@cache
def wording(name: str, *languages: str) -> re.Pattern[str]:
    """The words and patterns of a list as one pattern, of these languages, or else of English."""
    table = name.partition(".")[0]
    return re.compile(
        "|".join(
            spelled(one, table, language)
            for language in languages or ("english",)
            for one in word_list(language, name)
        ),
        re.I,
    )


def spelled(
    text: str,
    table: str,
    language: str = "english",
    instead: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """A pattern of a table, with each list that it names ("{past}") put in its place. The list is
    in the same table, or else in the file. `instead` maps names of lists to those of others."""

    def alternatives(named: re.Match[str]) -> str:
        name = instead.get(named[1], named[1])
        path = f"{table}.{name}" if name in word_table(language, table) else name
        words = word_list(language, path)
        return f"(?:{'|'.join(spelled(one, table, language, instead) for one in words)})"

    return re.sub(r"\{([a-z_.]+)\}", alternatives, text)


@cache
def _lists(language: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath(f"words/{language}.toml").read_text("utf-8"))


_LONG = 4


def _as_typed(word: str) -> set[str]:
    """The word, and if it is long also without its accents, which many people leave out."""
    bare = "".join(unicodedata.normalize("NFD", letter)[0] for letter in word)
    return {word, bare} if len(word) >= _LONG else {word}


_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_NOT_LATIN = re.compile(r"(?![_\d])[\u0370-\u1dff\u2c00-\ud7ff]")
_LONGEST = 400
# The least count that tells a language: one word of its own, or several that it shares.
_ENOUGH = 1.0


@cache
def _languages_by_word() -> dict[str, set[str]]:
    """The common words, each with the languages that have it."""
    found: dict[str, set[str]] = {}
    for code, name in {ENGLISH: "english", **NAMES}.items():
        for word in (*word_list(name, "stop_words"), *word_list(name, "common")):
            for typed in _as_typed(word):
                found.setdefault(typed, set()).add(code)
    return found


def languages_of(text: str) -> set[str]:
    """The language that most of the text's common words belong to, if there is one, and its script
    if that is not Latin."""
    text = text[:_LONGEST]
    found = {_language_of(text), _script_of(text)}
    return {name for name in found if name}


def _script_of(text: str) -> str | None:
    if text.isascii():
        return None
    letter = _NOT_LATIN.search(text)
    if not letter:
        return None
    script = unicodedata.name(letter[0], "?").split(" ")[0]
    return "CJK" if script in ("HIRAGANA", "KATAKANA") else script


def _language_of(text: str) -> str | None:
    found: dict[str, float] = {}
    languages = _languages_by_word()
    for written in _WORD.findall(text.lower().replace("’", "'")):
        # "j'en" and "est-ce" count as two words each unless they are known as one.
        for word in [written] if written in languages else re.split("['-]", written):
            for name in (names := languages.get(word, set())):
                found[name] = found.get(name, 0.0) + 1 / len(names)
    best = sorted(found, key=lambda name: -found[name])[:2]
    if not best or found[best[0]] < _ENOUGH:
        return None
    if len(best) > 1 and found[best[0]] == found[best[1]]:
        return None
    return best[0]
