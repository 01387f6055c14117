"""Words as BM25 counts them: lower-cased, without stop words, stemmed, numbered.

The number of a term is a hash of the stem, so no vocabulary has to be kept, and both engines hold
the same sparse vectors. The stored value is the plain count; recall does the weighting.

Every word has its English stem as a term, whatever its language. So names and numbers are found
from any language, and memories written before other languages were known keep their index. In a
text of another language each word also has its stem in that language as a term. A word of a query
stands for any of the terms that it may have been indexed by.
"""

import re
import threading
import unicodedata
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

import snowballstemmer

from memory_store.by_digest import ByDigest
from memory_store.language.languages import ENGLISH, NAMES, languages_of, word_list

_WORD = re.compile(r"\w+")
# Chinese, Japanese, Thai, Lao, Burmese and Khmer put no spaces between words. Characters beyond the
# basic plane are rare Chinese ones.
_UNSPACED = (
    "\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u3005-\\u3007\\u3040-\\u30ff"
    "\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\U00020000-\\U0003ffff"
)
_RUN = re.compile(rf"(?P<unspaced>[{_UNSPACED}]+)|[^{_UNSPACED}]+")
# A table that lower-cases ASCII letters and turns characters that belong to no word into spaces.
_ASCII_WORDS = bytes(
    ord(char.lower()) if char.isalnum() or char == "_" else ord(" ")
    for char in map(chr, range(128))
).ljust(256)
_STOP_WORDS = frozenset(word_list("english", "stop_words"))
_LONGEST_WORD = 256
# Normalising takes quadratic time in the number of combining marks in a row, so pieces are limited.
_PIECE = re.compile(r"\S{1,512}")
# Stemmers by language or script, as `languages_of` names them. Ukrainian, for example, is stemmed
# as Russian both in texts and in queries, so its words are found as well.
_ALGORITHMS = {ENGLISH: "english", **NAMES, "CYRILLIC": "russian", "GREEK": "greek"}
# A stemmer keeps its current word as state, and several threads use it.
_stemming = threading.Lock()


def terms(text: str) -> list[int]:
    """The terms of a text in order, repeated as often as they occur."""
    return [term for term in map(_term, _words(text)) if term is not None]


def indexed_counts(text: str) -> Counter[int]:
    """How often each term occurs that the text can be found by. In a text of another language than
    English, a word has two terms."""
    counts = term_counts(text)
    for language in _with_stemmer(languages_of(text)):
        of_words = (_term_in(language, word) for word in _words(text))
        counts.update(term for term in of_words if term is not None)
    return counts


def query_terms(text: str) -> dict[tuple[int, ...], str]:
    """The different words of a query in order, keyed by the terms they may be indexed by: the
    English stem and the stem in the query's language, or in every language if that is not clear."""
    languages = languages_of(text)
    stemmed = _with_stemmer(languages) if languages else tuple(NAMES)
    found: dict[tuple[int, ...], str] = {}
    for word in _words(text):
        english, others = _term(word), [_term_in(language, word) for language in stemmed]
        if english is None or (languages and None in others):
            continue  # a stop word
        every = (english, *(term for term in others if term is not None))
        found.setdefault(tuple(dict.fromkeys(every)), word)
    return found


def named_terms(text: str) -> dict[int, str]:
    """The different terms of a text in order, each with the first word that stands for it."""
    named: dict[int, str] = {}
    for word in _words(text):
        if (term := _term(word)) is not None:
            named.setdefault(term, word)
    return named


def term_counts(text: str) -> Counter[int]:
    """How often each term occurs in the text."""
    return Counter(terms(text))


# The same sentences are compared with many questions, so their terms are cached. Longer texts are
# mostly compared only once.
_SENTENCE = 1_000
_WANTED = ByDigest[tuple[frozenset[int], ...]](20_000)
_HELD = ByDigest[frozenset[int]](20_000)
_INDEXED = ByDigest[frozenset[int]](20_000)


def shared_words(query: str, text: str) -> float:
    """The share of the query's different words that the text holds, 0 to 1."""
    return shared_with(query)(text)


