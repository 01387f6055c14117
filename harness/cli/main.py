"""The `harness` command: `run` and its stages, data made anew or built in, and what is made of
finished runs. Exit codes: `harness.cli.output`.
"""

import signal
import sys
from collections.abc import Callable

import typer

from harness.cli import (
    data_commands,
    elsewhere_commands,
    lab_commands,
    lab_data_commands,
    plan_commands,
)
from harness.cli import run_commands as runs
from harness.cli.groups import grouped
from harness.cli.output import INTERRUPTED, USAGE
from harness.errors import HarnessError, RunInterrupted

app = typer.Typer(
    help="Replay benchmark histories against an assistant and score its answers.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
_COMMANDS: dict[str, Callable[..., None]] = {
    "run": runs.run_command,
    "replay": runs.replay_command,
    "retrieval": runs.retrieval_command,
    "context": runs.context_command,
    "judge": runs.judge_command,
    "report": runs.report_command,
    "compare": runs.compare_command,
    "plan": plan_commands.plan_command,
    "plans": plan_commands.plans_command,
    "agreement": lab_commands.agreement_command,
    "leaderboard": lab_commands.leaderboard_command,
    "load": lab_commands.load_command,
    "experiment": lab_commands.experiment_command,
    "lifecycle": lab_commands.lifecycle_command,
    "compile": lab_data_commands.compile_command,
    "sample": data_commands.sample_command,
    "stats": data_commands.stats_command,
    "download": data_commands.download_command,
    "export": data_commands.export_command,
    "schema": data_commands.schema_command,
    "demo": runs.demo_command,
}

for _name, _command in _COMMANDS.items():
    app.command(_name)(grouped(_command))
app.add_typer(elsewhere_commands.questions_app, name="questions")
app.add_typer(elsewhere_commands.verdicts_app, name="verdicts")
app.add_typer(lab_data_commands.author_app, name="author")


def _interrupt(*_: object) -> None:
    """Interrupt as Ctrl-C does, even where a shell's background command ignores SIGINT."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.raise_signal(signal.SIGINT)


def main() -> None:
    """Entry point: every expected trouble becomes one line and exit code 2."""
    # SIGTERM ends the harness as Ctrl-C does: with its files whole and its servers stopped.
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        app()
    except HarnessError as error:
        print(f"harness: {error}", file=sys.stderr)
        sys.exit(INTERRUPTED if isinstance(error, RunInterrupted) else USAGE)
    finally:
        signal.signal(signal.SIGTERM, before)
