"""The harness on its sample, where the assistant answers and the judge judges by the model."""

import json
import subprocess
from pathlib import Path

from commands import BIN, Server
from real_model import NAME, RealModel

SECONDS = 900
QUESTIONS = 1


def _options(more: dict[str, object], assistant: Server) -> list[str]:
    options = {
        "dataset": "sample",
        "limit": QUESTIONS,
        "assistant": assistant.url,
        "timeout": 600,
        "judge-api-key": "none",
        "controls": 0,
        **more,
    }
    return [text for name, value in options.items() for text in (f"--{name}", str(value))]


def test_a_run_with_a_real_judge_ends_in_a_report(
    assistant: Server, model: RealModel, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    judge = f"longmemeval={NAME.partition('/')[2]}@{model.url}/v1"
    run = subprocess.run(
        [BIN / "harness", "run", *_options({"out": out, "judge": judge}, assistant)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    report = json.loads((out / "report.json").read_text())
    # A verdict that cannot be read is unscored, and never counted as wrong.
    assert (report["n"], report["missing"]) == (QUESTIONS, 0)
    assert 0 <= report["unscored"] <= QUESTIONS
    answers = [json.loads(line) for line in (out / "hypotheses.jsonl").read_text().splitlines()]
    assert len(answers) == QUESTIONS
    assert all(one["hypothesis"].strip() for one in answers)
