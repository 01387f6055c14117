"""Which rounds fit a token budget, and how much of each reply.

People state facts in a few words and assistants answer at length, so the user's sides go first: the
rounds that were found, best first, up to a share of the budget. Replies are cut to the sentences
nearest to the question, and so are long messages after their beginning: the rest is mostly pasted.
What is left buys a few of the best rounds whole. A question about what the assistant said gets more
of the replies. An order of what was said gets no replies, and as many messages as fit; a summary
is half messages, half beginnings of replies. What is left then goes to rounds that did not fit
before. Shares and lengths were chosen on evidence in context (benchmarks/LOG.md).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import islice
from typing import Any, Protocol, TypeVar

from assistant.models.token_counter import TokenCounter
from assistant.prompts.fence import fenced_json
from memory_store import Record
from memory_store.language import LONGEST_READ, read_sentences, shared_with

_CUT_REPLY = 160
# A message longer than this is shown by its beginning, where people say what they want, and by the
# sentences of the rest that are nearest to the question.
_LONG = 600
_BEGINNING = 420
# The characters counted as a token where the best round alone is over the budget and is cut.
_CHARACTERS_PER_TOKEN = 3


@dataclass(frozen=True, slots=True)
class Passage:
    """A round that was found and the rounds delivered with it, itself included, in their order."""

    found: Record
    around: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class Portions:
    """How a budget is shared out among rounds, and what is shown of each."""

    cut_rounds: float
    """The share of the budget for rounds that are cut; the rest is for whole replies."""
    whole_rounds: int
    """How many of the best rounds are shown whole, whatever comes after them."""
    cut_replies: int
    """Of how many of the best rounds the nearest sentences of the reply are shown: farther down,
    what the user said in another round is worth more."""
    begun_replies: int | None
    """For how many of the best rounds what is left buys the reply, cut like a long message; `None`
    means all."""
    whole_replies: int | None
    """For how many of the best rounds what is left then buys the whole reply; `None` means all."""


USUAL = Portions(cut_rounds=0.9, whole_rounds=1, cut_replies=20, begun_replies=0, whole_replies=6)
ABOUT_REPLIES = Portions(
    cut_rounds=0.5, whole_rounds=4, cut_replies=20, begun_replies=None, whole_replies=None
)
MESSAGES = Portions(cut_rounds=1.0, whole_rounds=0, cut_replies=0, begun_replies=0, whole_replies=0)
SUMMARY = Portions(
    cut_rounds=0.5, whole_rounds=0, cut_replies=0, begun_replies=None, whole_replies=0
)


@dataclass(frozen=True, slots=True)
class Beside:
    """What is certain of a round, to be written beside it."""

    days: tuple[str, ...] = ()
    """Words such as "yesterday", which name days relative to when they were said, with the days."""
    replaced: tuple[str, ...] = ()
    """Statements that hold no longer, each with what replaced it."""
    contradicted: tuple[str, ...] = ()
    """Statements that another one contradicts, each with this other one."""
    is_quoting: bool = False
    """Whether what the user said is surely another's words."""
    rounds: tuple[str, ...] = ()
    """Ids of the rounds that are quoted here."""


NOTHING_BESIDE = Beside()


@dataclass(frozen=True, slots=True)
class Shown:
    """A round as the reader sees it."""

    record: Record
    user_text: str
    assistant_text: str
    beside: Beside = NOTHING_BESIDE

    @property
    def heading(self) -> tuple[str, date]:
        """Rounds of one session and day stand under one heading."""
        round = self.record.round
        return round.session_id, round.session_date.date()

    @property
    def is_whole(self) -> bool:
        """Whether both sides are there in full."""
        round = self.record.round
        return (self.user_text, self.assistant_text) == (round.user_text, round.assistant_text)


@dataclass(frozen=True, slots=True)
class Packed:
    """What fits, best first, the ids of the rounds found that do not, and the tokens spent."""

    shown: tuple[Shown, ...]
    dropped: tuple[str, ...]
    tokens: int


Cost = Callable[[Shown], int]
"""Tokens that a round takes as it will be written down, or that the heading of its day takes; never
too few."""


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """Tokens to spend, and what things cost: a round, and once for each day its heading."""

    tokens: int
    round_cost: Cost
    heading_cost: Cost


def pack(
    passages: Sequence[Passage],
    question: str,
    budget: TokenBudget,
    beside: Callable[[Record], Beside],
    portions: Portions = USUAL,
) -> Packed:
    """Fill the budget from the best passage down."""
    packing = _Packing(question, budget, beside, portions)
    for rank, passage in enumerate(passages):
        packing.place(passage, rank)
    packing.widen(portions.begun_replies, packing.begun)
    packing.widen(portions.whole_replies, packing.whole)
    for passage in passages:
        packing.fill(passage)
    shown = packing.shown
    dropped = dict.fromkeys(p.found.id for p in passages if p.found.id not in shown)
    return Packed(tuple(shown.values()), tuple(dropped), packing.spent)


