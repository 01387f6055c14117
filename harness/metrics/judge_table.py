"""How far a run's judge can be trusted: controls, which are answers whose right verdict is known
beforehand, and a second judge. Also the tokens that judging took, and means of rubric scores.

A judge that passes wrong or empty answers makes every accuracy too high; a judge that fails the
reference itself makes it too low.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

from harness.datasets.questions import DESCRIBED_TYPES
from harness.datasets.selection import by_type
from harness.judges.lexical.words import content_words
from harness.records.digest import QuestionDigest
from harness.records.schema import ControlLine, JudgeRecord, VerdictLine
from harness.statistics.intervals import Mean, Share, mean_of, proportion
from harness.statistics.paired_tests import Bounded, agreement_of

Kind = Literal["reference", "known_wrong", "swapped", "empty", "dont_know"]
KINDS: tuple[Kind, ...] = ("reference", "known_wrong", "swapped", "empty", "dont_know")
DONT_KNOW = "I don't know."


@dataclass(frozen=True, slots=True)
class Control:
    """A made-up hypothesis for one question; `donor` is the question that its text comes from."""

    question: QuestionDigest
    kind: Kind
    hypothesis: str
    donor: str | None = None


def draw_controls(
    questions: Sequence[QuestionDigest], hypotheses: Mapping[str, str], *, sample: int, seed: int
) -> list[Control]:
    """The controls of a seeded sample of questions; kinds that do not fit a question are left out.

    `reference`: the reference itself (left out for preferences and other types whose reference only
    describes an answer). `known_wrong`: the reference of another question. `swapped`: the
    hypothesis given to another question. Donor questions have the same type where possible, and
    their reference shares no word or number with the question's, so the answer is certainly wrong.
    `empty`: the empty text. `dont_know`: a refusal of an answerable question.
    """
    chosen = random.Random(f"{seed}:controls").sample(list(questions), min(sample, len(questions)))
    return [
        control
        for question in chosen
        for control in _controls_of(question, questions, hypotheses, seed)
    ]


def unlike(question: QuestionDigest, other: QuestionDigest) -> bool:
    """Whether an answer to the other question is certainly wrong for this question."""
    mine = {word for answer in question.answers for word in content_words(answer)}
    theirs = {word for answer in other.answers for word in content_words(answer)}
    return question.question_id != other.question_id and mine.isdisjoint(theirs)


def _controls_of(
    question: QuestionDigest,
    questions: Sequence[QuestionDigest],
    hypotheses: Mapping[str, str],
    seed: int,
) -> list[Control]:
    draw = random.Random(f"{seed}:{question.question_id}")
    donors = [other for other in questions if not other.is_abstention and unlike(question, other)]
    answered = [other for other in donors if hypotheses.get(other.question_id, "").strip()]
    controls = [Control(question, "empty", "")]
    if question.question_type not in DESCRIBED_TYPES:
        controls.append(Control(question, "reference", question.answer))
    if donor := _draw(question, donors, draw):
        controls.append(Control(question, "known_wrong", donor.answer, donor.question_id))
    if question.is_abstention:
        return controls
    controls.append(Control(question, "dont_know", DONT_KNOW))
    if donor := _draw(question, answered, draw):
        given = hypotheses[donor.question_id]
        controls.append(Control(question, "swapped", given, donor.question_id))
    return controls


def _draw(
    question: QuestionDigest, donors: Sequence[QuestionDigest], draw: random.Random
) -> QuestionDigest | None:
    alike = [donor for donor in donors if donor.question_type == question.question_type]
    return draw.choice(alike or donors) if donors else None


class Accepted(Share):
    unscored: int


class SecondJudge(TypedDict):
    judge: str
    judge_hash: str
    n: int
    agreement: Share
    kappa: Bounded
    second_passes: Share
    only_first_passes: list[str]
    only_second_passes: list[str]


class JudgeTokens(TypedDict):
    calls: int
    prompt_tokens: int
    completion_tokens: int


def controls_table(lines: Sequence[ControlLine]) -> dict[str, Accepted] | None:
    """The share of each kind of control that passes, among those with a readable verdict; None
    where none were judged.

    Only `reference` should pass.
    """
    if not lines:
        return None
    return {
        kind: _accepted([line for line in lines if line["control"] == kind])
        for kind in KINDS
        if any(line["control"] == kind for line in lines)
    }


def second_judge_table(
    judge: JudgeRecord | None,
    first: Mapping[str, VerdictLine],
    second: Mapping[str, VerdictLine],
) -> SecondJudge | None:
    """Both judges' verdicts compared, over the questions that both could judge; None where there is
    no second judge."""
    if judge is None:
        return None
    pairs = {
        key: (first[key]["verdict"], line["verdict"])
        for key, line in second.items()
        if key in first and None not in (first[key]["verdict"], line["verdict"])
    }
    said = list(pairs.values())
    return {
        "judge": judge["id"],
        "judge_hash": judge["hash"],
        "n": len(said),
        "agreement": proportion(sum(a == b for a, b in said), len(said)),
        "kappa": agreement_of(*_passed(said), list(pairs))["kappa"],
        "second_passes": proportion(sum(b == "yes" for _, b in said), len(said)),
        "only_first_passes": sorted(k for k, pair in pairs.items() if pair == ("yes", "no")),
        "only_second_passes": sorted(k for k, pair in pairs.items() if pair == ("no", "yes")),
    }


def _passed(pairs: Sequence[tuple[str | None, str | None]]) -> tuple[list[bool], list[bool]]:
    return [a == "yes" for a, _ in pairs], [b == "yes" for _, b in pairs]


def judge_tokens(lines: Iterable[VerdictLine]) -> JudgeTokens:
    """Calls and tokens of judging, as the model's server counted them; cached replies count too."""
    kept = list(lines)
    return {
        "calls": sum(line.get("calls", 0) for line in kept),
        "prompt_tokens": sum(line.get("prompt_tokens", 0) for line in kept),
        "completion_tokens": sum(line.get("completion_tokens", 0) for line in kept),
    }


