"""How a question is read: the choices of the reading point as one value."""

from dataclasses import dataclass
from enum import StrEnum

# A round with a cut reply, its date and its share of computed help; measured (docs/reading.md).
_TOKENS_A_ROUND = 160
_LEAST_ROUNDS = 20


class Mode(StrEnum):
    """How the model comes to its answer."""

    DIRECT = "direct"
    """One call; the answer at once."""
    CHAIN_OF_NOTE = "chain-of-note"
    """One call; notes first, then the answer."""
    CHAIN_OF_NOTE_SEPARATE = "chain-of-note-separate"
    """One call for each round that notes what it contributes, then one that answers from them."""


class Layout(StrEnum):
    """How recalled rounds are written down."""

    JSON = "json"
    TEXT = "text"


class Unit(StrEnum):
    """What is delivered of a round that was found."""

    ROUND = "round"
    """The round itself; long replies are cut where the budget is short."""
    WINDOW = "window"
    """The round with its neighbours in the session."""
    SESSION = "session"
    """The session it stands in."""


@dataclass(frozen=True, slots=True)
class ReadingPlan:
    """One way to read. `context_tokens` bounds everything that comes from memory."""

    mode: Mode = Mode.CHAIN_OF_NOTE
    layout: Layout = Layout.JSON
    unit: Unit = Unit.ROUND
    context_tokens: int = 8000
    computed_help: bool = True
    """Whether computed help and the profile come along."""

    @property
    def most_rounds(self) -> int:
        """Rounds worth recalling: as many as the tokens can show with their replies cut."""
        return max(_LEAST_ROUNDS, self.context_tokens // _TOKENS_A_ROUND)
