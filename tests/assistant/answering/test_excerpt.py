"""Long texts cut to the sentences nearest to a question."""

import pytest

from assistant.answering.packing import excerpt
from memory_store.language import shared_with

TEXT = (
    "Here are some ideas. Try the blue heron trail. It is long. "
    "The heron trail opens at nine. Bring water."
)


@pytest.mark.parametrize(
    ("limit", "cut"),
    [
        (len(TEXT), TEXT),
        (60, "[…] Try the blue heron trail. […] The heron trail opens at nine. […]"),
        (32, "[…] The heron trail opens at nine. […]"),
        (12, "The heron […]"),
    ],
)
def test_the_nearest_sentences_stay_in_their_order(limit: int, cut: str) -> None:
    assert excerpt(TEXT, shared_with("When does the heron trail open?"), limit) == cut


def test_without_a_shared_word_the_beginning_stays() -> None:
    assert (
        excerpt(TEXT, shared_with("zebra?"), 50)
        == "Here are some ideas. Try the blue heron trail. […]"
    )


def test_a_text_without_spaces_is_cut_hard() -> None:
    assert excerpt("x" * 50, shared_with("what?"), 10) == "x" * 10 + " […]"


def test_one_sentence_within_the_limit_stays_whole() -> None:
    assert excerpt("It opens at nine." + " " * 50, shared_with("what?"), 20) == "It opens at nine."


def test_an_empty_text_stays_empty() -> None:
    assert excerpt("", shared_with("what?"), 10) == ""
