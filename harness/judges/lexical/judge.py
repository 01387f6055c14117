"""A judge without a model: a few measured features and a logistic threshold.

It follows the benchmark's rubrics as far as words allow: containment for facts, off-by-one for
temporal counts, use of what is known of the person for preferences, recognition of the gap for
abstention. `weights.json` beside this module has the coefficients and says how they were fitted;
benchmarks/LOG.md says how often this judge agrees with model judges.
"""

import ast
import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal, NamedTuple

from harness.datasets.questions import LOCOMO_PLUS_RELATIONS
from harness.judges import Verdict
from harness.judges.lexical.references import Reference, references
from harness.judges.lexical.words import (
    MONTHS,
    content_words,
    declines,
    fold,
    recall,
    sentences,
    tokens,
)
from harness.records.digest import QuestionDigest

_BODIES = (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# Fields without influence on values: `ctx` follows from a name's place, the others are annotations.
_LEFT_OUT = {"ctx", "kind", "type_comment", "type_ignores", "type_params"}


def code_outline(source: str) -> Any:
    """The syntax tree as nested lists; equal for equal code."""
    return _outline(ast.parse(source))


def _outline(node: Any) -> Any:
    if isinstance(node, ast.AST):
        fields = {name: value for name, value in ast.iter_fields(node) if name not in _LEFT_OUT}
        if isinstance(node, _BODIES) and ast.get_docstring(node, clean=False) is not None:
            fields["body"] = fields["body"][1:]
        inner = {name: _outline(value) for name, value in fields.items()}
        return [type(node).__name__, {n: v for n, v in inner.items() if v not in (None, [])}]
    if isinstance(node, list):
        return [_outline(item) for item in node if not _is_own_import(item)]
    return node if isinstance(node, str | int | float | bool | None) else repr(node)


def _is_own_import(node: Any) -> bool:
    return isinstance(node, ast.ImportFrom) and (node.module or "").startswith("harness.")


_SHORT_ANSWER = 240
_ANNOUNCED_SENTENCES = 6
_ANNOUNCED = re.compile(
    r"\bfinal answer\b\W*|\banswer\W*:\W*|\b(?:in conclusion\b|conclusion\W*:)\W*"
    r"|\btherefore\b\W*|\bthus\b\W*"
    r"|\bconclude[ds]?(?: that)?\b\W*|(?:^|(?<=[.\n]))\s*(?:so|hence|overall)\b\W*",
    re.IGNORECASE,
)
_PREFACE = re.compile(
    r"(?:to (?:determine|answer|find|calculate|identify)|let's|let us|i will|here's|here is)\b"
)


def conclusion(hypothesis: str) -> list[str]:
    """The sentences that state the result, the most telling first.

    These are the sentences after the last phrase that announces a result; without such a phrase,
    the first, the last and the bold sentences. A short answer is returned in full.
    """
    parts = [part for part in sentences(hypothesis) if not _PREFACE.match(part.lower())]
    announced = sentences(_announced(hypothesis) or "")[:_ANNOUNCED_SENTENCES]
    if len(hypothesis) <= _SHORT_ANSWER or len(parts) <= 2:
        return list(dict.fromkeys([*announced, *parts])) or [hypothesis]
    if announced:
        return list(dict.fromkeys([*announced, parts[-1]]))
    bold = [part for part in parts[1:-1] if "**" in part and not part.endswith(":**")]
    # A first sentence that only leads to a list says nothing by itself.
    first = [] if parts[0].endswith(":") else parts[:1]
    return list(dict.fromkeys([*first, *parts[-2:], *parts[:2], *bold]))


def _announced(hypothesis: str) -> str | None:
    ends = [match.end() for match in _ANNOUNCED.finditer(hypothesis)]
    tails = (hypothesis[end:].strip() for end in reversed(ends))
    return next((tail for tail in tails if content_words(tail)), None)


Features = dict[str, float]

_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_CONCLUDING = 3
_FEW_WORDS = 5
_MANY_PERSONAL = 3
_HEDGE = re.compile(
    r"\b(?:at least|at most|close to|around|approximately|likely|probably|possibly|might|may have|"
    r"assum|infer|unclear|cannot be sure)"
)
_NOT_WISHED = re.compile(r"\bnot (?:prefer|be interested|appreciate)")
_PERSONAL = re.compile(
    r"\b(?:since|given|based on|considering|building on|as) (?:you|your|that you|the user|our)\b"
    r"|\byou(?:'ve| have)? (?:mentioned|said|told|enjoy|like|love)|\byour (?:interest|love|previous"
    r"|recent|existing|current|experience|background|history)"
)
# Words that questions of any subject share.
_GENERIC = frozenset(
    content_words(
        "many much long often times total number day week month year ago last first recent "
        "current currently name remind previous conversation previously chat wonder wondering tell "
        "recall remember go going look looking back discuss recommend suggest suggestion able want "
        "confirm thing event order happen time think make choose sure plan upcoming get idea feel "
        "bit find lately need help way try"
    )
)
# Words of quoting, dating and declining: an answer made only of them has no substance.
_SPEECH = frozenset(
    content_words(
        "talk talked say said tell told mention mentioned find found know don't doesn't didn't "
        "haven't can't couldn't information conversation conversations chat history memory record "
        "nothing anything not no answer base provide provided previous previously past share "
        "shared detail details specific available ask question sorry unfortunately session "
        "sessions discuss date today yesterday "
        + " ".join([*MONTHS, *(f"{day} {day[:3]}" for day in _WEEKDAYS)])
    )
)
# Words that rubrics of any subject share.
_RUBRIC = frozenset(
    content_words(
        "user would prefer response responses suggestion suggestions recommend recommendation "
        "tailored specifically may might not general generic appreciate such like related focus "
        "build upon take account acknowledge especially particularly considering utilize previous "
        "experience interest interested"
    )
)


def fact_features(question: QuestionDigest, hypothesis: str) -> Features:
    """For answers that state facts.

    `concluded` and `said` grade the agreement with the reference, in the conclusion and anywhere;
    `rival` says that the conclusion names something else in its place; `declines` and `hedges` are
    1 where the conclusion does so; `off_topic` is described at its function.
    """
    tolerant = question.question_type == "temporal-reasoning"
    ends, whole = conclusion(hypothesis), sentences(hypothesis)
    graded = [
        _graded(reference, ends, whole)
        for answer in question.answers
        for reference in references(question.question, answer, tolerant=tolerant)
    ]
    return max(graded, key=lambda features: features["concluded"]) | {
        "declines": float(declines(ends[:_CONCLUDING])),
        "hedges": float(bool(_HEDGE.search(fold(" ".join(ends[:_CONCLUDING]))))),
        "off_topic": off_topic(question, hypothesis),
    }


def _graded(reference: Reference, ends: list[str], whole: list[str]) -> Features:
    concluded, said = reference.match(ends), reference.match(whole)
    if reference.kind == "order" and not concluded.grade and not concluded.rival:
        concluded = said  # An answer may list steps one by one, and not repeat them at its end.
    return {
        "concluded": concluded.grade,
        "said": max(said.grade, concluded.grade),
        "rival": float(concluded.rival),
    }


def abstention_features(question: QuestionDigest, hypothesis: str) -> Features:
    """For questions that the history cannot answer: `declines` says whether the conclusion declines
    to answer, `said` whether any sentence does.
    """
    return {
        "declines": float(declines(conclusion(hypothesis)[:_CONCLUDING])),
        "said": float(declines(sentences(hypothesis))),
        "off_topic": off_topic(question, hypothesis),
    }


def preference_features(question: QuestionDigest, hypothesis: str) -> Features:
    """For answers that should use what is known of the person; the reference is a rubric.

    `off_topic` is the share of the question's and the rubric's own words that the answer lacks;
    `personal` grows with the number of references to what the person is or said.
    """
    rubric = [
        part
        for answer in question.answers
        for part in sentences(answer)
        if not _NOT_WISHED.search(fold(part))
    ]
    wished = set(content_words(" ".join([*rubric, question.question]))) - _RUBRIC - _GENERIC
    personal = len(_PERSONAL.findall(fold(hypothesis)))
    return {
        "personal": min(1.0, personal / _MANY_PERSONAL),
        "off_topic": 1.0 - recall(wished, tokens(hypothesis)),
    }


def off_topic(question: QuestionDigest, hypothesis: str) -> float:
    """The share of the question's words that the answer lacks; 0 for an answer of few own words."""
    topic = set(content_words(question.question)) - _GENERIC
    own = {word for answer in question.answers for word in content_words(answer)}
    said = set(content_words(hypothesis))
    substance = {word for word in said - own - _SPEECH if not word[0].isdigit()}
    if not topic or len(substance) < _FEW_WORDS:
        return 0.0
    return 1.0 - recall(topic, said)


Family = Literal["fact", "preference", "abstention"]
WEIGHTS = "weights.json"
# Hashes of rules whose code was rewritten with the same effect, each with the hash it stands for.
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
class FeatureWeights:
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

    def __init__(self, weights: FeatureWeights | None = None) -> None:
        self._weights = weights or shipped_weights()
        self.hash = rules_hash()

    def prompts(self, question: QuestionDigest, hypothesis: str) -> list[int]:
        return []

    async def judge(self, question: QuestionDigest, hypothesis: str) -> Verdict:
        """Apply the rule of the question's family; a question without a rule is left unscored."""
        if question.rubric or question.question_type in LOCOMO_PLUS_RELATIONS:
            return Verdict(None, _NO_RULE)
        decided = decide(question, hypothesis, self._weights)
        verdict: Literal["yes", "no"] = "yes" if decided.passed else "no"
        return Verdict(verdict, decided.reason, certainty=round(decided.certainty, 3))

    async def close(self) -> None:
        """Nothing is open."""


def decide(
    question: QuestionDigest, hypothesis: str, weights: FeatureWeights | None = None
) -> Decided:
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
def shipped_weights() -> FeatureWeights:
    text = (resources.files(_FOLDER) / WEIGHTS).read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return FeatureWeights(data["veto_off_topic"], data["families"])


@cache
def rules_hash() -> str:
    """A hash of the rules and their coefficients, 12 hexadecimal digits. Comments, docstrings and
    layout do not change it.
    """
    folder = resources.files(_FOLDER)
    modules = sorted(path.name for path in folder.iterdir() if path.name.endswith(".py"))
    rules = [code_outline((folder / name).read_text(encoding="utf-8")) for name in modules]
    weights = json.loads((folder / WEIGHTS).read_text(encoding="utf-8"))
    text = json.dumps([rules, weights], sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    rewritten: dict[str, str] = json.loads((folder / REWRITTEN).read_text(encoding="utf-8"))
    return rewritten.get(digest, digest)
