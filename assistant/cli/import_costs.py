"""What an import that is sent in pieces will cost altogether, and whether it may."""

from collections.abc import Mapping, Sequence
from typing import Any

from assistant.errors import AssistantError

_Costs = Mapping[str, Any]


def total_costs(pieces: Sequence[_Costs]) -> dict[str, Any]:
    """The costs of all pieces; no dollars where those of one are not known."""
    told: dict[str, Any] = {
        name: sum(piece[name] for piece in pieces) for name in ("calls", "tokens", "minutes")
    }
    dollars = [piece["dollars"] for piece in pieces]
    return told | {"dollars": None if None in dollars else sum(dollars)}


def check_costs(pieces: Sequence[_Costs], tokens: int | None, dollars: float | None) -> None:
    """Raise `AssistantError` for what would cost more than it may."""
    costs = total_costs(pieces)
    if tokens is not None and costs["tokens"] > tokens:
        raise _too_dear(f"{costs['tokens']} tokens")
    if dollars is not None and costs["dollars"] is None:
        raise _too_dear("an unknown price: give --most-tokens, or set models.prices")
    if dollars is not None and costs["dollars"] > dollars:
        raise _too_dear(f"${costs['dollars']:.2f}")


def _too_dear(what: str) -> AssistantError:
    return AssistantError(f"nothing was imported: it is expected to cost {what}")


def costs_line(costs: _Costs) -> str:
    """The costs as a line of their own; empty where no language model is asked."""
    if not costs["tokens"]:
        return ""
    dollars = costs["dollars"]
    money = "at an unknown price" if dollars is None else f"about ${dollars:.2f}"
    return (
        f"\nexpected: {costs['tokens']:,} tokens in {costs['calls']} calls, {money}, "
        f"{costs['minutes']:.0f} minutes"
    )