class _Packing:
    """A budget being filled; `shown` is in the order of placing."""

    def __init__(
        self,
        question: str,
        budget: TokenBudget,
        beside: Callable[[Record], Beside],
        portions: Portions,
    ) -> None:
        self.shown: dict[str, Shown] = {}
        self._headings: set[tuple[str, date]] = set()
        self._costs: dict[str, int] = {}
        self._cuts: dict[str, Shown] = {}
        """The rounds as they are when cut, in the order of rank."""
        self._near = shared_with(question)
        self._beside = beside
        self._budget = budget
        self._left = budget.tokens
        self._portions = portions
        self._kept_for_replies = round(budget.tokens * (1 - portions.cut_rounds))

    @property
    def spent(self) -> int:
        """Tokens that are no longer left."""
        return self._budget.tokens - self._left

    def place(self, passage: Passage, rank: int) -> None:
        """Put in a passage: whole if it has several rounds, else its round, cut unless it is one of
        the best."""
        if len(passage.around) > 1 and self._take([self.whole(r) for r in passage.around]):
            return
        record = passage.found
        if rank < self._portions.whole_rounds and self._take([self.whole(record)]):
            return
        if self._take_cut(record, keep=self._kept_for_replies):
            return
        if not self.shown:
            self._take([self._squeezed(record)], force=True)

    def widen(self, most: int | None, widest: Callable[[Record], Shown]) -> None:
        """Spend what is left on the replies of the first `most` rounds, or of all for `None`."""
        for id, shown in islice(self.shown.items(), most):
            if shown.is_whole:
                continue
            wide = widest(shown.record)
            left = self._left + self._costs[id]
            # Counting tokens is most of the work: it is left out for replies that cannot fit.
            if _may_fit([wide], left) and (cost := self._budget.round_cost(wide)) <= left:
                self._left = left - cost
                self._costs[id] = cost
                self.shown[id] = wide

    def fill(self, passage: Passage) -> None:
        """Put in a round that did not fit before."""
        if self._portions.begun_replies is None and self._take([self.begun(passage.found)]):
            return
        self._take_cut(passage.found)

    def _take_cut(self, record: Record, *, keep: int = 0) -> bool:
        # Looking for the nearest sentences is most of the work: skip it if the round cannot fit.
        said = Shown(record, record.round.user_text[:_BEGINNING], "")
        return _may_fit([said], self._left - keep) and self._take([self._cut(record)], keep=keep)

    def _take(self, rounds: Sequence[Shown], *, keep: int = 0, force: bool = False) -> bool:
        new = [shown for shown in rounds if shown.record.id not in self.shown]
        if not force and not _may_fit(new, self._left - keep):
            return False
        days = {shown.heading: shown for shown in new}
        headings = [shown for heading, shown in days.items() if heading not in self._headings]
        costs = {shown.record.id: self._budget.round_cost(shown) for shown in new}
        size = sum(costs.values()) + sum(map(self._budget.heading_cost, headings))
        if size > self._left - keep and not force:
            return False
        self._left -= size
        self._costs |= costs
        self._headings |= set(days)
        self.shown |= {shown.record.id: shown for shown in new}
        return True

    def whole(self, record: Record) -> Shown:
        """A round with all that was said."""
        return Shown(
            record, record.round.user_text, record.round.assistant_text, self._beside(record)
        )

    def begun(self, record: Record) -> Shown:
        """A round whose reply is cut as a long message is."""
        cut = self._cut(record)
        return replace(cut, assistant_text=self._cut_long(record.round.assistant_text))

    def _cut(self, record: Record) -> Shown:
        if record.id not in self._cuts:
            whole = self.whole(record)
            is_near = len(self._cuts) < self._portions.cut_replies
            self._cuts[record.id] = replace(
                whole,
                user_text=self._cut_long(whole.user_text),
                assistant_text=self._nearest(whole.assistant_text) if is_near else "",
            )
        return self._cuts[record.id]

    def _cut_long(self, text: str) -> str:
        if len(text) <= _LONG:
            return text
        beginning = text[:_BEGINNING].rsplit(" ", 1)[0]
        return f"{beginning} {self._nearest(text[len(beginning) :].lstrip()) or CUT}"

    def _nearest(self, text: str) -> str:
        """The sentences of a long text that are nearest to the question; empty where none of them
        shares a word with it."""
        if len(text) <= _CUT_REPLY:
            return text
        kept = excerpt(text, self._near, _CUT_REPLY, leads=False)
        return kept if self._near(kept) else ""

    def _squeezed(self, record: Record) -> Shown:
        limit = self._budget.tokens * _CHARACTERS_PER_TOKEN // 2
        return replace(
            self._cut(record), user_text=excerpt(record.round.user_text, self._near, limit)
        )


def _may_fit(rounds: Sequence[Shown], tokens: int) -> bool:
    """Whether the texts may fit, so that counting their tokens is worthwhile. No tokenizer joins
    words, and a word with the space after it has at least two characters."""
    texts = [text for shown in rounds for text in (shown.user_text, shown.assistant_text)]
    if sum(map(len, texts)) < 2 * tokens:
        return True
    return sum(len(text.split()) for text in texts) <= tokens


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


class Apart(Protocol):
    """Something that is shown apart from the rounds, such as what is pinned."""

    @property
    def entry(self) -> dict[str, Any]:
        """The entry that is shown."""


_Apart = TypeVar("_Apart", bound=Apart)


def fitting(apart: Sequence[_Apart], budget: int, count: TokenCounter) -> list[_Apart]:
    """The first entries, as many as fit the budget."""
    kept: list[_Apart] = []
    for one in apart:
        budget -= count(fenced_json(one.entry))
        if budget < 0:
            break
        kept.append(one)
    return kept


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
