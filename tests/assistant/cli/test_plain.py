"""Text of others on a terminal."""

import pytest

from assistant.cli.console import shortened


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a cat", "a cat"),
        ("a big cat", "a big …"),
        ("a bigger cat", "a …"),
        ("cats and dogs", "cats …"),
        ("bicycles", "bicyc …"),
        ("", ""),
    ],
)
def test_a_text_is_cut_between_words(text: str, shown: str) -> None:
    assert shortened(text, 5) == shown
