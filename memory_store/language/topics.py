"""What a text is about: topics, its key phrases, and the sentences that say most of it.

Phrases and sentences are found by statistics: the weight of a word is its rarity among other texts
(tf-idf), which needs neither a language model nor an encoder. Phrases are runs of words between
stop words and punctuation, as in RAKE (Rose et al., 2010). Sentences are chosen by nearness to the
text's centroid, as in MEAD (Radev et al., 2004), each by what it adds to those already chosen.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from memory_store.language.languages import word_table
from memory_store.language.words import named_terms, terms

TOPICS: dict[str, tuple[str, ...]] = {
    topic: tuple(like) for topic, like in word_table("english", "topics").items()
}
"""The topics that people tell about themselves, in the order in which they are shown, each with
example sentences."""

# Marks that separate two phrases.
_BREAK = re.compile(r"[^\w\s'’-]+|\n+")
_WORD = re.compile(r"\w[\w'’-]*")
_LONGEST_PHRASE = 3
# A word that an already chosen sentence has counts by this factor.
_REPEATED = 0.2
_SHORT_SENTENCE = 8.0


class Rarity:
    """How rare each word is among many texts."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts: list[frozenset[int]] = [frozenset(terms(text)) for text in texts]

    @cached_property
    def _held_by(self) -> Counter[int]:
        return Counter(term for held in self._texts for term in held)

    def of(self, term: int) -> float:
        """The inverse document frequency of a term: about 0 if every text has it."""
        return math.log((len(self._texts) + 1) / (self._held_by[term] + 0.5))


def key_phrases(text: str, rarity: Rarity, most: int) -> list[str]:
    """The phrases that tell this text from the others, the most telling first."""
    found: dict[tuple[int, ...], str] = {}
    counts: Counter[tuple[int, ...]] = Counter()
    for words in _runs(text):
        key = tuple(term for word in words for term in terms(word))
        found.setdefault(key, " ".join(words))
        counts[key] += 1
    weights = {key: counts[key] * sum(map(rarity.of, key)) for key in found}
    ranked = sorted(found, key=lambda key: (-weights[key], found[key]))
    return [found[key] for key in ranked[:most]]


def _runs(text: str) -> Iterable[list[str]]:
    """Runs of up to `_LONGEST_PHRASE` words with no stop word or punctuation between them."""
    for part in _BREAK.split(text):
        run: list[str] = []
        for word in _WORD.findall(part):
            if not named_terms(word) or len(run) == _LONGEST_PHRASE:
                if run:
                    yield run
                run = []
            if named_terms(word):
                run.append(word)
        if run:
            yield run


def telling_sentences(sentences: Sequence[str], rarity: Rarity, most: int) -> list[str]:
    """The sentences, in their order, that say most of what all of them say together."""
    held = [Counter(terms(sentence)) for sentence in sentences]
    together: Counter[int] = Counter()
    for words in held:
        together.update(words)
    centroid = _weighted(together, rarity)
    chosen: list[int] = []
    left = {at for at, words in enumerate(held) if words}
    covered: set[int] = set()
    while left and len(chosen) < most:
        at = max(left, key=lambda one: (_adds(held[one], centroid, covered), -one))
        left.remove(at)
        chosen.append(at)
        covered |= held[at].keys()
    return [sentences[at] for at in sorted(chosen)]


def _weighted(counts: Mapping[int, int], rarity: Rarity) -> dict[int, float]:
    return {term: (1 + math.log(count)) * rarity.of(term) for term, count in counts.items()}


def _adds(words: Mapping[int, int], centroid: Mapping[int, float], covered: set[int]) -> float:
    gain = sum(centroid[term] * (_REPEATED if term in covered else 1.0) for term in words)
    return gain / (len(words) + _SHORT_SENTENCE)
