"""Questions about one of several speakers: "What did Caroline research?" All functions are pure.

Speakers say "I"; only the others say Caroline's name. So a search for the name finds people who
talk to her. Therefore the name of a speaker in a question lifts the rounds of that speaker, and the
rest of the question is searched (measured in benchmarks/LOG.md). "My" stands for the asker, if the
asker is one of the speakers.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from memory_store.language.languages import wording
from memory_store.language.words import composed, terms

Speakers = frozenset[str]
"""The names of the speakers of a round, as they were given; usually none."""

_WORD = re.compile(r"\w+")
_LONGEST_NAME = 256
# Too many names begin with a shorter word.
_SHORT_NAME = 3


@lru_cache(maxsize=1000)
def speakers_of(user_name: str | None, assistant_name: str | None) -> Speakers:
    """The speakers of a round. The same names give the same object, as a memory has many rounds but
    few names."""
    names = ((name or "").strip() for name in (user_name, assistant_name))
    return frozenset(name for name in names if name)


def named_speakers(text: str, rounds: Iterable[Speakers], asker: str | None = None) -> Speakers:
    """The speakers that the text names: by their name, by a part of it, or as the asker. A speaker
    of every round is left out, as the name would not choose among them; so is the only speaker with
    a name."""
    of_rounds = set(rounds)
    names = frozenset[str]().union(*of_rounds)
    if len(names) < 2:
        return frozenset()
    told = _TextWords(text)
    chosen = names - frozenset.intersection(*of_rounds)
    named = {name for name in chosen if told.words_of(name)}
    if asker in chosen and wording("asked.who_asks").search(text):
        named.add(asker)
    taken = {word for name in named for word in told.words_of(name)}
    return frozenset(named | {name for name in chosen if told.short_names(name) - taken})


def without_names(text: str, names: Iterable[str]) -> str:
    """The text without the words of these names; unchanged if no term would be left."""
    told = _TextWords(text)
    words = {word for name in names for word in told.words_of(name) | told.short_names(name)}
    if not words:
        return text
    bare = _WORD.sub(lambda match: "" if match[0] in words else match[0], composed(text))
    return bare if terms(bare) else text


class _TextWords:
    """The words of a text, to find names in it."""

    def __init__(self, text: str) -> None:
        every = _WORD.findall(composed(text))
        self._opening = every[:1]
        self._later = set(every[1:])
        self._as_told: dict[str, set[str]] = {}
        """The words as they stand in the text, by their folded form."""
        for word in {*self._opening, *self._later}:
            self._as_told.setdefault(_folded(word), set()).add(word)

    def words_of(self, name: str) -> set[str]:
        """The words of the name that occur in the text, as they stand there.

        A part of a name ("Stone" of "Bob Stone") counts if it begins with a capital. So does a name
        that is also a stop word ("Will"), but not at the opening of the text, where any word may.
        """
        every = _WORD.findall(composed(name))
        parts = {_folded(part) for part in every if len(part) > 1 and not part.isdigit()}
        if len(every) > 1:
            parts = {part for part in parts if terms(part)}
        return {
            word
            for part in parts
            for word in self._as_told.get(part, ())
            if (word[0].isupper() or (len(every) == 1 and terms(word)))
            and (word in self._later or terms(word))
        }

    def short_names(self, name: str) -> set[str]:
        """The words of the text that the name begins with ("Mel" of "Melanie"), as they stand
        there. They count if they begin with a capital and do not open the text."""
        full = _folded((_WORD.findall(composed(name)) or [""])[0])
        return {
            word
            for folded, words in self._as_told.items()
            if _SHORT_NAME <= len(folded) < len(full) and full.startswith(folded)
            for word in words & self._later
            if word[0].isupper()
        }


def _folded(word: str) -> str:
    """Fold a name to lower case, without the marks that many leave out: "Zoë" is written "Zoe",
    and the capitals of "Işıl" are "IŞIL"."""
    letters = unicodedata.normalize("NFKD", word[:_LONGEST_NAME].casefold())
    return "".join(char for char in letters if not unicodedata.combining(char)).replace("ı", "i")
