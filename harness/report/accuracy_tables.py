"""Accuracy as rows of text: right answers, the official definitions, and the judge itself."""

from collections.abc import Mapping, Sequence

from harness.metrics.accuracy import AccuracyCell
from harness.metrics.guessing import Guesses
from harness.metrics.judge_table import Accepted, SecondJudge
from harness.report.schema import JudgedAccuracy, Report
from harness.report.table import Table, percent
from harness.statistics.intervals import FEW_CLUSTERS
from harness.statistics.paired_tests import Bounded

# The most questions that a note names.
_NAMED = 10
CONTROL_NAMES = {
    "reference": "the reference itself (should pass)",
    "known_wrong": "another question's reference",
    "swapped": "an answer to another question",
    "empty": "nothing",
    "dont_know": "“I don't know.”",
}


def accuracy_tables(report: Report) -> list[Table]:
    return [_accuracy(report, report["accuracy"])] if report["accuracy"] else []


def _accuracy(report: Report, accuracy: JudgedAccuracy) -> Table:
    named = [("overall", accuracy["overall"])]
    named += sorted(accuracy["by_type"].items())
    if "abstention" not in accuracy["by_type"]:
        named.append(("abstention", accuracy["abstention"]))
    named.append(("answerable", accuracy["answerable"]))
    shared = "clustered" in accuracy["overall"]
    rows = [_accuracy_row(name, cell, shared=shared) for name, cell in named if cell["n"]]
    average = accuracy["task_averaged"]
    blank = ("", "") if shared else ("",)
    rows.insert(1, ("task-averaged", percent(average["value"]), *blank, f"{average['n']} types"))
    note = (
        f"Judge {accuracy['judge']}. Every selected question counts: {report['missing']} missing "
        f"count as wrong, {report['unscored']} unscored are not counted as right."
        + known_wrong_note(accuracy)
        + guess_note(accuracy["guesses"])
        + _texts_note(accuracy["judge_texts"])
        + (f" {caution}." if (caution := accuracy["judge_caution"]) else "")
    )
    if shared:
        note += _clusters_note(accuracy["overall"]["clustered"]["clusters"])
    by_history = ("by conversation 95 %",) if shared else ()
    header = ("questions", "right", "Wilson 95 %", *by_history, "n")
    return Table("Accuracy, %", header, rows, note)


def _accuracy_row(name: str, cell: AccuracyCell, *, shared: bool) -> tuple[str, ...]:
    clustered = cell.get("clustered")
    bounds: list[tuple[float | None, float | None]] = [(cell["low"], cell["high"])]
    if shared:
        bounds.append((clustered["low"], clustered["high"]) if clustered else (None, None))
    intervals = ("–" if low is None else f"{percent(low)}–{percent(high)}" for low, high in bounds)
    return (name, percent(cell["value"]), *intervals, str(cell["n"]))


def _clusters_note(clusters: int) -> str:
    said = f" Questions share {clusters} conversations, which the bounds by conversation draw whole"
    if clusters < FEW_CLUSTERS:
        return said + "; with so few of them even those are too narrow."
    return said + "."


def judge_tables(report: Report) -> list[Table]:
    """The tables of the controls and of the second judge, where the run has them."""
    accuracy, tables = report["accuracy"], []
    if accuracy and accuracy["controls"]:
        tables.append(_controls(accuracy["judge"], accuracy["controls"]))
    if accuracy and accuracy["second_judge"]:
        is_again = accuracy["second_judge"]["judge_hash"] == accuracy["judge_hash"]
        tables.append(_second(accuracy["second_judge"], is_again=is_again))
    return tables


def known_wrong_note(accuracy: JudgedAccuracy) -> str:
    """A note beside an accuracy: how many answers known to be wrong its judge passes."""
    cell = (accuracy["controls"] or {}).get("known_wrong")
    if not cell or not cell["n"]:
        return ""
    return f" Of {cell['n']} answers known to be wrong the judge passes {percent(cell['value'])} %."


def guess_note(guesses: Guesses | None) -> str:
    """A note beside an accuracy of questions with options: the accuracy of guessing."""
    if not guesses:
        return ""
    longest, any_option = guesses["longest_option"], guesses["any_option"]
    return (
        f" Without any memory, the longest of the options is right in {percent(longest['value'])} "
        f"% of {longest['n']} questions, one drawn by lot in {percent(any_option['value'])} %."
    )


