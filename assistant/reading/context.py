"""The dated memory that a language model reads, as JSON or as text, within a token budget."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from assistant.models.token_counter import TokenCounter
from assistant.prompts.fence import fenced_json
from assistant.reading.beside import beside
from assistant.reading.delivery import Passage
from assistant.reading.layouts import LAYOUTS, head
from assistant.reading.packing import NOTHING_BESIDE, USUAL, Beside, Budget, Portions, Shown, pack
from assistant.reading.plan import Layout
from assistant.reading.standing import STANDING, StandingRequest
from memory_store import ENGLISH, Language, Record

# What the user asked for once and for all may take this share of the budget, not more.
_REQUESTS_SHARE = 0.1
# What joins a day's heading to its rounds, and what stands around everything.
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
    requests: tuple[StandingRequest, ...] = ()
    """Standing requests in it."""

    @property
    def used(self) -> tuple[str, ...]:
        """Ids of the rounds in it, best first, and of those whose requests are in it."""
        ids = [shown.record.id for shown in self.shown]
        return tuple(dict.fromkeys([*ids, *(one.round_id for one in self.requests)]))

    @property
    def trimmed(self) -> tuple[str, ...]:
        """Ids of the rounds in it that were shortened."""
        return tuple(shown.record.id for shown in self.shown if not shown.is_whole)


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """What a context is built for, and from what beside the passages. `requests` are standing ones,
    the newest first."""

    question: str
    asked_at: datetime
    token_budget: int
    layout: Layout = Layout.JSON
    portions: Portions = USUAL
    requests: Sequence[StandingRequest] = ()
    language: Language = ENGLISH
    computed_help: bool = True


def build_context(
    passages: Sequence[Passage], request: ContextRequest, count: TokenCounter
) -> Context:
    """The best of the passages that fits the budget, oldest session first, with dates and ages."""
    layout = LAYOUTS[request.layout]
    requests = _within(request.requests, round(request.token_budget * _REQUESTS_SHARE), count)
    extras = {STANDING: [one.entry for one in requests]} if requests else {}
    used = (count(fenced_json(extras)) if extras else 0) + _FRAME

    def round_cost(shown: Shown) -> int:
        return sum(map(count, layout.sides(shown)))

    def heading_cost(first: Shown) -> int:
        return count(layout.heading(head(first, request.asked_at))) + _SEAM

    budget = Budget(request.token_budget - used, round_cost, heading_cost)
    packed = pack(
        passages,
        request.question,
        budget,
        partial(beside, language=request.language) if request.computed_help else _nothing,
        request.portions,
    )
    text = layout.whole(packed.shown, extras, request.asked_at)
    return Context(
        text,
        packed.shown,
        packed.dropped,
        used + packed.tokens,
        tuple(requests),
    )


def _nothing(record: Record) -> Beside:
    return NOTHING_BESIDE


def _within(
    requests: Sequence[StandingRequest], budget: int, count: TokenCounter
) -> list[StandingRequest]:
    """As many as fit, from the first on."""
    kept: list[StandingRequest] = []
    for request in requests:
        budget -= count(fenced_json(request.entry))
        if budget < 0:
            break
        kept.append(request)
    return kept
