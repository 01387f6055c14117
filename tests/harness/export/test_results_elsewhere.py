"""Runs exported to Inspect and MLflow, read by the packages themselves where they are there."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benches import Bench, Finished
from histories import instance, write_data

Harness = Callable[..., Finished]
IDS = ["q1", "q2", "q3_abs"]


@pytest.fixture
def finished(bench: Bench, tmp_path: Path) -> Bench:
    """A run over HTTP and judged, one of whose answers is gone, as after an interruption."""
    bench.data_file = write_data(tmp_path / "data.json", [instance(name) for name in IDS])
    bench.replay()
    path = bench.out / "hypotheses.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if '"q2"' not in line))
    bench.report()
    return bench


@pytest.fixture
def log(finished: Bench, harness: Harness, tmp_path: Path) -> Path:
    out = tmp_path / "run.json"
    ended = harness("export", finished.out, "--format", "inspect", "--out", out)
    assert (ended.code, ended.out) == (0, f"3 records: {out}\n")
    return out


def test_an_inspect_log_holds_every_question_with_its_verdict(log: Path, finished: Bench) -> None:
    written = json.loads(log.read_text())
    report = json.loads((finished.out / "report.json").read_text())
    assert (written["version"], written["status"]) == (2, "cancelled")
    assert [sample["id"] for sample in written["samples"]] == IDS
    by_id = {sample["id"]: sample for sample in written["samples"]}
    verdicts = {
        line["question_id"]: {"yes": "C", "no": "I"}[line["verdict"]]
        for line in map(json.loads, (finished.out / "verdicts.jsonl").read_text().splitlines())
    }
    judge = report["accuracy"]["judge"]
    assert {key: by_id[key]["scores"][judge]["value"] for key in verdicts} == verdicts
    assert by_id["q2"]["scores"][judge] == {
        "value": "I",
        "answer": None,
        "explanation": "no answer",
    }
    assert "output" not in by_id["q2"]
    assert by_id["q1"]["scores"]["retrieval"]["value"]["recall_all@5"] == 1.0
    scores = {score["name"]: score["metrics"] for score in written["results"]["scores"]}
    assert scores[judge]["accuracy"]["value"] == report["accuracy"]["overall"]["value"]
    assert scores["recall_all@5"]["recall_all@5"]["value"] == 1.0
    assert written["results"]["completed_samples"] == 2


def test_inspect_reads_it(log: Path) -> None:
    inspect_log: Any = pytest.importorskip("inspect_ai.log")
    read = inspect_log.read_eval_log(str(log))
    assert read.eval.task == "longmemeval"
    assert [sample.id for sample in read.samples] == IDS
    assert read.samples[0].output.completion == read.samples[0].messages[1].text
    assert read.results.scores[0].metrics["accuracy"].params == {"n": 3}
    header = inspect_log.read_eval_log(str(log), header_only=True)
    assert header.results.total_samples == 3


def test_an_inspect_log_has_the_name_that_inspect_looks_for(
    finished: Bench, harness: Harness, tmp_path: Path
) -> None:
    for out in (("--out", tmp_path / "run.jsonl"), ()):
        ended = harness("export", finished.out, "--format", "inspect", *out)
        assert ended.code == 2
        assert "--out" in ended.err


def test_without_mlflow_its_extra_is_named(
    finished: Bench, harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    ended = harness("export", finished.out, "--format", "mlflow")
    assert ended.code == 2
    assert "pip install 'aide-memoire-harness[mlflow]'" in ended.err


def test_mlflow_has_figures_settings_and_the_report(
    finished: Bench, harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mlflow: Any = pytest.importorskip("mlflow")
    monkeypatch.chdir(tmp_path)
    store = f"sqlite:///{tmp_path}/mlflow.db"
    ended = harness("export", finished.out, "--format", "mlflow", "--tracking-uri", store)
    assert ended.code == 0, ended.err
    client = mlflow.MlflowClient(tracking_uri=store)
    run = client.get_run(ended.out.split()[-1])
    report = json.loads((finished.out / "report.json").read_text())
    assert run.data.metrics["accuracy.overall"] == report["accuracy"]["overall"]["value"]
    assert run.data.metrics["retrieval.session.recall_all_at_5"] == 1.0
    assert run.data.params["dataset.sha256"] == report["data"]["sha256"]
    assert run.info.status == "FINISHED"
    assert "report.html" in {one.path for one in client.list_artifacts(run.info.run_id)}
    again = harness("export", finished.out, "--format", "mlflow", "--tracking-uri", store)
    assert again.out != ended.out
