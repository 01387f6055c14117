"""The comparison of two or more runs as plain data (the contents of `compare.json`), and the files
made of it: JSON, Markdown, HTML.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.comparison.coverage import CoveredQuestion, coverage_difference
from harness.comparison.judge_noise import judge_noise
from harness.comparison.paired import paired_accuracy, paired_figures, paired_figures_by_type, right
from harness.comparison.plans import COMPARE_JSON, comparison_outcome
from harness.comparison.runs import (
    ComparedRun,
    cautions,
    require_comparable,
    set_up_differences,
)
from harness.comparison.tables import comparison_tables, remarks
from harness.records.digest import QuestionDigest
from harness.records.plan import KeptPlan
from harness.records.run_dir import RunDir, outcome_of
from harness.report.table import markdown_page, render_page
from harness.statistics.intervals import FEW_CLUSTERS, repeats_table
from harness.statistics.paired_tests import holm


def build_comparison(
    runs: Sequence[ComparedRun], *, anyway: bool = False, plan: KeptPlan | None = None
) -> dict[str, Any]:
    """Compare the first run with every other run, over the questions that all of them selected.
    With a plan, also say whether the plan was followed and its hypothesis held.

    Raises `RunMismatch` for runs whose figures mean different things, unless `anyway`.
    """
    problems = require_comparable(runs, anyway=anyway)
    questions = common_questions(runs)
    comparisons = [_against(runs[0], run, questions) for run in runs[1:]]
    _correct(comparisons)
    histories = len({question.history_id for question in questions})
    return {
        "runs": [_account(run) for run in runs],
        "problems": problems,
        "cautions": cautions(runs),
        "set_up_differences": set_up_differences(runs),
        "questions": {
            "common": len(questions),
            "histories": histories,
            "few_histories": histories < min(FEW_CLUSTERS, len(questions)),
            "left_out": _left_out(runs, questions),
        },
        "comparisons": comparisons,
        "repeats": _repeats(runs, questions),
        "plan": comparison_outcome(plan, runs, comparisons, len(questions)) if plan else None,
    }


def common_questions(runs: Sequence[ComparedRun]) -> list[QuestionDigest]:
    others = [{q.question_id for q in run.lines.questions} for run in runs[1:]]
    return [q for q in runs[0].lines.questions if all(q.question_id in ids for ids in others)]


def _left_out(runs: Sequence[ComparedRun], questions: Sequence[QuestionDigest]) -> dict[str, int]:
    common = {q.question_id for q in questions}
    return {run.name: sum(q.question_id not in common for q in run.lines.questions) for run in runs}


def _against(
    first: ComparedRun, second: ComparedRun, questions: Sequence[QuestionDigest]
) -> dict[str, Any]:
    judged = first.is_judged and second.is_judged
    return {
        "first": first.name,
        "second": second.name,
        "accuracy": paired_accuracy(first, second, questions) if judged else None,
        "without_faulty": _without_faulty(first, second, questions) if judged else None,
        "judge_noise": judge_noise(first, second, questions) if judged else None,
        "coverage": coverage_difference(first, second, questions),
        "figures": paired_figures(first, second, questions),
        "figures_by_type": paired_figures_by_type(first, second, questions),
    }


def _without_faulty(
    first: ComparedRun, second: ComparedRun, questions: Sequence[QuestionDigest]
) -> dict[str, Any] | None:
    """The accuracies without the questions whose reference a dossier of either run calls faulty;
    None where it calls none faulty."""
    faulty = first.lines.faulty.keys() | second.lines.faulty.keys()
    sound = [q for q in questions if q.question_id not in faulty]
    if len(sound) == len(questions):
        return None
    return paired_accuracy(first, second, sound)


def _correct(comparisons: Sequence[dict[str, Any]]) -> None:
    """Add Holm's p-values, since several runs against one base are several tests."""
    tested = [item["accuracy"] for item in comparisons if item["accuracy"]]
    for accuracy, p in zip(tested, holm([item["p"] for item in tested]), strict=True):
        accuracy["p_holm"] = p


def _account(run: ComparedRun) -> dict[str, Any]:
    report = run.report
    accuracy = report["accuracy"]
    return {
        "name": run.name,
        "dataset": report["data"],
        "judge": run.manifest["judge"],
        "mode": report["mode"],
        "assistant": report["assistant"],
        **{name: report[name] for name in ("n", "missing", "unscored", "failed")},
        "accuracy": accuracy["overall"] if accuracy else None,
        "controls": accuracy["controls"] if accuracy else None,
        "guesses": accuracy["guesses"] if accuracy else None,
        "diagnosis": report["conduct"]["diagnosis"],
        **{name: report[name] for name in ("tokens", "cost", "latency", "looking", "wall_seconds")},
    }


