"""Halves of surrogate pairs: what becomes of them, and of everything else."""

import pytest

from assistant.characters import whole_characters


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("", ""),
        ("plain", "plain"),
        ("Zoë 🦊 好 \x00 \ufeff", "Zoë 🦊 好 \x00 \ufeff"),
        ("\ufeffé", "\ufeffé"),
        ("cut \ud83d", "cut \ufffd"),
        ("\udc00\ud83da", "\ufffd\ufffda"),
        ("\ud83d\ude00", "😀"),
        ("\ud83d\ud83d\ude00", "\ufffd😀"),
    ],
)
def test_whole_characters(text: str, whole: str) -> None:
    assert whole_characters(text) == whole
