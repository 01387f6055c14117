"""A laboratory that starts nothing, for what is written of its cells."""

from pathlib import Path

from rich.console import Console

from harness.datasets.selection import Filters, QuestionSource
from harness.judges.lexical import LexicalJudge
from harness.lab.experiments.experiment import Laboratory


def laboratory_in(out: Path, data: Path | None = None) -> Laboratory:
    source = QuestionSource("longmemeval", data, Filters())
    return Laboratory(out, source, Console(quiet=True), LexicalJudge())
