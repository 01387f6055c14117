"""Answers whose verdict is known beforehand, to see what a run's judge lets pass.

A judge that passes wrong or empty answers flatters every accuracy that it gives; one that fails the
reference itself belittles them.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from harness.datasets.questions import DESCRIBED_TYPES
from harness.judges.lexical.words import content_words
from harness.records.digest import QuestionDigest

Kind = Literal["reference", "known_wrong", "swapped", "empty", "dont_know"]
KINDS: tuple[Kind, ...] = ("reference", "known_wrong", "swapped", "empty", "dont_know")
DONT_KNOW = "I don't know."


@dataclass(frozen=True, slots=True)
class Control:
    """One hypothesis made up for one question; `donor` is the question it was taken from."""

    question: QuestionDigest
    kind: Kind
    hypothesis: str
    donor: str | None = None


def draw_controls(
    questions: Sequence[QuestionDigest], hypotheses: Mapping[str, str], *, sample: int, seed: int
) -> list[Control]:
    """The controls of a seeded sample of questions; kinds that do not fit a question are left out.

    `reference`: the reference itself (not of preferences and the like, whose reference describes an
    answer). `known_wrong`: the reference of another question. `swapped`: the hypothesis given to
    another question. Donors are of the same type where possible, and their reference shares no word
    or number with the question's, so that the answer is wrong for certain. `empty`: nothing.
    `dont_know`: a refusal of an answerable question.
    """
    chosen = random.Random(f"{seed}:controls").sample(list(questions), min(sample, len(questions)))
    return [
        control
        for question in chosen
        for control in _controls_of(question, questions, hypotheses, seed)
    ]


def unlike(question: QuestionDigest, other: QuestionDigest) -> bool:
    """Whether an answer to the other question is wrong for this one for certain."""
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
