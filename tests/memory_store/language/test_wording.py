"""Turns of phrase in the words of a language."""

import re

import pytest

from memory_store.language.languages import spelled, word_table, wording

LISTS = [
    f"{table}.{name}"
    for table in ("asked", "questions", "statements", "time")
    for name, words in word_table("english", table).items()
    if isinstance(words, str)
    or (isinstance(words, list) and all(isinstance(word, str) for word in words))
]


@pytest.mark.parametrize(
    "name", [name for name in LISTS if not name.endswith((".frames", ".ended"))]
)
def test_every_list_is_a_pattern(name: str) -> None:
    assert wording(name).groups >= 0


def test_a_list_stands_where_a_pattern_names_it() -> None:
    assert spelled("i {adverbs}work", "statements").startswith("i (?:(?:(?:now|currently|")
    # Of the file, where the table has none.
    assert "|twelve|" in spelled("{number}", "statements")
    assert re.fullmatch(spelled("{titled}", "statements"), "dr. Ada Byron")
    small = spelled("{titled}", "statements", instead={"titled": "titled_small"})
    assert re.fullmatch(small, "dr. ada byron")


def test_what_a_name_stands_for_is_known() -> None:
    with pytest.raises(KeyError):
        spelled("{nothing_like_it}", "statements")


def test_a_list_of_several_languages_is_one_pattern() -> None:
    asides = wording("aside", "english", "german", "chinese")
    assert all(map(asides.match, ("By the way, I moved.", "Übrigens bin ich da.", "对了,我搬家了")))
    assert wording("aside").match("Übrigens") is None
