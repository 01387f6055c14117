"""A judge without a model: a few measured features and a logistic threshold.

It follows the benchmark's rubrics as far as words can carry them: containment for facts, off-by-one
for temporal counts, use of what is known of the person for preferences, recognition of the gap for
abstention. The coefficients lie beside this module with how they were fitted;
docs/benchmark.md says how often it agrees with model judges.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal, NamedTuple

from harness.datasets.questions import LOCOMO_PLUS_RELATIONS
from harness.judges.base import Verdict
from harness.judges.lexical.code_outline import code_outline
from harness.judges.lexical.features import (
    Features,
    abstention_features,
    fact_features,
    preference_features,
)
from harness.records.digest import QuestionDigest

Family = Literal["fact", "preference", "abstention"]
WEIGHTS = "weights.json"
# Hashes of rules that were only written anew, each with the one their verdicts are known by.
REWRITTEN = "rewritten.json"
_NO_RULE = "the lexical judge has no rule for rubrics and kept constraints: choose another --judge"
_FOLDER = "harness.judges.lexical"
_FEATURES = {
    "fact": fact_features,
    "preference": preference_features,
    "abstention": abstention_features,
}


class Decided(NamedTuple):
    """A decision, how sure it is (0.5 to 1), and its reason in words."""

    passed: bool
    certainty: float
    reason: str


@dataclass(frozen=True, slots=True)
class Weights:
    """The fitted numbers: for each family of questions an intercept and a weight per feature.

    An answer whose `off_topic` exceeds the family's veto fails whatever else it says.
    """

    veto_off_topic: Mapping[str, float]
    families: Mapping[str, Mapping[str, float]]

    def probability(self, family: str, features: Features) -> float:
        """How likely a model judge is to pass an answer with these features."""
        if features["off_topic"] > self.veto_off_topic[family]:
            return 0.0
        weights = self.families[family]
        score = weights["intercept"] + sum(weights[name] * x for name, x in features.items())
        return 1 / (1 + math.exp(-score))


class LexicalJudge:
    """Needs no key and no network, and decides the same way every time."""

    id = "lexical-2"
    account: Mapping[str, Any] = {"kind": "lexical"}
    meter = None

    def __init__(self, weights: Weights | None = None) -> None:
        self._weights = weights or shipped_weights()
        self.hash = rules_hash()

    def prompts(self, question: QuestionDigest, hypothesis: str) -> list[int]:
        """None."""
        return []

    async def judge(self, question: QuestionDigest, hypothesis: str) -> Verdict:
        """Apply the rule of the question's family; what has none is left unscored."""
        if question.rubric or question.question_type in LOCOMO_PLUS_RELATIONS:
            return Verdict(None, _NO_RULE)
        decided = decide(question, hypothesis, self._weights)
        verdict: Literal["yes", "no"] = "yes" if decided.passed else "no"
        return Verdict(verdict, decided.reason, certainty=round(decided.certainty, 3))

    async def close(self) -> None:
        """Nothing is open."""


def decide(question: QuestionDigest, hypothesis: str, weights: Weights | None = None) -> Decided:
    """Whether the hypothesis passes."""
    if not hypothesis.strip():
        return Decided(False, 1.0, "empty answer")
    weights = weights or shipped_weights()
    family = family_of(question)
    features = features_of(question, hypothesis)
    likely = weights.probability(family, features)
    said = ", ".join(f"{name} {value:.2f}" for name, value in features.items())
    reason = f"{family}: {likely:.2f} likely right ({said})"
    return Decided(likely > 0.5, max(likely, 1 - likely), reason)


def family_of(question: QuestionDigest) -> Family:
    """Which rule a question falls under."""
    if question.is_abstention:
        return "abstention"
    return "preference" if question.question_type == "single-session-preference" else "fact"


def features_of(question: QuestionDigest, hypothesis: str) -> Features:
    """The features of the question's family, each from 0 to 1."""
    return _FEATURES[family_of(question)](question, hypothesis)


@cache
def shipped_weights() -> Weights:
    """The coefficients that come with the package."""
    text = (resources.files(_FOLDER) / WEIGHTS).read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return Weights(data["veto_off_topic"], data["families"])


@cache
def rules_hash() -> str:
    """Twelve hexadecimal digits over the rules, however they are written down, and their
    coefficients.
    """
    folder = resources.files(_FOLDER)
    modules = sorted(path.name for path in folder.iterdir() if path.name.endswith(".py"))
    rules = [code_outline((folder / name).read_text(encoding="utf-8")) for name in modules]
    weights = json.loads((folder / WEIGHTS).read_text(encoding="utf-8"))
    text = json.dumps([rules, weights], sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    rewritten: dict[str, str] = json.loads((folder / REWRITTEN).read_text(encoding="utf-8"))
    return rewritten.get(digest, digest)
