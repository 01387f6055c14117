"""Where an answer ends because the caller said so, however it is cut into pieces."""

from collections.abc import Mapping
from typing import Any

import pytest

from assistant.answering.notes import AnswerEnd, for_notes, with_notes_before


def ended(options: Mapping[str, Any], pieces: list[str]) -> tuple[str, str | None]:
    end = AnswerEnd(options)
    shown = "".join(end.feed(piece) for piece in pieces)
    return shown + end.finish(), end.reason


@pytest.mark.parametrize(
    ("options", "answer", "shown", "reason"),
    [
        ({}, "one two three", "one two three", None),
        ({"stop": "two"}, "one two three", "one ", "stop"),
        ({"stop": ["four", "two"]}, "one two three", "one ", "stop"),
        ({"stop": ["three", "two"]}, "one two three", "one ", "stop"),
        ({"stop": "aab"}, "aaab", "a", "stop"),
        ({"stop": "two!"}, "one two", "one two", None),
        ({"stop": "four"}, "one two three", "one two three", None),
        ({"max_tokens": 2}, "one two three", "one two ", "length"),
        ({"max_tokens": 3}, "one two thr", "one two thr", None),
        ({"max_completion_tokens": 1, "max_tokens": 2}, "one two three", "one ", "length"),
        ({"max_tokens": 2, "stop": "three"}, "one two three", "one two ", "stop"),
        ({"max_tokens": 1, "stop": "three"}, "one two three", "one ", "length"),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_where_it_ends(
    options: Mapping[str, Any], answer: str, shown: str, reason: str | None, size: int
) -> None:
    pieces = [answer[start : start + size] for start in range(0, len(answer), size)]
    assert ended(options, pieces) == (shown, reason)


def test_nothing_comes_after_the_end() -> None:
    end = AnswerEnd({"stop": "."})
    assert end.feed("Yes. And") == "Yes"
    assert (end.feed(" more"), end.finish()) == ("", "")


def test_only_what_may_begin_the_end_is_held_back() -> None:
    end = AnswerEnd({"stop": "###"})
    assert [end.feed(piece) for piece in ("a#", "b##", "c")] == ["a", "#b", "##c"]


def test_notes_are_not_ended() -> None:
    options = {"stop": "\n", "max_tokens": 5, "seed": 1}
    assert for_notes(options) == {"seed": 1}
    assert with_notes_before(options) == {"seed": 1, "max_tokens": 1005}
