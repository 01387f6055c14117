"""How histories are to be made."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from harness.errors import UsageError

UNIFORM = "uniform"
Dates = Literal["kept", "paper"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """So many sessions each, or about so many tokens; the seed of every draw; whether a question's
    own fillers stay, and how many days before its evidence the history begins at the latest.

    `depth` is the share of the fillers' tokens that comes before the evidence, `uniform` draws one
    for each evidence session, None leaves it to the dates. `dates` are `kept` (the evidence where
    it was) or follow the rules of the `paper` for each type of question.
    """

    sessions: int | None = None
    tokens: int | None = None
    seed: int = 0
    keep_fillers: bool = True
    lead_days: int = 30
    depth: float | Literal["uniform"] | None = None
    dates: Dates = "kept"

    @property
    def lead(self) -> timedelta:
        """How long before its evidence the history begins at the latest."""
        return timedelta(days=self.lead_days)

    def __post_init__(self) -> None:
        if (self.sessions is None) == (self.tokens is None):
            raise UsageError("either --sessions or --tokens says how large histories are")

    @property
    def size(self) -> int:
        """The size of a history, in sessions or in tokens."""
        return self.sessions or self.tokens or 0

    @property
    def arranges(self) -> bool:
        """Whether the order of a history is made, and does not follow from dates drawn alone."""
        return self.depth is not None or self.dates == "paper"


def parse_depth(text: str | None) -> float | Literal["uniform"] | None:
    """The value of `--depth`."""
    if text is None or text == UNIFORM:
        return None if text is None else "uniform"
    try:
        depth = float(text)
    except ValueError:
        depth = -1.0
    if not 0 <= depth <= 1:
        raise UsageError(f"--depth {text}: expected a share from 0 to 1, or {UNIFORM}")
    return depth


def parse_dates(text: str) -> Dates:
    """The value of `--dates`."""
    if text == "kept":
        return "kept"
    if text == "paper":
        return "paper"
    raise UsageError(f"--dates {text}: expected kept or paper")
