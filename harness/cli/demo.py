"""A demonstration from nothing: start a server, run the sample set against it, stop the server."""

import tempfile
from pathlib import Path

from rich.console import Console

from harness.assistants.endpoint import Endpoint
from harness.assistants.own_server import LOG, own_server
from harness.datasets.selection import Filters, Source
from harness.errors import UsageError
from harness.judges.lexical import LexicalJudge
from harness.pipeline.histories import ReplayOptions
from harness.pipeline.judging import judge_run
from harness.pipeline.replay import replay_run
from harness.pipeline.run import Run
from harness.records.manifest import load_manifest
from harness.records.run_dir import RunDir
from harness.replay.modes.choice import Approach


def run_demo(command: str, out: Path, console: Console, *, ready_seconds: float) -> tuple[Run, int]:
    """Replay and judge the sample on a server of our own; returns the run and its failed count."""
    run_dir = RunDir(out)
    run_dir.create()
    _clear(run_dir)
    log = out / LOG
    log.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="aide-memoire-demo-") as data_dir:
        console.print(f"starting {command!r}, its log is {log}", highlight=False)
        with own_server(command, Path(data_dir), log, ready_seconds) as url:
            opened = Run(Source("sample", None, Filters()), out, console)
            failed = replay_run(opened, Endpoint(url), Approach(), ReplayOptions())
        judge_run(opened, LexicalJudge())
    return opened, failed


def _clear(run_dir: RunDir) -> None:
    """Remove an earlier demonstration: its memories are gone, there is nothing to continue."""
    manifest = load_manifest(run_dir)
    if manifest is None:
        return
    if manifest.data["dataset"]["name"] != "sample":
        raise UsageError(f"--out {run_dir.path} holds another run: choose another folder")
    for path in run_dir.path.iterdir():
        if path.suffix in (".json", ".jsonl"):
            path.unlink()
