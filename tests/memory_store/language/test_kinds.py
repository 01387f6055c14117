"""The kinds of messages, and that the shipped numbers are those of the examples."""

import numpy as np
import pytest

from benchmarks.kinds.train import HELD_OUT, examples, trained
from memory_store.language.kinds import Kind, Kinds, asks, kind_of, shipped


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("started running last thursday", Kind.TELLS),
        ("quit google and started at spotify", Kind.TELLS),
        ("i live in ghent", Kind.TELLS),
        ("i drive a fiat", Kind.TELLS),
        ("my sister is called clara", Kind.TELLS),
        ("where do i live", Kind.ASKS),
        ("do you remember my bike", Kind.ASKS),
        ("whats the name of my dentist", Kind.ASKS),
        ("what should i cook tonight", Kind.ADVICE),
        ("delete everything i said about my ex", Kind.FORGETS),
        ("who are you", Kind.ABOUT_ASSISTANT),
        ("hello there", Kind.GREETS),
        ("thanks a lot!", Kind.THANKS),
        ("translate this into french: good morning", Kind.TASK),
    ],
)
def test_plain_cases(text: str, kind: Kind) -> None:
    assert kind_of(text) is kind


def test_a_question_needs_no_mark() -> None:
    assert asks("when did i quit smoking")
    assert not asks("quit smoking in march")


def test_any_text_has_a_kind() -> None:
    for text in ("", " ", "?", "\ud800", "😀" * 5000, "a" * 100_000):
        assert kind_of(text) in Kind


def test_the_shares_of_all_kinds_are_one() -> None:
    assert sum(shipped().shares("moved to bergen").values()) == pytest.approx(1)


@pytest.mark.slow
def test_the_numbers_are_those_of_the_examples() -> None:
    model = trained(examples())
    step = np.abs(model.weights).max() / 127
    assert np.abs(shipped().weights - model.weights).max() <= step


@pytest.mark.slow
def test_people_who_trained_nothing_are_understood() -> None:
    model = trained([one for one in examples() if one.person not in HELD_OUT])
    held_out = [one for one in examples() if one.person in HELD_OUT]
    right = [_kind(model, one.text) in (one.kind, *one.also) for one in held_out]
    assert sum(right) / len(right) > 0.85


def _kind(model: Kinds, text: str) -> Kind:
    shares = model.shares(text)
    return max(shares, key=lambda kind: shares[kind])
