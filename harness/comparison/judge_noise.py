"""Two judgements of the same answers of two runs: how far they agree, and whether the difference
between the runs holds by both.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypedDict

from harness.comparison.paired import paired_accuracy
from harness.comparison.runs import ComparedRun
from harness.records.digest import QuestionDigest
from harness.report.accuracy_tables import kappa_text
from harness.report.table import Columns, Table, bounds, p_value, percent, points, table_of
from harness.statistics.paired_tests import Agreement, agreement_of


class JudgeNoise(TypedDict):
    """`is_again` says that the same judge was asked twice. `flips` counts the questions whose
    verdicts differ between the runs: by the judge, by the second judge, and alike by both.
    """

    judge: str
    is_again: bool
    agreement: Agreement
    by_judge: dict[str, Any]
    by_second: dict[str, Any]
    flips: dict[str, int]


def judge_noise(
    first: ComparedRun, second: ComparedRun, questions: Sequence[QuestionDigest]
) -> JudgeNoise | None:
    """Both judgements of two runs compared; None unless the same second judge judged both runs."""
    judges = [run.manifest.get("second_judge") for run in (first, second)]
    ours, theirs = judges
    if not ours or not theirs or (ours["id"], ours["hash"]) != (theirs["id"], theirs["hash"]):
        return None
    judge = first.manifest["judge"]
    by_judge = paired_accuracy(first, second, questions)
    by_second = paired_accuracy(_judged_again(first), _judged_again(second), questions)
    return {
        "judge": ours["id"],
        "is_again": judge is not None and judge["hash"] == ours["hash"],
        "agreement": _agreement((first, second), questions),
        "by_judge": _told(by_judge),
        "by_second": _told(by_second),
        "flips": {
            "judge": len(_flips(by_judge)),
            "second": len(_flips(by_second)),
            "both": len(_flips(by_judge) & _flips(by_second)),
        },
    }


def _judged_again(run: ComparedRun) -> ComparedRun:
    return replace(run, lines=replace(run.lines, verdicts=run.lines.second_verdicts))


def _agreement(runs: Sequence[ComparedRun], questions: Sequence[QuestionDigest]) -> Agreement:
    """The judgements' agreement over the runs' answers that have a verdict by both."""
    pairs = [
        (question.question_id, verdicts)
        for run in runs
        for question in questions
        if None not in (verdicts := _verdicts(run, question.question_id))
    ]
    first, second = ([verdicts[side] == "yes" for _, verdicts in pairs] for side in (0, 1))
    return agreement_of(first, second, [question_id for question_id, _ in pairs])


def _verdicts(run: ComparedRun, question_id: str) -> tuple[str | None, str | None]:
    first = run.lines.verdicts.get(question_id)
    second = run.lines.second_verdicts.get(question_id)
    return first and first["verdict"], second and second["verdict"]


def _told(accuracy: Mapping[str, Any]) -> dict[str, Any]:
    return {name: accuracy[name] for name in ("n", "first", "second", "pairs", "difference", "p")}


def _flips(accuracy: Mapping[str, Any]) -> set[tuple[str, str]]:
    return {(kind, key) for kind in ("lost", "gained") for key in accuracy[kind]}


_COLUMNS: Columns = {
    "verdicts": lambda row: row["name"],
    "base": lambda row: percent(row["first"]["value"]),
    "run": lambda row: percent(row["second"]["value"]),
    "difference": lambda row: points(row["difference"]["value"]),
    "bootstrap 95 %": lambda row: bounds(row["difference"]),
    "p (McNemar)": lambda row: p_value(row["p"]),
    "n": lambda row: str(row["n"]),
}


def noise_table(item: Mapping[str, Any]) -> Table:
    found: JudgeNoise | None = item["judge_noise"]
    title = f"Judged twice, {item['second']} against {item['first']}, % and points"
    if found is None:
        return Table(title, tuple(_COLUMNS))
    agreement, flips = found["agreement"], found["flips"]
    note = (
        f"{found['judge']} judged the same answers{' again' if found['is_again'] else ''}: "
        f"{percent(agreement['agreement']['value'])} % of {agreement['n']} verdicts agree, kappa "
        f"{kappa_text(agreement['kappa'])}. {flips['judge']} questions flip by the judge, "
        f"{flips['second']} by the second, {flips['both']} by both. "
        "A difference that does not stand by both is the judge's."
    )
    rows = [{"name": "the judge", **found["by_judge"]}, {"name": "second", **found["by_second"]}]
    return table_of(title, rows, _COLUMNS, note)
