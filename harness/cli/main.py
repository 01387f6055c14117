"""The `harness` command: `run` and its stages, data made anew or built in, and what is made of
finished runs. Exit codes: `harness.cli.output`.
"""

import sys
from collections.abc import Callable

import typer

from harness.cli.data_commands import (
    download_command,
    export_command,
    sample_command,
    stats_command,
)
from harness.cli.elsewhere_commands import questions_app, verdicts_app
from harness.cli.lab_commands import (
    agreement_command,
    experiment_command,
    leaderboard_command,
    lifecycle_command,
)
from harness.cli.lab_data_commands import author_app, compile_command
from harness.cli.output import INTERRUPTED, USAGE
from harness.cli.run_commands import (
    compare_command,
    context_command,
    demo_command,
    judge_command,
    replay_command,
    report_command,
    retrieval_command,
    run_command,
)
from harness.errors import HarnessError, RunInterrupted

app = typer.Typer(
    help="Replay benchmark histories against an assistant and score its answers.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
_COMMANDS: dict[str, Callable[..., None]] = {
    "run": run_command,
    "replay": replay_command,
    "retrieval": retrieval_command,
    "context": context_command,
    "judge": judge_command,
    "report": report_command,
    "compare": compare_command,
    "agreement": agreement_command,
    "leaderboard": leaderboard_command,
    "experiment": experiment_command,
    "lifecycle": lifecycle_command,
    "compile": compile_command,
    "sample": sample_command,
    "stats": stats_command,
    "download": download_command,
    "export": export_command,
    "demo": demo_command,
}

for _name, _command in _COMMANDS.items():
    app.command(_name)(_command)
app.add_typer(questions_app, name="questions")
app.add_typer(verdicts_app, name="verdicts")
app.add_typer(author_app, name="author")


def main() -> None:
    """Entry point: every expected trouble becomes one line and exit code 2."""
    try:
        app()
    except HarnessError as error:
        print(f"harness: {error}", file=sys.stderr)
        sys.exit(INTERRUPTED if isinstance(error, RunInterrupted) else USAGE)