def _repeats(
    runs: Sequence[ComparedRun], questions: Sequence[QuestionDigest]
) -> list[dict[str, Any]]:
    """The spread of each group of repeats: judged runs with the same set-up."""
    groups: list[list[ComparedRun]] = []
    for run in runs:
        if not run.is_judged:
            continue
        alike = (group for group in groups if not set_up_differences([group[0], run]))
        group = next(alike, None)
        if group is None:
            groups.append([run])
        else:
            group.append(run)
    return [
        {"names": [run.name for run in group], **repeats_table(_outcomes(group, questions))}
        for group in groups
        if len(group) > 1
    ]


def _outcomes(
    group: Sequence[ComparedRun], questions: Sequence[QuestionDigest]
) -> list[list[bool]]:
    return [[right(outcome_of(q, run.lines)) for q in questions] for run in group]


_MARKS = {"lost": "wrong", "gained": "right", "both": "unscored"}
# Tables whose questions the page shows in full.
_IN_FULL = ("Flips", "Evidence that only one had")


COMPARE_MARKDOWN = "compare.md"
COMPARE_HTML = "compare.html"


@dataclass(frozen=True, slots=True)
class Flip:
    """A question whose verdict, or evidence, differs between two runs: lost, gained or both."""

    question_id: str
    question: str
    kind: str
    mark: str
    facts: Mapping[str, str]


def write_comparison(out: Path, comparison: Mapping[str, Any], runs: Sequence[ComparedRun]) -> None:
    folder = RunDir(out)
    folder.create()
    title = "Comparison: " + ", ".join(run.name for run in runs)
    page = markdown_page(title, remarks(comparison), comparison_tables(comparison))
    folder.replace(COMPARE_JSON, json.dumps(comparison, ensure_ascii=False, indent=2) + "\n")
    folder.replace(COMPARE_MARKDOWN, page)
    folder.replace(COMPARE_HTML, render_comparison(comparison, runs))


def render_comparison(comparison: Mapping[str, Any], runs: Sequence[ComparedRun]) -> str:
    flips = [
        {
            "title": f"Flips from {runs[0].name} to {run.name}",
            "flips": list(_flips(item["accuracy"], runs[0], run)),
        }
        for item, run in zip(comparison["comparisons"], runs[1:], strict=True)
        if item["accuracy"]
    ]
    flips += [
        {
            "title": f"Evidence that only one had, {run.name} against {runs[0].name}",
            "flips": [_covered(one, runs[0], run) for one in item["coverage"]["questions"]],
        }
        for item, run in zip(comparison["comparisons"], runs[1:], strict=True)
        if item["coverage"]["n"]
    ]
    return render_page(
        "comparison.html",
        package="harness.comparison",
        title="Comparison: " + " · ".join(run.name for run in runs),
        facts={"questions": str(comparison["questions"]["common"]), "base": runs[0].name},
        remarks=remarks(comparison),
        tables=[t for t in comparison_tables(comparison) if not t.title.startswith(_IN_FULL)],
        flips=flips,
    )


def _flips(accuracy: Mapping[str, Any], first: ComparedRun, second: ComparedRun) -> Iterator[Flip]:
    by_id = {question.question_id: question for question in first.lines.questions}
    for kind in ("lost", "gained"):
        for key in accuracy[kind]:
            question = by_id[key]
            facts = {"type": question.question_type, "reference": question.answer}
            for run in (first, second):
                line = run.lines.hypotheses.get(key)
                facts[run.name] = line["hypothesis"] if line else "no answer"
            yield Flip(key, question.question, kind, _MARKS[kind], facts)


def _covered(one: CoveredQuestion, first: ComparedRun, second: ComparedRun) -> Flip:
    """A question with the evidence that only one of the runs had."""
    key = one["question_id"]
    asked = next(q.question for q in first.lines.questions if q.question_id == key)
    lost = [e["text"] for e in one["evidence"] if e["first"] and not e["second"]]
    gained = [e["text"] for e in one["evidence"] if e["second"] and not e["first"]]
    facts = {
        "type": one["question_type"],
        f"only in {first.name}": " · ".join(lost) or "–",
        f"only in {second.name}": " · ".join(gained) or "–",
        "verdicts": " → ".join(one["outcomes"]),
    }
    return Flip(key, asked, one["kind"], _MARKS[one["kind"]], facts)
