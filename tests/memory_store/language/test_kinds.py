"""The kinds of messages, and that the shipped numbers are those of the examples."""

import numpy as np
import pytest

from benchmarks.kinds.train import HELD_OUT, examples, ordinary, short, trained
from memory_store.language.kinds import Kind, Kinds, kinds_of, likeliest, shipped
from memory_store.language.reading import Sentence


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
    assert likeliest(kinds_of(text)) is kind


@pytest.mark.parametrize(
    "text", ["remember my pin is 4711", "please remember that my locker is number 12"]
)
def test_a_wish_to_keep_may_tell_at_once(text: str) -> None:
    kinds = kinds_of(text)
    assert kinds[Kind.KEEPS] >= 0.5
    assert kinds[Kind.TELLS] >= 0.5


def test_a_question_needs_no_mark() -> None:
    assert Sentence.read("when did i quit smoking").only_asks > 0.5
    assert Sentence.read("quit smoking in march").only_asks < 0.1


def test_any_text_has_a_kind() -> None:
    for text in ("", " ", "?", "\ud800", "😀" * 5000, "a" * 100_000):
        assert likeliest(kinds_of(text)) in Kind


def test_each_certainty_is_of_its_own() -> None:
    kinds = shipped().certainties("moved to bergen")
    assert set(kinds) == set(Kind)
    assert all(0 <= sure <= 1 for sure in kinds.values())


@pytest.mark.slow
def test_the_numbers_are_those_of_the_examples() -> None:
    model = trained(examples(), ordinary(), short())
    step = np.abs(model.weights).max() / 127
    assert np.abs(shipped().weights - model.weights).max() <= step


@pytest.mark.slow
def test_people_who_trained_nothing_are_understood() -> None:
    model = trained([one for one in examples() if one.person not in HELD_OUT], ordinary(), short())
    held_out = [one for one in examples() if one.person in HELD_OUT]
    right = [_kind(model, one.text) in (one.kind, *one.also) for one in held_out]
    assert sum(right) / len(right) > 0.85


def _kind(model: Kinds, text: str) -> Kind:
    return likeliest(model.certainties(text))
