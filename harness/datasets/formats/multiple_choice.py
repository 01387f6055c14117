"""Questions with options: how they are put, and that exactly one is right."""

from collections.abc import Sequence
from hashlib import sha256

from harness.datasets.formats.entries import Entry
from harness.text import encodable

LETTERS = "abcdefghij"


def put(question: str, options: Sequence[str]) -> str:
    """The question as it is sent: its options below it, by letter."""
    lines = (f"({letter}) {option}" for letter, option in zip(LETTERS, options, strict=False))
    return "\n".join([question, *lines, "Answer with the letter of one option."])


def checked(entry: Entry, name: str, options: Sequence[object], answer: str) -> tuple[str, ...]:
    """The options, where they are texts that differ and the answer is one of them."""
    texts = tuple(encodable(option.strip()) for option in options if isinstance(option, str))
    if len(texts) != len(options) or not 2 <= len(texts) <= len(LETTERS):
        raise entry.error(name, f"expected 2 to {len(LETTERS)} texts")
    if "" in texts or len(set(texts)) != len(texts):
        raise entry.error(name, "an option is empty or occurs twice")
    if answer not in texts:
        raise entry.error(name, f"the correct answer is not among them: {answer!r}")
    return texts


def shuffled(options: Sequence[str], key: str) -> list[str]:
    """An order that depends on the texts and the key alone, so that no place gives one away."""
    return sorted(options, key=lambda option: sha256(f"{key}\0{option}".encode()).digest())
