"""The options that several commands share, with their help texts."""

from pathlib import Path
from typing import Annotated

import typer

from harness.assistants.profile import BUILT_IN
from harness.datasets.registry import BENCHMARKS
from harness.datasets.selection import PARTS, Part
from harness.errors import UsageError
from harness.pipeline.replay import Forgetting
from harness.replay.ingest import Together
from harness.replay.modes import MODES
from harness.spending import Price

DatasetName = Annotated[
    str,
    typer.Option(
        help=f"Which data set: {', '.join(BENCHMARKS)} (built in), or a class: module:Class."
    ),
]
DataFile = Annotated[
    Path | None,
    typer.Option(help="Its file: .json, .jsonl or .csv, also .gz or .xz; for beam also a folder."),
]
Conversations = Annotated[
    Path | None,
    typer.Option(
        help="A LoCoMo file in whose conversations LoCoMo-Plus's cues are told.", dir_okay=False
    ),
]
OutDir = Annotated[
    Path, typer.Option(help="The run directory; an unfinished run in it is continued.")
]
ApiKey = Annotated[
    str | None,
    typer.Option(envvar="HARNESS_API_KEY", help="Sent as a bearer token.", show_envvar=True),
]
ModelName = Annotated[str, typer.Option(help="Model name sent with the question.")]
Mode = Annotated[str, typer.Option(help=f"How questions are put: {', '.join(MODES)}.")]
Send = Annotated[
    Together, typer.Option(help="What one request of --mode native records: a turn, or a session.")
]
ProfileName = Annotated[
    str,
    typer.Option(
        help="How the assistant takes user, session and time: "
        f"{', '.join(BUILT_IN)}, or a TOML file."
    ),
]
ContextTokens = Annotated[
    int,
    typer.Option(
        min=1, help="Most tokens of history in a prompt (modes full-context, oracle, last-n)."
    ),
]
Repeat = Annotated[
    int,
    typer.Option(
        min=1, max=100, help="Repeat the run N times, each in its own folder under --out."
    ),
]
Plan = Annotated[
    Path | None,
    typer.Option(help="What the run was planned to show (harness plan).", dir_okay=False),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Count questions, tokens, price and time; send nothing.")
]
MaxTokens = Annotated[int | None, typer.Option(min=1, help="Token budget of all models together.")]
MaxCost = Annotated[
    float | None, typer.Option(min=0, help="Budget in US dollars of all models together.")
]
Types = Annotated[str, typer.Option(help="Only these question types, separated by commas.")]
Ids = Annotated[str, typer.Option(help="Only these question ids, separated by commas.")]
PerType = Annotated[
    int | None,
    typer.Option(min=1, help="N questions of each type, and N on abstention, drawn with --seed."),
]
Split = Annotated[
    str,
    typer.Option(
        help=f"Only one part of LongMemEval: {' or '.join(PARTS)}, the questions that aide-mémoire "
        "was developed on, or the others."
    ),
]
Seed = Annotated[int, typer.Option(help="Seed of every draw.")]
Concurrency = Annotated[int, typer.Option(min=1, max=64, help="Questions to run in parallel.")]
Timeout = Annotated[float, typer.Option(min=0.01, help="Seconds for one request.")]
BarrierTimeout = Annotated[
    float, typer.Option(min=0, help="Seconds to wait until a history is stored.")
]
RetrySeconds = Annotated[
    float, typer.Option(min=0, help="Seconds to keep trying after the connection is lost.")
]
Forget = Annotated[
    bool,
    typer.Option("--forget", help="Delete each history once its questions are answered."),
]
Keep = Annotated[
    bool,
    typer.Option(
        "--keep",
        help="Leave the histories in the assistant's memory, for --ingested. By default all are "
        "deleted when no question is left.",
    ),
]


def part(given: str, dataset: str) -> Part | None:
    if not given:
        return None
    found = next((one for one in PARTS if one == given), None)
    if found is None or dataset != "longmemeval":
        raise UsageError(f"--split {given!r}: expected {' or '.join(PARTS)}, of longmemeval")
    return found


def forgetting(forget: bool, keep: bool) -> Forgetting:
    if forget and keep:
        raise UsageError("--forget and --keep: choose one of them")
    if keep:
        return "never"
    return "at once" if forget else "at the end"


Ingested = Annotated[
    Path | None, typer.Option(help="Run directory whose histories the assistant holds.")
]
Listen = Annotated[
    int, typer.Option(min=0, max=65535, help="Port on which the harness acts as the chat model.")
]


def price(text: str, option: str) -> Price:
    """`PROMPT/COMPLETION` as a price; `option` is where it was given."""
    prompt, _, completion = text.partition("/")
    try:
        read = Price(float(prompt), float(completion))
    except ValueError as error:
        raise UsageError(
            f"{option} {text!r}: expected PROMPT/COMPLETION, as in 0.15/0.60"
        ) from error
    if not (read.prompt >= 0 and read.completion >= 0):
        raise UsageError(f"{option} {text!r}: a price is a number, and not negative")
    return read


def names(text: str) -> tuple[str, ...]:
    """A comma-separated option as a tuple; blanks are dropped."""
    return tuple(part.strip() for part in text.split(",") if part.strip())
