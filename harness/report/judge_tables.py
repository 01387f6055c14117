"""Tables about the judge itself: what it lets pass, and where a second one disagrees. Pure."""

from collections.abc import Mapping
from typing import Any

from harness.report.table import Table, percent

CONTROL_NAMES = {
    "reference": "the reference itself (should pass)",
    "known_wrong": "another question's reference",
    "swapped": "an answer to another question",
    "empty": "nothing",
    "dont_know": "“I don't know.”",
}


def judge_tables(report: Mapping[str, Any]) -> list[Table]:
    """Controls and second judge, as far as there are any."""
    accuracy = report["accuracy"] or {}
    tables = []
    if accuracy.get("controls"):
        tables.append(_controls(accuracy["judge"], accuracy["controls"]))
    if accuracy.get("second_judge"):
        tables.append(_second(accuracy["second_judge"]))
    return tables


def known_wrong_note(accuracy: Mapping[str, Any]) -> str:
    """What to say beside an accuracy of answers that its judge should not have passed."""
    cell = (accuracy.get("controls") or {}).get("known_wrong")
    if not cell or not cell["n"]:
        return ""
    return f" Of {cell['n']} answers known to be wrong the judge passes {percent(cell['value'])} %."


def _controls(judge: str, controls: Mapping[str, Any]) -> Table:
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


def _second(second: Mapping[str, Any]) -> Table:
    rows = [
        ("agrees", percent(second["agreement"]["value"]), str(second["n"])),
        ("passes by the second", percent(second["second_passes"]["value"]), str(second["n"])),
        ("only the first passes", "", str(len(second["only_first_passes"]))),
        ("only the second passes", "", str(len(second["only_second_passes"]))),
    ]
    note = f"Second judge {second['judge']}, over the questions that both could judge."
    return Table("A second judge, %", ("verdicts", "share", "n"), rows, note)
