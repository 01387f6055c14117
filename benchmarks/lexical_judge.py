"""The lexical judge against model judges: `python -m benchmarks.lexical_judge [--fit]`.

Cross-validates over questions: each question's answers are judged with coefficients fitted without
any answer to that question. `--fit` then fits on everything and writes the coefficients that the
package ships. Needs a LongMemEval file and answers to its questions that model judges labelled,
one JSON object a line: question_id, hypothesis, label, judge_model, dup.
"""

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import cohen_kappa_score
from sklearn.model_selection import GroupKFold

from harness.datasets.longmemeval import load_longmemeval
from harness.datasets.questions import digest_of
from harness.judges.lexical.judge import (
    WEIGHTS,
    Family,
    Features,
    FeatureWeights,
    family_of,
    features_of,
)
from harness.metrics.judge_table import unlike
from harness.records.digest import QuestionDigest

FAMILIES: tuple[Family, ...] = ("fact", "preference", "abstention")
FOLDS = 10
DONORS = 6
# All controls together weigh a tenth as much as the labelled answers.
CONTROLS_SHARE = 0.1
VETO_OFF_TOPIC = {"fact": 0.8, "preference": 0.7, "abstention": 0.8}
REGULARISATION = 1.0
CONTROL = "control: "


@dataclass(frozen=True, slots=True)
class Row:
    """One answer with the verdict it should get; `source` is the judge that gave it, or the kind
    of control.
    """

    question: QuestionDigest
    hypothesis: str
    label: bool
    source: str
    features: Features

    @property
    def is_control(self) -> bool:
        return self.source.startswith(CONTROL)

    @property
    def kind(self) -> str:
        return "abstention" if self.question.is_abstention else self.question.question_type


def read_rows(data: Path, answers: Path) -> list[Row]:
    """Labelled answers without repeats, in file order, and controls made of them."""
    digests = {item.question_id: digest_of(item) for item in load_longmemeval(data)}
    lines = [json.loads(line) for line in answers.read_text(encoding="utf-8").splitlines()]
    labelled = [
        _row(digests[line["question_id"]], line["hypothesis"], line["label"], line["judge_model"])
        for line in lines
        if not line["dup"] and line["question_id"] in digests
    ]
    return labelled + controls(list(digests.values()), labelled)


def controls(questions: Sequence[QuestionDigest], labelled: Sequence[Row]) -> list[Row]:
    """Answers known to be wrong: references of, and hypotheses for, other questions."""
    given: dict[str, list[str]] = defaultdict(list)
    for row in labelled:
        given[row.question.question_id].append(row.hypothesis)
    rows = []
    for question in questions:
        draw = random.Random(question.question_id)
        others = [q for q in questions if not q.is_abstention and unlike(question, q)]
        same = [q for q in others if q.question_type == question.question_type]
        for name, pool in (("same type", same), ("any type", others)):
            for donor in draw.sample(pool, min(DONORS, len(pool))):
                rows.append(_row(question, donor.answer, False, f"{CONTROL}reference, {name}"))
                said = draw.choice(given[donor.question_id])
                rows.append(_row(question, said, False, f"{CONTROL}hypothesis, {name}"))
        rows.append(_row(question, " ", False, f"{CONTROL}empty"))
    return rows


def fit(rows: Sequence[Row]) -> FeatureWeights:
    """Coefficients for each family of questions."""
    labelled = sum(not row.is_control for row in rows)
    share = CONTROLS_SHARE * labelled / max(1, len(rows) - labelled)
    return FeatureWeights(
        VETO_OFF_TOPIC,
        {family: _fit([r for r in rows if _is(r, family)], share) for family in FAMILIES},
    )


def cross_validated(rows: Sequence[Row]) -> list[bool]:
    """The judge's decision on each row, with coefficients fitted without the row's question."""
    said = [False] * len(rows)
    groups = [row.question.question_id for row in rows]
    for train, test in GroupKFold(FOLDS, shuffle=True, random_state=0).split(rows, groups=groups):
        weights = fit([rows[i] for i in train])
        for i in test:
            said[i] = passes(rows[i], weights)
    return said


def passes(row: Row, weights: FeatureWeights) -> bool:
    """The judge's decision by given coefficients."""
    if not row.hypothesis.strip():
        return False
    return weights.probability(family_of(row.question), row.features) > 0.5


