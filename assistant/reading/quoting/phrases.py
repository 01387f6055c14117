"""The sentences that our own answers begin with. Pure."""

from collections.abc import Sequence

NO_MEMORY = (
    "I have no language model to answer with (set chat_model), and memory is off for this message."
)
NOTED = "Noted."
ADMITTED = "I don't know:"
UNKNOWN = f"{ADMITTED} I found nothing about that in what we talked about."
NOTHING_THEN = f"{ADMITTED} I found nothing of that time in what we talked about."
OPENING = "From what we talked about:"
CLOSEST = "The closest that I find:"
OURS = (OPENING, CLOSEST, UNKNOWN, NOTHING_THEN)
"""What our own answers hold; they are never quoted again."""


def never_came_up(names: Sequence[str]) -> str:
    """Nobody mentioned these."""
    return f"{ADMITTED} {' and '.join(names)} never came up in what we talked about."


def only_from_others(name: str) -> str:
    """Others said it, this one did not."""
    return f"{ADMITTED} I find nothing of that from {name}, only from others."
