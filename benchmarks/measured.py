"""One comparison: our figure beside a baseline's, and their ratio."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Measured:
    """`more_is_better` says which way the ratio counts; a ratio above 1 is always in our favour."""

    what: str
    unit: str
    ours: float
    baseline: float
    against: str
    more_is_better: bool
    details: Mapping[str, float] = field(default_factory=dict)
    """Everything else that was measured on the way."""

    @property
    def ratio(self) -> float:
        """How many times better ours is."""
        return self.ours / self.baseline if self.more_is_better else self.baseline / self.ours

    @property
    def verdict(self) -> str:
        """The ratio in words."""
        return f"{self.ratio:.1f}×"

    def to_json(self) -> dict[str, Any]:
        """All fields and the ratio."""
        return asdict(self) | {"ratio": self.ratio}
