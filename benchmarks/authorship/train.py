"""Makes `memory_store/language/authorship.json` from the labelled examples."""

import json
import random
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

import memory_store.language.authorship
from benchmarks.authorship.examples import ANYTHING, GradedSentence, examples, names
from memory_store.language.authorship import Judgement, features, words_of
from memory_store.language.sentences import TextUnit

NUMBERS = Path(memory_store.language.authorship.__file__).parent / "authorship.json"
# A word of fewer patterns says more about the patterns than about those who use it.
_PATTERNS = 2
# Words of fewer patterns than these are dropped now and then: others will use other ones.
_COMMON, _DROPPED = 60, 0.5
_STRENGTH = 2.0
_DIGITS = 3
_CJK = "\u3000"


def trained(of: Sequence[GradedSentence]) -> Judgement:
    """The judgement that follows from these examples; the same from the same ones."""
    patterns = _patterns(of)
    named = names()
    known = frozenset(
        word
        for word, seen in patterns.items()
        if word not in ANYTHING and (word >= _CJK or (len(seen) >= _PATTERNS and word not in named))
    )
    rare = {word for word, seen in patterns.items() if len(seen) < _COMMON}
    units, labels, weights = _rows(of, rare)
    vectorizer = DictVectorizer()
    matrix = vectorizer.fit_transform([dict.fromkeys(features(u, known), 1.0) for u in units])
    matrix.indices, matrix.indptr = (a.astype("int32") for a in (matrix.indices, matrix.indptr))
    model = LogisticRegression(
        C=_STRENGTH, solver="liblinear", l1_ratio=1.0, max_iter=3000, random_state=0
    )
    model.fit(matrix, labels, sample_weight=weights)
    by_name = dict(zip(vectorizer.get_feature_names_out(), model.coef_[0], strict=True))
    rounded = {name: round(float(weight), _DIGITS) for name, weight in sorted(by_name.items())}
    return Judgement(
        known,
        {name: weight for name, weight in rounded.items() if weight},
        round(float(model.intercept_[0]), _DIGITS),
    )


def to_json(judgement: Judgement) -> str:
    """The numbers as they are kept: equal ones give equal bytes."""
    plain: dict[str, Any] = {
        "bias": judgement.bias,
        "known": sorted(judgement.known),
        "weights": dict(sorted(judgement.weights.items())),
    }
    return json.dumps(plain, ensure_ascii=False, indent=0) + "\n"


def _patterns(of: Sequence[GradedSentence]) -> dict[str, set[str]]:
    """In which patterns each word occurs."""
    patterns: defaultdict[str, set[str]] = defaultdict(set)
    for example in of:
        for word in words_of(example.unit.text):
            patterns[word].add(example.pattern)
    return patterns


def _rows(
    of: Sequence[GradedSentence], rare: Collection[str]
) -> tuple[list[TextUnit], list[int], "np.ndarray[Any, np.dtype[np.float64]]"]:
    """Each example as it is and with words dropped; what is unclear counts a little as either."""
    drawn = random.Random(1)
    rows = [
        (unit, label, example.weight * share)
        for example in of
        for unit in (example.unit, _dropped(example.unit, rare, drawn))
        for label, share in _shares(example.foreign)
    ]
    labels = np.array([label for _, label, _ in rows])
    weights = np.array([weight for *_, weight in rows])
    # Both sides weigh the same, and an example weighs one on average.
    weights[labels == 0] *= weights[labels == 1].sum() / weights[labels == 0].sum()
    weights *= len(weights) / weights.sum()
    return [unit for unit, *_ in rows], labels.tolist(), weights


def _shares(foreign: float) -> Iterator[tuple[int, float]]:
    if foreign:
        yield 1, foreign
    if foreign < 1:
        yield 0, 1 - foreign


def _dropped(unit: TextUnit, rare: Collection[str], drawn: random.Random) -> TextUnit:
    """The unit with unknown words in place of some."""
    words = [
        ANYTHING[0]
        if word.isalpha() and word.lower() in rare and drawn.random() < _DROPPED
        else word
        for word in unit.text.split(" ")
    ]
    return TextUnit(" ".join(words), unit.breaks)


def main() -> None:
    """Write the numbers."""
    NUMBERS.write_text(to_json(trained(list(examples()))), "utf-8")


if __name__ == "__main__":
    main()
