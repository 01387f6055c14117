"""What a gate found."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GateResult:
    """Whether a run passes one gate, with the figures that say so."""

    passed: bool
    said: str

    def __str__(self) -> str:
        return f"{'passed' if self.passed else 'FAILED'}: {self.said}"
