"""The paired statistics of two runs over the same questions, as plain data."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from harness.comparison.figures import question_figures
from harness.comparison.runs import ComparedRun
from harness.records.digest import QuestionDigest
from harness.records.lines import Outcome, outcome_of
from harness.statistics.intervals import bootstrap_mean, proportion
from harness.statistics.paired_tests import (
    Pairs,
    exact_mcnemar,
    holm,
    questions_needed,
    smallest_difference,
)

Questions = Sequence[QuestionDigest]
SEEN_DIFFERENCE = 0.02


def paired_accuracy(
    first: ComparedRun, second: ComparedRun, questions: Questions
) -> dict[str, Any]:
    """Accuracy of two judged runs over these questions.

    A missing answer is wrong; a question that either judge could not read is left out of all
    counts and listed in `unscored`. The p-values of the types are Holm's.
    """
    outcomes = {
        q.question_id: (outcome_of(q, first.lines), outcome_of(q, second.lines)) for q in questions
    }
    scored = [q for q in questions if "unscored" not in outcomes[q.question_id]]
    types = sorted({q.question_type for q in scored})
    by_type = {
        name: _crossed([q for q in scored if q.question_type == name], outcomes) for name in types
    }
    for cell, p in zip(by_type.values(), holm([c["p"] for c in by_type.values()]), strict=True):
        cell["p_holm"] = p
    overall = _crossed(scored, outcomes)
    return {
        **overall,
        "unscored": [q.question_id for q in questions if "unscored" in outcomes[q.question_id]],
        "missing": [
            sum(outcomes[q.question_id][side] == "missing" for q in scored) for side in (0, 1)
        ],
        "by_type": by_type,
        "lost": _flips(scored, outcomes, (True, False)),
        "gained": _flips(scored, outcomes, (False, True)),
        "power": _power(overall),
    }


def paired_figures(
    first: ComparedRun, second: ComparedRun, questions: Questions
) -> dict[str, dict[str, Any]]:
    """Every per-question figure that both runs have, over these questions.

    `p` is the exact McNemar test's where a figure is yes or no for each question, else None.
    """
    ours, theirs = question_figures(first), question_figures(second)
    return {name: _figure(ours[name], theirs[name], questions) for name in ours if name in theirs}


def right(outcome: Outcome) -> bool:
    """Whether an outcome counts as right."""
    return outcome == "yes"


def _crossed(
    questions: Questions, outcomes: Mapping[str, tuple[Outcome, Outcome]]
) -> dict[str, Any]:
    first = [right(outcomes[q.question_id][0]) for q in questions]
    second = [right(outcomes[q.question_id][1]) for q in questions]
    pairs = Pairs.of(first, second)
    return {
        "n": pairs.n,
        "first": proportion(sum(first), pairs.n),
        "second": proportion(sum(second), pairs.n),
        "pairs": asdict(pairs),
        "difference": _difference(first, second, questions),
        "p": exact_mcnemar(pairs),
    }


def _difference(
    first: Sequence[float], second: Sequence[float], questions: Questions
) -> dict[str, Any]:
    """Second less first with its bootstrap bounds, drawn by history; None where nothing varies."""
    changes = [float(b) - float(a) for a, b in zip(first, second, strict=True)]
    histories = [q.history_id for q in questions]
    low, high = bootstrap_mean(changes, histories) or (None, None)
    return {
        "value": sum(changes) / len(changes) if changes else None,
        "low": low,
        "high": high,
        "clusters": len(set(histories)),
    }


def _figure(
    first: Mapping[str, float], second: Mapping[str, float], questions: Questions
) -> dict[str, Any]:
    shared = [q for q in questions if q.question_id in first and q.question_id in second]
    was = [first[q.question_id] for q in shared]
    now = [second[q.question_id] for q in shared]
    n = len(shared)
    is_binary = set(was) | set(now) <= {0.0, 1.0}
    pairs = Pairs.of([v == 1 for v in was], [v == 1 for v in now])
    return {
        "n": n,
        "first": sum(was) / n if n else None,
        "second": sum(now) / n if n else None,
        "difference": _difference(was, now, shared),
        "p": exact_mcnemar(pairs) if is_binary else None,
    }


def _flips(
    questions: Questions,
    outcomes: Mapping[str, tuple[Outcome, Outcome]],
    pair: tuple[bool, bool],
) -> list[str]:
    return [q.question_id for q in questions if tuple(map(right, outcomes[q.question_id])) == pair]


def _power(overall: Mapping[str, Any]) -> dict[str, Any]:
    n, pairs = overall["n"], overall["pairs"]
    discordance = (pairs["only_first"] + pairs["only_second"]) / n if n else 0.0
    return {
        "discordance": discordance,
        "difference": SEEN_DIFFERENCE,
        "questions_needed": questions_needed(SEEN_DIFFERENCE, discordance),
        "smallest_difference": smallest_difference(n, discordance),
    }
