"""The same frozen answers judged twice: how far the judge agrees with itself, and what of a
comparison stands by both.
"""

import json
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path

import pytest
from benches import Finished
from histories import instance, write_data
from made_runs import JUDGE, made_run
from scripted_judge import ScriptedJudge
from sklearn.metrics import cohen_kappa_score

from harness.comparison.build import build_comparison
from harness.comparison.runs import load_runs
from harness.comparison.tables import comparison_tables
from harness.records.run_dir import SECOND_VERDICTS, VERDICTS

Harness = Callable[..., Finished]
NAMES = [f"q{i}" for i in range(10)]
BASE = dict(zip(NAMES, ["yes", "no"] * 5, strict=True))
RUN = BASE | {"q1": "yes", "q3": "yes"}


def judged_twice(path: Path, verdicts: Mapping[str, str], again: Mapping[str, str]) -> Path:
    run = made_run(path, verdicts, second_judge=JUDGE)
    lines = [{"question_id": k, "verdict": v, "raw": ""} for k, v in again.items()]
    (run / SECOND_VERDICTS).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return run


def test_a_comparison_is_given_by_both_judgements(tmp_path: Path) -> None:
    first = judged_twice(tmp_path / "a", BASE, BASE | {"q0": "no"})
    second = judged_twice(tmp_path / "b", RUN, RUN | {"q3": "no"})
    comparison = build_comparison(load_runs([first, second]))
    noise = comparison["comparisons"][0]["judge_noise"]
    assert noise["is_again"]
    assert noise["by_judge"]["difference"]["value"] == pytest.approx(0.2)
    assert noise["by_second"]["difference"]["value"] == pytest.approx(0.2)
    assert noise["flips"] == {"judge": 2, "second": 2, "both": 1}
    said = [*BASE.values(), *RUN.values()]
    again = [*(BASE | {"q0": "no"}).values(), *(RUN | {"q3": "no"}).values()]
    assert noise["agreement"]["kappa"]["value"] == pytest.approx(cohen_kappa_score(said, again))
    (table,) = (t for t in comparison_tables(comparison) if t.title.startswith("Judged twice"))
    assert "90.0 % of 20 verdicts agree, kappa 0.80" in table.note
    assert "2 questions flip by the judge, 2 by the second, 1 by both" in table.note


def test_a_run_that_was_judged_once_has_no_noise(tmp_path: Path) -> None:
    first = judged_twice(tmp_path / "a", BASE, BASE)
    comparison = build_comparison(load_runs([first, made_run(tmp_path / "b", RUN)]))
    assert comparison["comparisons"][0]["judge_noise"] is None
    assert not any(t.title.startswith("Judged twice") for t in comparison_tables(comparison))


def test_the_same_judge_is_really_asked_again(
    harness: Harness, model: ScriptedJudge, tmp_path: Path
) -> None:
    data = write_data(tmp_path / "data.json", [instance("q1"), instance("q2")])
    said = tmp_path / "said.jsonl"
    lines = [{"question_id": key, "hypothesis": f"A red kayak, {key}."} for key in ("q1", "q2")]
    said.write_text("".join(json.dumps(line) + "\n" for line in lines))
    asked = count()
    model.says = lambda _: "yes" if next(asked) < 3 else "no"
    given = ("--dataset", "longmemeval", "--file", data, "--hypotheses", said, "--controls", "0")
    judges = ("--judge", model.spec, "--second-judge", model.spec, "--judge-concurrency", "1")
    out = tmp_path / "run"
    command = ("judge", *given, *judges, "--out", out)
    ended = harness(*command)
    assert ended.code == 0, ended.err
    assert len(model.sent) == 4
    verdicts = {
        name: [json.loads(line)["verdict"] for line in (out / name).read_text().splitlines()]
        for name in (VERDICTS, SECOND_VERDICTS)
    }
    assert verdicts == {VERDICTS: ["yes", "yes"], SECOND_VERDICTS: ["yes", "no"]}
    accuracy = json.loads((out / "report.json").read_text())["accuracy"]
    assert accuracy["second_judge"]["agreement"]["value"] == 0.5
    assert accuracy["second_judge"]["kappa"]["value"] == 0.0
    assert "asked again" in " ".join(ended.out.split())
    assert harness(*command).code == 0
    assert len(model.sent) == 4
