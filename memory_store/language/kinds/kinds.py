"""The kind of a message, by a linear model over its words and parts of words.

The model is trained on messages that people labelled (`benchmarks/kinds`), in every style of typing
and in five languages. It needs no encoder: the store asks it for each sentence that is written.
"""

import re
import unicodedata
import zlib
from collections.abc import Iterator
from enum import StrEnum
from functools import cache, lru_cache
from importlib import resources
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt


class Kind(StrEnum):
    """What a message is for whoever sends it."""

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
        """Whether an answer is expected, and nothing told."""
        return self in _ASKING


_ASKING = (Kind.ASKS, Kind.ADVICE, Kind.ABOUT_REPLY, Kind.ABOUT_ASSISTANT)
_NUMBERS = "kinds.npz"
BUCKETS = 1 << 15
"""Features are numbered by a hash of this size."""
_TOKEN = re.compile(r"[\w']+|[^\w\s]")
_LENGTHS = range(2, 6)
_MAY_WELL, _MAINLY, _SURELY = 0.4, 0.5, 0.7
# What somebody wants stands at the beginning or the end.
_BEGINNING, _ENDING = 300, 200


class Kinds(NamedTuple):
    """The weights of each feature (row) for each kind (column), and of each kind alone."""

    weights: npt.NDArray[np.float32]
    bias: npt.NDArray[np.float32]

    def shares(self, text: str) -> dict[Kind, float]:
        """How likely each kind is; together 1."""
        rows = list(features(text))
        scores = self.weights[rows].sum(axis=0) / max(1.0, len(rows)) ** 0.5 + self.bias
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        return dict(zip(Kind, shares.tolist(), strict=True))


@cache
def shipped() -> Kinds:
    """The model of this package."""
    with resources.files(__package__).joinpath(_NUMBERS).open("rb") as file:
        numbers: Any = np.load(file)
        weights = numbers["weights"].astype(np.float32) * numbers["scale"]
        return Kinds(weights, numbers["bias"])


@lru_cache(maxsize=4096)
def _shares(text: str) -> dict[Kind, float]:
    return shipped().shares(text)


def kind_of(text: str) -> Kind:
    """The most likely kind of a message or a sentence."""
    shares = _shares(text)
    return max(shares, key=lambda kind: shares[kind])


def asks(text: str) -> bool:
    """Whether it is surely a question."""
    return sum(share for kind, share in _shares(text).items() if kind.asks) > _SURELY


def instructs(text: str) -> bool:
    """Whether it surely says how the assistant is to answer from now on."""
    return _shares(text)[Kind.INSTRUCTS] > _MAINLY


def wants_answer(text: str) -> bool:
    """Whether it may well want an answer or something done."""
    shares = _shares(text)
    wanted = sum(share for kind, share in shares.items() if kind.asks or kind is Kind.TASK)
    return wanted > (_SURELY if text.endswith((".", "!")) else _MAY_WELL)


def features(text: str) -> Iterator[int]:
    """The numbers of its features, each once: words, pairs of them, the first and the last ones,
    and parts of words, of two to five characters."""
    yield from {
        zlib.crc32(name.encode("utf-8", "surrogatepass")) % BUCKETS for name in _names(_read(text))
    }


def _read(text: str) -> str:
    if len(text) > _BEGINNING + _ENDING:
        text = f"{text[:_BEGINNING]} {text[-_ENDING:]}"
    text = unicodedata.normalize("NFKC", text).lower()
    return re.sub(r"[’`´]", "'", text)


def _names(text: str) -> Iterator[str]:
    words = ["#" if word.isdigit() else word for word in _TOKEN.findall(text)]
    yield from (f"w {word}" for word in words)
    yield from (f"b {first} {second}" for first, second in pairwise(words))
    yield from (f"{place} {word}" for place, word in enumerate(words[:3]))
    yield f"s2 {' '.join(words[:2])}"
    yield f"s3 {' '.join(words[:3])}"
    yield f"e {words[-1] if words else ''}"
    yield f"n {min(8, len(words).bit_length())}"
    if "?" in text:
        yield from ("?", "? ?")
    joined = f" {' '.join(words)} "
    for length in _LENGTHS:
        yield from (joined[at : at + length] for at in range(len(joined) - length + 1))
