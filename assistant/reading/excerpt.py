"""A long text cut to the sentences nearest to a question."""

from collections.abc import Callable

from memory_store import LONGEST_READ, read_sentences

CUT = "[…]"


Nearness = Callable[[str], float]
"""How near a sentence is to a question, such as the share of its words."""


def excerpt(text: str, near: Nearness, limit: int, *, leads: bool = True) -> str:
    """At most `limit` characters of the text, and marks where something was left out.

    Without `leads`, sentences that only lead to what follows ("Here are some tips:") come last.

    The nearest sentences are kept, earlier ones first among equals, in the order of the text. A
    text within the limit comes back whole.
    """
    if len(text) <= limit:
        return text
    parts = read_sentences(text) or [text[:LONGEST_READ]]
    if len(parts) == 1 and len(parts[0]) > limit:
        return f"{_shortened(parts[0], limit)} {CUT}"

    def order(place: int) -> tuple[bool, float, int]:
        is_lead = not leads and parts[place].endswith(":")
        return is_lead, -near(parts[place]), place

    nearest = sorted(range(len(parts)), key=order)
    kept: list[int] = []
    left = limit
    for place in nearest:
        if len(parts[place]) > left:
            if not kept:
                return f"{_shortened(parts[place], limit)} {CUT}"
            break
        kept.append(place)
        left -= len(parts[place]) + 1
    return _joined(parts, sorted(kept), is_all=len(text) <= LONGEST_READ)


def shortened(text: str, limit: int) -> str:
    """The text, or its beginning up to the last word that ends within `limit`, marked as such."""
    return text if len(text) <= limit else f"{_shortened(text, limit)} …"


def _joined(parts: list[str], kept: list[int], *, is_all: bool) -> str:
    pieces = [CUT] if kept and kept[0] > 0 else []
    for previous, place in zip([-1, *kept], kept, strict=False):
        if pieces and place != previous + 1 and pieces[-1] != CUT:
            pieces.append(CUT)
        pieces.append(parts[place])
    if kept and not (is_all and kept[-1] == len(parts) - 1):
        pieces.append(CUT)
    return " ".join(pieces)


def _shortened(text: str, limit: int) -> str:
    return text[:limit].rsplit(" ", 1)[0] if " " in text[:limit] else text[:limit]