def shared_with(query: str) -> Callable[[str], float]:
    """`shared_words` of one query, for many texts."""
    wanted = _WANTED.of(query, lambda: tuple(map(frozenset, query_terms(query))))
    several = any(len(one) > 1 for one in wanted)
    known, counts = (_INDEXED, indexed_counts) if several else (_HELD, term_counts)

    def share(text: str) -> float:
        if not wanted:
            return 0.0
        if len(text) > _SENTENCE:
            held = frozenset(counts(text))
        else:
            held = known.of(text, lambda: frozenset(counts(text)))
        return sum(not held.isdisjoint(one) for one in wanted) / len(wanted)

    return share


@cache
def _plainest() -> Mapping[str, str]:
    """The plainest word for each that has one."""
    plainest: dict[str, str] = {}
    for group in word_list("english", "same"):
        first, *others = group.split()
        plain = first.replace("-", " ")
        for word in others:
            plainest.setdefault(word, plain)
            if word.isalpha() and not word.endswith("s"):
                plainest.setdefault(f"{word}s", f"{plain}s")
    return plainest


@cache
def _parts_of_plainest() -> frozenset[str]:
    return frozenset(part for word in _plainest() for part in _words(word))


_ENGLISH_WORD = re.compile(r"[A-Za-zé&-]+")


def in_plain_words(text: str) -> str:
    """An English text with plainer words where there are any: "my gp" becomes "my doctor"."""
    if _parts_of_plainest().isdisjoint(_words(text)):
        return text  # a fast check, which is enough for most texts
    plainest = _plainest()
    return _ENGLISH_WORD.sub(lambda match: plainest.get(match[0].lower(), match[0]), text)


def _words(text: str) -> list[str]:
    """The words in order, lower-cased and in normal form (NFKC)."""
    if text.isascii():  # three times as fast, and true of nine texts in ten
        return text.encode().translate(_ASCII_WORDS).decode().split()
    pieces = (unicodedata.normalize("NFKC", piece[0]).lower() for piece in _PIECE.finditer(text))
    return [part for piece in pieces for word in _WORD.findall(piece) for part in _parts(word)]


def _parts(word: str) -> Iterator[str]:
    """The parts of a word; a run of a script without spaces gives its pairs of characters."""
    for run in _RUN.finditer(word):
        text = run[0]
        if run.lastgroup == "unspaced" and len(text) > 2:
            yield from map("".join, pairwise(text))
        else:
            yield text


def composed(text: str) -> str:
    """The text in NFC: a letter and its marks are one character if there is one for both."""
    return (
        text
        if text.isascii()
        else _PIECE.sub(lambda piece: unicodedata.normalize("NFC", piece[0]), text)
    )


def stem(word: str, language: str = ENGLISH) -> str:
    """The stem of one lower-case word."""
    with _stemming:
        return str(_stemmer(language).stemWord(word))


@cache
def _stemmer(language: str) -> Any:
    return snowballstemmer.stemmer(_ALGORITHMS[language])


def _with_stemmer(languages: set[str]) -> tuple[str, ...]:
    """Those of the languages that have a stemmer, without English."""
    return tuple(sorted(languages & (_ALGORITHMS.keys() - {ENGLISH})))


@cache
def _stop_words(language: str) -> frozenset[str]:
    return frozenset(word_list(NAMES[language], "stop_words") if language in NAMES else ())


def _term(word: str) -> int | None:
    # A run that is longer than any word, such as a key, is not stemmed or cached, as stemming it
    # would take long and caching it much memory.
    return _term_of_word(word) if len(word) <= _LONGEST_WORD else _numbered(word)


@lru_cache(maxsize=100_000)
def _term_of_word(word: str) -> int | None:
    return None if word in _STOP_WORDS else _numbered(stem(word))


def _term_in(language: str, word: str) -> int | None:
    """The term of a word's stem in another language than English; no other language has it."""
    return _term(word) if len(word) > _LONGEST_WORD else _stem_in(language, word)


@lru_cache(maxsize=100_000)
def _stem_in(language: str, word: str) -> int | None:
    return (
        None if word in _stop_words(language) else _numbered(f"{language}:{stem(word, language)}")
    )


def _numbered(word: str) -> int:
    # A sparse index has 32-bit numbers; two stems of one history rarely share one.
    return zlib.crc32(word.encode())