def agreement(rows: Sequence[Row], said: Sequence[bool]) -> dict[str, Any]:
    """How often two judges agree, also beyond chance (kappa), and how often each passes alone."""
    labels = [row.label for row in rows]
    pairs = list(zip(said, labels, strict=True))
    one_sided = len({*said, *labels}) < 2
    return {
        "n": len(rows),
        "agreement": sum(a == b for a, b in pairs) / len(rows),
        "kappa": None if one_sided else float(cohen_kappa_score(said, labels)),
        "passes_wrong": sum(a and not b for a, b in pairs),
        "fails_right": sum(b and not a for a, b in pairs),
    }


def cells(rows: Sequence[Row], said: Sequence[bool]) -> dict[str, dict[str, Any]]:
    """Agreement overall, by judge and by type, and the share of each control that passes."""

    def cell(wanted: Callable[[Row], bool]) -> dict[str, Any]:
        chosen = [i for i, row in enumerate(rows) if wanted(row)]
        return agreement([rows[i] for i in chosen], [said[i] for i in chosen])

    labelled = [row for row in rows if not row.is_control]
    table = {"all": cell(lambda row: not row.is_control)}
    for source in _distinct(row.source for row in rows):
        table[source] = cell(lambda row, source=source: row.source == source)  # type: ignore[misc]
    for kind in sorted(_distinct(row.kind for row in labelled)):
        table[kind] = cell(lambda row, kind=kind: not row.is_control and row.kind == kind)  # type: ignore[misc]
    return table


def main() -> None:
    """Print the cross-validated table; with `--fit` write the shipped coefficients too."""
    parser = argparse.ArgumentParser(prog="benchmarks.lexical_judge")
    parser.add_argument("--file", type=Path, required=True)
    parser.add_argument("--answers", type=Path, required=True)
    parser.add_argument("--fit", action="store_true")
    arguments = parser.parse_args()
    rows = read_rows(arguments.file, arguments.answers)
    _print(cells(rows, cross_validated(rows)))
    if arguments.fit:
        _ship(rows, fit(rows))


def _row(question: QuestionDigest, hypothesis: str, label: bool, source: str) -> Row:
    return Row(question, hypothesis, label, source, features_of(question, hypothesis))


def _is(row: Row, family: Family) -> bool:
    return family_of(row.question) == family and bool(row.hypothesis.strip())


def _fit(rows: Sequence[Row], control_weight: float) -> dict[str, float]:
    names = list(rows[0].features)
    x = np.array([[row.features[name] for name in names] for row in rows])
    y = [row.label for row in rows]
    weights = [control_weight if row.is_control else 1.0 for row in rows]
    model = LogisticRegression(C=REGULARISATION, max_iter=1000).fit(x, y, sample_weight=weights)
    fitted = dict(zip(names, model.coef_[0], strict=True))
    return {"intercept": float(model.intercept_[0])} | {k: float(v) for k, v in fitted.items()}


def _ship(rows: Sequence[Row], weights: FeatureWeights) -> None:
    labelled = sum(not row.is_control for row in rows)
    text = {
        "fitted_by": "python -m benchmarks.lexical_judge --fit",
        "fitted_on": f"{labelled} answers to {len({r.question.question_id for r in rows})} "
        f"LongMemEval questions, labelled by model judges, and {len(rows) - labelled} controls",
        "veto_off_topic": weights.veto_off_topic,
        "families": {
            family: {name: round(value, 3) for name, value in fitted.items()}
            for family, fitted in weights.families.items()
        },
    }
    path = Path(__file__).parents[1] / "harness/judges/lexical" / WEIGHTS
    path.write_text(json.dumps(text, indent=2) + "\n", encoding="utf-8")
    Console().print(f"coefficients: {path}")


def _print(table: dict[str, dict[str, Any]]) -> None:
    shown = Table("answers", "n", "agreement", "kappa", "passes wrong", "fails right")
    for name, cell in table.items():
        kappa = "–" if cell["kappa"] is None else f"{cell['kappa']:.3f}"
        errors = (str(cell["passes_wrong"]), str(cell["fails_right"]))
        shown.add_row(name, str(cell["n"]), f"{cell['agreement']:.3f}", kappa, *errors)
    Console(width=120).print(shown)


def _distinct(items: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(items))


if __name__ == "__main__":
    main()