def _texts_note(texts: Mapping[str, str] | None) -> str:
    if not texts:
        return ""
    named = ", ".join(f"{file} ({text_hash})" for file, text_hash in texts.items())
    return f" The judge's prompts were given in files: {named}."


def _controls(judge: str, controls: Mapping[str, Accepted]) -> Table:
    rows = [
        (
            CONTROL_NAMES[kind],
            percent(cell["value"]),
            f"{percent(cell['low'])}–{percent(cell['high'])}",
            str(cell["n"]),
            str(cell["unscored"]),
        )
        for kind, cell in controls.items()
    ]
    note = (
        f"Made-up answers to a sample of the questions, judged by {judge} like the rest. Whatever "
        "passes beyond the first row, the accuracy may be too high by as much."
    )
    header = ("control", "passes", "Wilson 95 %", "n", "unscored")
    return Table("What the judge lets pass, %", header, rows, note)


def _second(second: SecondJudge, *, is_again: bool) -> Table:
    rows = [
        ("agrees", percent(second["agreement"]["value"]), str(second["n"])),
        ("kappa", kappa_text(second["kappa"]), str(second["n"])),
        ("passes by the second", percent(second["second_passes"]["value"]), str(second["n"])),
        ("only the first passes", "", str(len(second["only_first_passes"]))),
        ("only the second passes", "", str(len(second["only_second_passes"]))),
    ]
    note = f"Second judge {second['judge']}, over the questions that both could judge."
    if is_again:
        note += " It is the same judge, asked again: what does not agree is its noise."
    return Table("A second judge, %", ("verdicts", "share", "n"), rows, note)


def kappa_text(kappa: Bounded) -> str:
    """Kappa, from −1 to 1, with its bounds."""
    if kappa["value"] is None:
        return "–"
    said = f"{kappa['value']:.2f}"
    if kappa["low"] is not None and kappa["high"] is not None:
        said += f" ({kappa['low']:.2f} to {kappa['high']:.2f})"
    return said.replace("-", "−")


def official_accuracy_table(report: Report) -> list[Table]:
    """The table of LongMemEval's accuracies by its own definitions; [] for other data."""
    official = report["accuracy"] and report["accuracy"]["official"]
    if not official:
        return []
    named = [("overall", official["overall"]), *official["by_type"].items()]
    named.append(("abstention", official["abstention"]))
    rows = [(name, percent(cell["value"]), str(cell["n"])) for name, cell in named if cell["n"]]
    average = official["task_averaged"]
    value = "NaN" if average["value"] is None else percent(average["value"])
    rows.insert(1, ("task-averaged", value, f"{average['n']} types"))
    note = (
        f"Over the answers that are there: {len(official['skipped'])} questions without one are "
        f"not counted{_named(official['skipped'])}. Any reply with a yes in it is right; a type "
        "without answers makes the average NaN. For setting beside published figures only if the "
        "judge is the official one."
    )
    header = ("official-compatible", "right", "n")
    return [Table("Accuracy by the official definitions, %", header, rows, note, is_detail=True)]


def _named(ids: Sequence[str]) -> str:
    if not ids:
        return ""
    more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
    return f" ({', '.join(ids[:_NAMED])}{more})"


def metric_tables(report: Report) -> list[Table]:
    """The table of F1 and BLEU by the benchmark's own definitions; [] where it has none."""
    table = report["official_metrics"]
    if not table:
        return []
    scopes = [(f"all, {table['missing']} missing count 0", table["overall"])]
    scopes += [("answerable", table["answerable"]), *table["by_type"].items()]
    scopes.append(("official: answers that are there", table["present"]))
    names = list(table["overall"])
    rows = [
        (scope, *(percent(cells[name]["value"]) for name in names), str(cells[names[0]]["n"]))
        for scope, cells in scopes
    ]
    note = "Words compared with words, no judge; adversarial questions want a refusal in set words."
    title = f"Official metrics of {table['metric']}, %"
    return [Table(title, ("questions", *names, "n"), rows, note if "f1" in names else "")]
