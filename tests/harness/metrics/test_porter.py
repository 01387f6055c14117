"""The stemmer of LoCoMo's official F1 beside NLTK's, which the official script uses."""

import re
from itertools import product
from pathlib import Path
from random import Random

import pytest
from nltk.stem.porter import PorterStemmer

from harness.datasets.locomo_scores import stem, stems

ROOT = Path(__file__).parents[3]
NLTK = PorterStemmer()
STARTS = (
    "",
    "a",
    "b",
    "ab",
    "ba",
    "bab",
    "happ",
    "flow",
    "ay",
    "yb",
    "stress",
    "conflat",
    "tr",
    "hopp",
)
ENDINGS = (
    "s es ies sses ied ed ing eed ly y ily ally fully logi logy bli ational tional enci anci izer "
    "alli entli eli ousli ization ation ator alism iveness fulness ousness aliti iviti biliti "
    "icate ative alize iciti ical ful ness al ance ence er ic able ible ant ement ment ent ion "
    "sion tion ou ism ate iti ous ive ize e ll lle tt zz"
).split()


def words_of_the_tree() -> set[str]:
    """Every word of the sample, the documents and the prompts."""
    files = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("harness/datasets/sample/*.json")]
    return {word for path in files for word in re.findall(r"\w+", path.read_text())}


def test_words_of_real_text() -> None:
    words = words_of_the_tree()
    assert len(words) > 5_000
    assert [one for one in words if stem(one) != NLTK.stem(one)] == []


def test_every_ending_after_every_kind_of_start() -> None:
    made = {start + "".join(two) for start in STARTS for two in product(["", *ENDINGS], ENDINGS)}
    assert [one for one in made if stem(one) != NLTK.stem(one)] == []


def test_words_made_at_random() -> None:
    parts, random = [*"aeiouybcdglnrstwxz", *ENDINGS], Random(1)
    made = {"".join(random.choices(parts, k=random.randint(0, 7))) for _ in range(3_000)}
    assert [one for one in made if stem(one) != NLTK.stem(one)] == []


@pytest.mark.parametrize("text", ["İstanbul naïve", "2019s 10th", "日本語 кошки", "don’t it's"])
def test_what_is_not_english(text: str) -> None:
    assert [stem(one) for one in text.split()] == [NLTK.stem(one) for one in text.split()]


def test_irregular_words_as_nltk_lists_them() -> None:
    assert {one: stem(one) for one in NLTK.pool} == NLTK.pool


def test_words_of_a_text_without_small_ones() -> None:
    assert stems("The cats, and a DOG: skies!") == ["cat", "dog", "sky"]
