"""Judges, which compare answers with references. Every judge has an identity, and a method that
turns an answered question into a verdict.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from harness.records.digest import QuestionDigest
from harness.spending import Meter

Decision = Literal["yes", "no"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's decision with its raw reason; `verdict` is None when the judge's reply was
    unreadable.

    `certainty` is how sure the judge is, 0.5 to 1, None where it cannot say. `details` are further
    fields of the verdict's line: the prompt that was used, and the calls and tokens spent.
    """

    verdict: Decision | None
    raw: str
    certainty: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


class Judge(Protocol):
    """Decides whether hypotheses are right.

    `id` names the kind and version; `hash` changes whenever the rules do (12 hex digits). Verdicts
    of judges that differ in either are not comparable.
    """

    @property
    def id(self) -> str:
        """Name and version."""

    @property
    def hash(self) -> str:
        """Fingerprint of the rules."""

    @property
    def account(self) -> Mapping[str, Any]:
        """Further facts for a run's manifest: model, address, hashes of prompts."""

    @property
    def meter(self) -> Meter | None:
        """The meter that pays for the judge's model; None for a judge without a model."""

    def prompts(self, question: QuestionDigest, hypothesis: str) -> list[int]:
        """The length in characters of every prompt that a verdict may need; [] without a model."""

    async def judge(self, question: QuestionDigest, hypothesis: str) -> Verdict:
        """Compare one hypothesis with the question's answer."""

    async def close(self) -> None:
        """Close the judge's connections."""
