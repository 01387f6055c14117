"""The paired statistics of two runs over the same questions, as plain data."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from harness.comparison.runs import ComparedRun
from harness.datasets.selection import by_type
from harness.metrics.official_scores import scores_by_question
from harness.metrics.retrieval_metrics import (
    CONTEXT_BUDGETS,
    fits_context,
    round_figures,
    session_figures,
    tells_context,
    tells_rounds,
)
from harness.metrics.retrieval_table import turn_figures
from harness.records.digest import QuestionDigest
from harness.records.run_dir import Outcome, outcome_of
from harness.records.schema import RankedLine
from harness.statistics.intervals import bootstrap_mean, proportion
from harness.statistics.paired_tests import (
    Pairs,
    exact_mcnemar,
    holm,
    questions_needed,
    smallest_difference,
)

Values = dict[str, float]
_SESSION = (
    *("recall_all@5", "recall_all@10", "recall_any@5", "recall_fraction@5", "recall_fraction@10"),
    *("ndcg@5[standard]", "ndcg@10[standard]"),
)
_ROUND = (
    *("recall_all@5", "recall_all@10", "recall_fraction@5", "recall_fraction@10"),
    *("ndcg@5[standard]", "ndcg@10[standard]"),
)
_TURN = ("recall_fraction@5", "recall_fraction@10", "recall_all@10")

_BY_TYPE = (
    *("recall_all@5", "recall_all@10", "round.recall_all@10", "turn.recall_all@10"),
    "evidence_in_prompt",
)


def question_figures(run: ComparedRun) -> dict[str, Values]:
    """Each figure's values by question id, over the questions that its report counts.

    A missing answer scores 0 in the official metrics.
    """
    figures = _retrieval_figures(run)
    prompts = run.lines.prompts.items()
    figures["evidence_in_prompt"] = {
        key: float(all(turn["found"] for turn in line["evidence_turns"]))
        for key, line in prompts
        if line["evidence_turns"]
    }
    figures |= _official_figures(run)
    return {name: values for name, values in figures.items() if values}


def _retrieval_figures(run: ComparedRun) -> dict[str, Values]:
    figures: dict[str, Values] = {}

    def add(question: QuestionDigest, prefix: str, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            figures.setdefault(f"{prefix}{name}", {})[question.question_id] = value

    for question in run.lines.questions:
        line = run.lines.retrieval.get(question.question_id)
        if line is None:
            continue
        for prefix, measure in _LEVELS.items():
            add(question, prefix, measure(question, line))
    return figures


def _session(question: QuestionDigest, line: RankedLine) -> Values:
    if question.is_abstention or not question.evidence_session_ids:
        return {}
    figures = _only(_SESSION, session_figures(question, line))
    if tells_context(line):
        for budget in CONTEXT_BUDGETS:
            figures[f"evidence_in_context@{budget}"] = float(fits_context(question, line, budget))
    return figures


def _round(question: QuestionDigest, line: RankedLine) -> Values:
    if question.is_abstention or not question.evidence_rounds or not tells_rounds(line):
        return {}
    return _only(_ROUND, round_figures(question, line))


def _turn(question: QuestionDigest, line: RankedLine) -> Values:
    if not question.evidence_turn_ids or not tells_rounds(line):
        return {}
    return _only(_TURN, turn_figures(question, line))


_LEVELS: dict[str, Callable[[QuestionDigest, RankedLine], Values]] = {
    "": _session,
    "round.": _round,
    "turn.": _turn,
}


def _official_figures(run: ComparedRun) -> dict[str, Values]:
    if not run.lines.hypotheses:
        return {}
    scores = scores_by_question(run.report["dataset"], run.lines.questions, run.lines.hypotheses)
    names = {name for values in scores.values() for name in values}
    return {
        name: {
            question.question_id: scores.get(question.question_id, {}).get(name, 0.0)
            for question in run.lines.questions
        }
        for name in sorted(names)
    }


def _only(names: tuple[str, ...], figures: Mapping[str, float]) -> Values:
    return {name: figures[name] for name in names}


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
    crossed = {name: _crossed(members, outcomes) for name, members in by_type(scored).items()}
    _correct(crossed.values())
    overall = _crossed(scored, outcomes)
    return {
        **overall,
        "unscored": [q.question_id for q in questions if "unscored" in outcomes[q.question_id]],
        "missing": [
            sum(outcomes[q.question_id][side] == "missing" for q in scored) for side in (0, 1)
        ],
        "by_type": crossed,
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
    return {
        name: paired_figure(ours[name], theirs[name], questions) for name in ours if name in theirs
    }


def paired_figures_by_type(
    first: ComparedRun, second: ComparedRun, questions: Questions
) -> dict[str, dict[str, dict[str, Any]]]:
    """The chief retrieval figures by type of question; `p_holm` is the p-value corrected over the
    types.
    """
    ours, theirs = question_figures(first), question_figures(second)
    found = {}
    for name in (name for name in _BY_TYPE if name in ours and name in theirs):
        counted = [q for q in questions if q.question_id in ours[name]]
        cells = {
            kind: paired_figure(ours[name], theirs[name], members)
            for kind, members in by_type(counted).items()
        }
        _correct(cells.values())
        found[name] = cells
    return found


def _correct(cells: Collection[dict[str, Any]]) -> None:
    tested = [cell for cell in cells if cell["p"] is not None]
    for cell, p in zip(tested, holm([cell["p"] for cell in tested]), strict=True):
        cell["p_holm"] = p


def right(outcome: Outcome) -> bool:
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
    """The second run's mean less the first's, with bootstrap bounds drawn by history; bounds are
    None where nothing varies."""
    changes = [float(b) - float(a) for a, b in zip(first, second, strict=True)]
    histories = [q.history_id for q in questions]
    low, high = bootstrap_mean(changes, histories) or (None, None)
    return {
        "value": sum(changes) / len(changes) if changes else None,
        "low": low,
        "high": high,
        "clusters": len(set(histories)),
    }


def paired_figure(
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
