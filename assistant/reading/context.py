"""The dated memory that a language model reads, as JSON or as text, within a token budget."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from assistant.models.token_counter import TokenCounter
from assistant.prompts.fence import fenced_json
from assistant.reading.delivery import Passage
from assistant.reading.layouts import LAYOUTS, head
from assistant.reading.packing import Budget, Shown, pack
from assistant.reading.plan import Layout

# Computed help and the profile may take this share of the budget, not more.
_HELP_SHARE = 0.15
# What joins a session's heading to its rounds, and what stands around everything.
_SEAM = 2
_FRAME = 8


@dataclass(frozen=True, slots=True)
class Context:
    """The memory as written down, and what became of the rounds that were found.

    `shown` is best first; `dropped` are ids of rounds found that did not fit. The text is at most
    `tokens` long: its parts are counted one by one, the whole is not counted again.
    """

    text: str
    shown: tuple[Shown, ...] = ()
    dropped: tuple[str, ...] = ()
    tokens: int = 0

    @property
    def used(self) -> tuple[str, ...]:
        """Ids of the rounds in it, best first."""
        return tuple(shown.record.id for shown in self.shown)

    @property
    def trimmed(self) -> tuple[str, ...]:
        """Ids of the rounds in it that were shortened."""
        return tuple(shown.record.id for shown in self.shown if not shown.is_whole)


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """What a context is built for, and from what beside the passages.

    `extras` are computed help and profile by name, each a list of entries, the most useful first.
    """

    question: str
    asked_at: datetime
    token_budget: int
    layout: Layout = Layout.JSON
    about_replies: bool = False
    extras: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)


def build_context(
    passages: Sequence[Passage], request: ContextRequest, count: TokenCounter
) -> Context:
    """The best of the passages that fits the budget, oldest session first, with dates and ages."""
    layout = LAYOUTS[request.layout]
    extras = _within(request.extras, round(request.token_budget * _HELP_SHARE), count)
    used = (count(fenced_json(extras)) if extras else 0) + _FRAME

    def round_cost(shown: Shown) -> int:
        return sum(map(count, layout.sides(shown)))

    def session_cost(first: Shown) -> int:
        return count(layout.heading(head(first, request.asked_at))) + _SEAM

    budget = Budget(request.token_budget - used, round_cost, session_cost)
    packed = pack(passages, request.question, budget, about_replies=request.about_replies)
    text = layout.whole(packed.shown, extras, request.asked_at)
    return Context(text, packed.shown, packed.dropped, used + packed.tokens)


def _within(
    extras: Mapping[str, Sequence[Mapping[str, Any]]], budget: int, count: TokenCounter
) -> dict[str, list[Mapping[str, Any]]]:
    """As many entries as fit, from the first of each list on."""
    kept: dict[str, list[Mapping[str, Any]]] = {}
    for name, entries in extras.items():
        for entry in entries:
            budget -= count(fenced_json(entry))
            if budget < 0:
                return kept
            kept.setdefault(name, []).append(entry)
    return kept
