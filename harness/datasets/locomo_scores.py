"""LoCoMo's F1 over stemmed words, as snap-research/locomo computes it.

A list answer (multi-hop) is cut at commas on both sides, of an open-domain answer only what stands
before the first semicolon counts, and an adversarial question is right when the prediction says one
of two phrases. The stemmer is Porter's, as nltk writes it.
"""

import re
import string
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from itertools import pairwise

from harness.datasets.questions import LOCOMO_CATEGORIES
from harness.records.digest import QuestionDigest

_ENDED = tuple[str, str]
# NLTK: words with a stem of their own.
_IRREGULAR = {
    **{"skies": "sky", "dying": "die", "lying": "lie", "tying": "tie"},
    **{"innings": "inning", "outings": "outing", "cannings": "canning"},
    **{word: word for word in "sky news inning outing canning howe proceed exceed succeed".split()},
}


def _pairs(text: str) -> tuple[_ENDED, ...]:
    """Parse pairs "ending:replacement"; of two endings that both fit, the longer comes first."""
    found = (pair.split(":") for pair in text.split())
    return tuple((ending, instead) for ending, instead in found)


_STEP_2 = _pairs(
    "ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble alli:al entli:ent eli:e "
    "ousli:ous ization:ize ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous "
    # NLTK adds `fulli`, and `logi`, which has a rule of its own in `_step_2`.
    "aliti:al iviti:ive biliti:ble fulli:ful"
)
_STEP_3 = _pairs("icate:ic ative: alize:al iciti:ic ical:ic ful: ness:")
_STEP_4 = _pairs(
    "al: ance: ence: er: ic: able: ible: ant: ement: ment: ent: ion: ou: ism: ate: iti: ous: "
    "ive: ize:"
)


@cache
def stem(word: str) -> str:
    word = word.lower()
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    for step in (_plural, _past, _last_y, _step_2, _step_3, _step_4, _last_e, _last_l):
        word = step(word)
    return word


def _vowels(word: str) -> list[bool]:
    found: list[bool] = []
    for letter in word:
        # A y after a consonant is a vowel.
        found.append(letter in "aeiou" or (letter == "y" and bool(found) and not found[-1]))
    return found


def _measure(word: str) -> int:
    """How often a consonant follows a vowel."""
    return sum(before and not after for before, after in pairwise(_vowels(word)))


def _is_short(word: str) -> bool:
    """Whether the word ends in consonant, vowel and consonant, the last not w, x or y. NLTK: or is
    just a vowel and a consonant.
    """
    vowels = _vowels(word)
    short = vowels[-3:] == [False, True, False] and word[-1] not in "wxy"
    return short or vowels == [True, False]


def _replaced(word: str, pairs: Iterable[_ENDED], holds: Callable[[str, str], bool]) -> str:
    """Replace the first ending that fits, if `holds` is true of the stem before it."""
    for ending, instead in pairs:
        if word.endswith(ending):
            before = word[: len(word) - len(ending)]
            return before + instead if holds(before, ending) else word
    return word


def _plural(word: str) -> str:
    if word.endswith("ies") and len(word) == 4:  # NLTK
        return word[:-1]
    return _replaced(word, _pairs("sses:ss ies:i ss:ss s:"), lambda *_: True)


def _past(word: str) -> str:
    if word.endswith("ied"):  # NLTK
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for ending in ("ed", "ing"):
        before = word.removesuffix(ending)
        if before != word:
            return _completed(before) if any(_vowels(before)) else word
    return word


def _completed(word: str) -> str:
    """Complete what is left of a word without its -ed or -ing."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if word[-1:] == word[-2:-1] and not _vowels(word)[-1]:
        return word if word[-1] in "lsz" else word[:-1]
    return word + "e" if _measure(word) == 1 and _is_short(word) else word


def _last_y(word: str) -> str:
    # NLTK wants a consonant before the y, but not as first letter; Porter any vowel before it.
    is_ending = word.endswith("y") and len(word) > 2 and not _vowels(word)[-2]
    return word[:-1] + "i" if is_ending else word


def _step_2(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]):  # NLTK: what remains may end in another one
        return _step_2(word[:-2])
    if word.endswith("logi"):  # NLTK
        return word[:-1] if _measure(word[:-3]) else word
    return _replaced(word, _STEP_2, lambda before, _: _measure(before) > 0)


def _step_3(word: str) -> str:
    return _replaced(word, _STEP_3, lambda before, _: _measure(before) > 0)


def _step_4(word: str) -> str:
    def is_long(before: str, ending: str) -> bool:
        return _measure(before) > 1 and (ending != "ion" or before[-1] in "st")

    return _replaced(word, _STEP_4, is_long)


def _last_e(word: str) -> str:
    before = word.removesuffix("e")
    measure = _measure(before)
    return before if measure > 1 or (measure == 1 and not _is_short(before)) else word


def _last_l(word: str) -> str:
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


_MULTI_HOP, _OPEN_DOMAIN, _ADVERSARIAL = (LOCOMO_CATEGORIES[number] for number in (1, 3, 5))
_REFUSALS = ("no information available", "not mentioned")
_SMALL_WORDS = re.compile(r"\b(?:a|an|the|and)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def locomo_scores(question: QuestionDigest, hypothesis: str) -> dict[str, float]:
    return {"f1": locomo_f1(question.question_type, hypothesis, question.answer)}


def locomo_f1(category: str, prediction: str, answer: str) -> float:
    if category == _ADVERSARIAL:
        return float(any(phrase in prediction.lower() for phrase in _REFUSALS))
    if category == _MULTI_HOP:
        return list_f1(prediction, answer)
    if category == _OPEN_DOMAIN:
        answer = answer.split(";")[0].strip()
    return token_f1(prediction, answer)


def token_f1(prediction: str, answer: str) -> float:
    """F1 of two texts as bags of stems; 0 where they share none."""
    said, wanted = stems(prediction), stems(answer)
    shared = sum((Counter(said) & Counter(wanted)).values())
    if not shared:
        return 0.0
    precision, recall = shared / len(said), shared / len(wanted)
    return 2 * precision * recall / (precision + recall)


def list_f1(prediction: str, answer: str) -> float:
    """The mean, over the parts of the answer, of the best F1 with a part of the prediction."""
    parts, wanted = prediction.split(","), answer.split(",")
    best = (max(token_f1(part, item) for part in parts) for item in wanted)
    return sum(best) / len(wanted)


def stems(text: str) -> list[str]:
    plain = text.lower().translate(_NO_PUNCTUATION)
    return [stem(word) for word in _SMALL_WORDS.sub(" ", plain).split()]
