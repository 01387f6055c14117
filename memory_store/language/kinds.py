"""The kinds of a message, by a linear model over its words and parts of words.

Several kinds may hold at once: "remember this: I moved to Ghent" asks to keep something and tells
something. Each has a certainty of its own, from 0 to 1. The model is trained on messages that
people labelled (`benchmarks/kinds`), in every style of typing and in five languages. It needs no
encoder: the store asks it for each sentence that is written.
"""

import re
import unicodedata
import zlib
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache, lru_cache
from importlib import resources
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt


class Kind(StrEnum):
    """What a message does or asks for."""

    TELLS = "tells"
    ASKS = "asks"
    ADVICE = "advice"
    """Asks what to do, or for ideas."""
    ABOUT_REPLY = "about_reply"
    """Asks what the assistant said before."""
    CORRECTS = "corrects"
    """Puts right what was told before."""
    FORGETS = "forgets"
    """Wants something forgotten that was told."""
    KEEPS = "keeps"
    """Wants something remembered."""
    KEEPS_OUT = "keeps_out"
    """Tells something that is not to be remembered."""
    INSTRUCTS = "instructs"
    """Says how the assistant is to answer from now on."""
    ABOUT_ASSISTANT = "about_assistant"
    """Asks who the assistant is, or what it does."""
    GREETS = "greets"
    THANKS = "thanks"
    SMALL_TALK = "small_talk"
    TASK = "task"
    """Wants something written, translated, computed."""

    @property
    def asks(self) -> bool:
        """Whether this kind expects an answer and tells nothing."""
        return self in ASKING


ASKING = (Kind.ASKS, Kind.ADVICE, Kind.ABOUT_REPLY, Kind.ABOUT_ASSISTANT)
TELLING = (Kind.TELLS, Kind.CORRECTS, Kind.KEEPS)
_NUMBERS = "kinds.npz"
_BITS = 15
BUCKETS = 1 << _BITS
"""How many numbers the hash of a feature may have."""
_TOKEN = re.compile(r"[\w']+|[^\w\s]")
_LENGTHS = range(2, 6)
# Knuth's multiplier, used to hash a sequence of characters to one number.
_MULTIPLIER = 2_654_435_761
# Only this many characters of a long message are read, as a wish stands at its beginning or end.
_BEGINNING, _ENDING = 300, 200

Certainties = Mapping[Kind, float]
"""How sure each kind is, from 0 to 1; several may be."""


class Kinds(NamedTuple):
    """The weights of each feature (row) for each kind (column), and of each kind alone."""

    weights: npt.NDArray[np.float32]
    bias: npt.NDArray[np.float32]

    def certainties(self, text: str) -> dict[Kind, float]:
        """How sure each kind is."""
        rows = features(text)
        odds = self.weights[rows].sum(axis=0) / max(1.0, len(rows)) ** 0.5 + self.bias
        return dict(zip(Kind, (1 / (1 + np.exp(-odds))).tolist(), strict=True))


@cache
def shipped() -> Kinds:
    """The model of this package."""
    with resources.files(__package__).joinpath(_NUMBERS).open("rb") as file:
        numbers: Any = np.load(file)
        weights = numbers["weights"].astype(np.float32) * numbers["scale"]
        return Kinds(weights, numbers["bias"])


@lru_cache(maxsize=4096)
def kinds_of(text: str) -> Certainties:
    """How sure each kind is of a message or a sentence."""
    return shipped().certainties(text)


def likeliest(kinds: Certainties) -> Kind:
    """The kind that is surest."""
    return max(kinds, key=lambda kind: kinds[kind])


def most_of(kinds: Certainties, some: Sequence[Kind]) -> float:
    """The certainty of the surest of some kinds."""
    return max(kinds[kind] for kind in some)


def features(text: str) -> npt.NDArray[np.int64]:
    """The numbers of the text's features, each once: words, pairs of words, the first and the last
    words, and runs of two to five characters."""
    words = ["#" if word.isdigit() else word for word in _TOKEN.findall(_read(text))]
    named = [zlib.crc32(name.encode("utf-8", "surrogatepass")) % BUCKETS for name in _names(words)]
    joined = f" {' '.join(words)} ".encode("utf-32-le", "surrogatepass")
    parts = _parts(np.frombuffer(joined, dtype=np.uint32))
    is_there = np.zeros(BUCKETS, dtype=np.bool_)
    is_there[np.concatenate([np.asarray(named, dtype=np.int64), *parts])] = True
    return np.flatnonzero(is_there)


def _read(text: str) -> str:
    if len(text) > _BEGINNING + _ENDING:
        text = f"{text[:_BEGINNING]} {text[-_ENDING:]}"
    text = unicodedata.normalize("NFKC", text).lower()
    return re.sub(r"[’`´]", "'", text)


def _names(words: Sequence[str]) -> Iterator[str]:
    yield from (f"w {word}" for word in words)
    yield from (f"b {first} {second}" for first, second in pairwise(words))
    yield from (f"{place} {word}" for place, word in enumerate(words[:3]))
    yield f"s2 {' '.join(words[:2])}"
    yield f"s3 {' '.join(words[:3])}"
    yield f"e {words[-1] if words else ''}"
    yield f"n {min(8, len(words).bit_length())}"
    if "?" in words:
        yield "? ?"


def _parts(characters: npt.NDArray[np.uint32]) -> Iterator[npt.NDArray[np.int64]]:
    """The numbers of all runs of two to five characters, length by length."""
    multiplier = np.uint32(_MULTIPLIER)
    hashes = characters * multiplier
    for length in _LENGTHS:
        if len(characters) < length:
            return
        hashes = (hashes[:-1] ^ characters[length - 1 :]) * multiplier
        yield ((hashes ^ np.uint32(length * 7919)) >> np.uint32(32 - _BITS)).astype(np.int64)
