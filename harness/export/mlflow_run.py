"""A run as a run of MLflow, by its client: figures, set-up, and the report's files.

MLflow is an extra (`mlflow`), imported when it is asked for.
"""

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.errors import UsageError
from harness.records.run_dir import (
    MANIFEST,
    QUESTIONS_CSV,
    REPORT_HTML,
    REPORT_JSON,
    REPORT_MARKDOWN,
    RunDir,
)
from harness.records.schema import ManifestData
from harness.report.schema import Report

_FILES = (MANIFEST, REPORT_JSON, REPORT_MARKDOWN, REPORT_HTML, QUESTIONS_CSV)
# MLflow takes no longer values of settings.
_LONGEST = 500
# Nor more settings or figures at a time.
_BATCH = 100
_UNWANTED = re.compile(r"[^\w\-. :/]+")


def log_to_mlflow(
    run_dir: RunDir, manifest: ManifestData, report: Report, tracking: str | None
) -> str:
    """The id of the new MLflow run, in the experiment of the data set's name. `tracking` is the
    server or store, None for the one that MLflow is set up with.
    """
    try:
        from mlflow import MlflowClient
        from mlflow.exceptions import MlflowException
    except ImportError as error:
        raise UsageError(
            "--format mlflow needs MLflow: pip install 'aide-memoire-harness[mlflow]'"
        ) from error
    client = MlflowClient(tracking_uri=tracking)
    name = manifest["dataset"]["name"]
    try:
        known = client.get_experiment_by_name(name)
        experiment = known.experiment_id if known else client.create_experiment(name)
        run_id: str = client.create_run(experiment, run_name=run_dir.path.name).info.run_id
        try:
            _log(client, run_id, list(_settings(manifest)), list(figures(report)))
            for file in _FILES:
                if run_dir.has(file):
                    client.log_artifact(run_id, str(run_dir.path / file))
        except BaseException:
            client.set_terminated(run_id, "FAILED")
            raise
        client.set_terminated(run_id)
    except MlflowException as error:
        raise UsageError(f"MLflow: {error}") from error
    return run_id


def _log(
    client: Any,
    run_id: str,
    settings: Sequence[tuple[str, str]],
    measured: Sequence[tuple[str, float]],
) -> None:
    from mlflow.entities import Metric, Param

    for start in range(0, len(settings), _BATCH):
        params = [Param(*one) for one in settings[start : start + _BATCH]]
        client.log_batch(run_id, params=params)
    now = int(time.time() * 1000)
    for start in range(0, len(measured), _BATCH):
        metrics = [Metric(*one, now, 0) for one in measured[start : start + _BATCH]]
        client.log_batch(run_id, metrics=metrics)


def figures(report: Report) -> Iterator[tuple[str, float]]:
    """Every figure of a report by a name that MLflow takes: `retrieval.session.recall_all_at_5`."""
    for part in ("accuracy", "official_metrics", "rubric_scores", "retrieval", "latency", "tokens"):
        yield from _numbers(report[part], part)
    for name in ("evidence_in_prompt", "n", "missing", "failed", "wall_seconds"):
        yield from _numbers(report[name], name)


def _numbers(value: Any, name: str) -> Iterator[tuple[str, float]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            # A `value` goes under the name of its figure alone.
            yield from _numbers(inner, name if key == "value" else f"{name}.{key}")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield _UNWANTED.sub("_", name.replace("@", "_at_")).strip("_"), float(value)


def _settings(manifest: ManifestData) -> Iterator[tuple[str, str]]:
    told = ("dataset", "filters", "mode", "approach", "assistant", "judge", "harness_version")
    for part in (*told, "git", "plan"):
        if part in manifest:
            yield from _texts(manifest[part], part)  # type: ignore[literal-required]


def _texts(value: Any, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(inner, f"{name}.{key}")
    elif value not in (None, "", []):
        yield _UNWANTED.sub("_", name), str(value)[:_LONGEST]
