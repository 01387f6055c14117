"""What language models were asked and what it took, by role, since the start."""

from dataclasses import asdict, dataclass
from typing import Any

from assistant.models.chat_model import TokenCounts


@dataclass(slots=True)
class RoleCounts:
    """The counts of one role. Every request to the provider is a call, a repeated one too.

    `cost` is in US dollars, of the calls whose price is known; `unpriced` counts the others, and
    `uncounted` those for which the provider told no tokens (failed or abandoned ones among them).
    """

    calls: int = 0
    failed: int = 0
    repaired: int = 0
    from_cache: int = 0
    uncounted: int = 0
    unpriced: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    last_call: str = "none yet"
    """How the last call ended: `ok`, or the code of its error."""

    def count(self, tokens: TokenCounts | None) -> None:
        """Add what one call took; None where the provider did not say."""
        self.calls += 1
        if tokens is None:
            self.uncounted += 1
            return
        self.prompt_tokens += tokens.prompt
        self.completion_tokens += tokens.completion
        if tokens.cost is None:
            self.unpriced += 1
        else:
            self.cost += tokens.cost


class UsageCounts:
    """The counts of all roles."""

    def __init__(self) -> None:
        self.by_role: dict[str, RoleCounts] = {}

    def of(self, role: str) -> RoleCounts:
        """The counts of a role, to be added to."""
        return self.by_role.setdefault(role, RoleCounts())

    def totals(self) -> RoleCounts:
        """The counts of all roles together."""
        totals = RoleCounts()
        for name in ("calls", "failed", "from_cache"):
            setattr(totals, name, sum(getattr(usage, name) for usage in self.by_role.values()))
        return totals

    def body(self) -> dict[str, dict[str, Any]]:
        """The counts as JSON."""
        return {
            role: _counts(usage) | {"cost": round(usage.cost, 6)}
            for role, usage in self.by_role.items()
        }


def _counts(usage: RoleCounts) -> dict[str, Any]:
    return {name: value for name, value in asdict(usage).items() if name != "last_call"}