def _accepted(lines: Sequence[ControlLine]) -> Accepted:
    scored = [line for line in lines if line["verdict"] is not None]
    passed = sum(line["verdict"] == "yes" for line in scored)
    return {**proportion(passed, len(scored)), "unscored": len(lines) - len(scored)}


Scorer = Literal["fractional", "official"]
SCORERS: tuple[Scorer, ...] = ("fractional", "official")
Scored = dict[str, Mean]


class RubricTable(TypedDict):
    """Mean scores. `averaged` is the mean over types, as papers print it; `scored` leaves out the
    questions without scores."""

    overall: Scored
    averaged: Scored
    by_type: dict[str, Scored]
    scored: Scored
    without_scores: int


def rubric_table(
    questions: Sequence[QuestionDigest], verdicts: Mapping[str, VerdictLine]
) -> RubricTable | None:
    """The mean scores of a run. A question without scores (missing or unscored) counts 0 everywhere
    but in `scored`. None where no verdict has scores.
    """
    known = {key: line["rubric"] for key, line in verdicts.items() if "rubric" in line}
    if not known:
        return None

    def means(members: Sequence[QuestionDigest]) -> Scored:
        lines = [known.get(q.question_id) for q in members]
        return {name: mean_of(line[name] if line else 0.0 for line in lines) for name in SCORERS}

    kinds = {kind: means(members) for kind, members in by_type(questions).items()}
    present = [q for q in questions if q.question_id in known]
    return {
        "overall": means(questions),
        "averaged": {
            name: mean_of(cells[name]["value"] or 0.0 for cells in kinds.values())
            for name in SCORERS
        },
        "by_type": kinds,
        "scored": means(present),
        "without_scores": len(questions) - len(present),
    }
