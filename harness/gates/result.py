"""What a gate found."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GateResult:
    """Whether a run passes the gate of this name, with the figures that say so."""

    name: str
    passed: bool
    said: str

    def __str__(self) -> str:
        return f"{'passed' if self.passed else 'FAILED'}: {self.said}"
