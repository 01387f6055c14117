"""What every judge is: an identity, and a way from an answered question to a verdict."""

from dataclasses import dataclass
from typing import Literal, Protocol

from harness.digest import QuestionDigest

Decision = Literal["yes", "no"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's decision with its raw reason; `verdict` is None when the judge's reply was
    unreadable.
    """

    verdict: Decision | None
    raw: str


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

    async def judge(self, question: QuestionDigest, hypothesis: str) -> Verdict:
        """Compare one hypothesis with the question's answer."""
