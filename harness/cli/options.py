"""The options that several commands share, with their help texts."""

from pathlib import Path
from typing import Annotated

import typer

from harness.assistants.profile import BUILT_IN
from harness.datasets.registry import BENCHMARKS
from harness.errors import UsageError
from harness.judges.rubrics import RUBRICS
from harness.replay.ingest import Together
from harness.replay.modes import MODES
from harness.spending import Price

DatasetName = Annotated[
    str,
    typer.Option(
        "--dataset",
        help=f"Which data set: {', '.join(BENCHMARKS)} (built in), or a class: module:Class.",
    ),
]
DataFile = Annotated[
    Path | None,
    typer.Option(
        "--file", help="Its file: .json, .jsonl or .csv, also .gz or .xz; for beam also a folder."
    ),
]
GoldFile = Annotated[
    Path | None,
    typer.Option("--gold", help="A file of corrected answers for LoCoMo.", dir_okay=False),
]
Conversations = Annotated[
    Path | None,
    typer.Option(
        "--conversations",
        help="A LoCoMo file in whose conversations LoCoMo-Plus's cues are told.",
        dir_okay=False,
    ),
]
OutDir = Annotated[
    Path, typer.Option("--out", help="The run directory; an unfinished run in it is continued.")
]
AssistantUrl = Annotated[str, typer.Option("--assistant", help="Base URL of the assistant.")]
ApiKey = Annotated[
    str | None,
    typer.Option(
        "--api-key", envvar="HARNESS_API_KEY", help="Sent as a bearer token.", show_envvar=True
    ),
]
ModelName = Annotated[str, typer.Option("--model", help="Model name sent with the question.")]
Mode = Annotated[str, typer.Option("--mode", help=f"How questions are put: {', '.join(MODES)}.")]
Send = Annotated[
    Together,
    typer.Option("--send", help="What one request of --mode native records: a turn, or a session."),
]
ProfileName = Annotated[
    str,
    typer.Option(
        "--profile",
        help="How the assistant takes user, session and time: "
        f"{', '.join(BUILT_IN)}, or a TOML file.",
    ),
]
ContextTokens = Annotated[
    int,
    typer.Option(
        "--context-tokens",
        min=1,
        help="Most tokens of history in a prompt (modes full-context, oracle, last-n).",
    ),
]
LastSessions = Annotated[
    int | None,
    typer.Option(
        "--last-sessions", min=1, help="Sessions in the prompt in mode last-n (default: 10)."
    ),
]
LastTokens = Annotated[
    int | None,
    typer.Option(
        "--last-tokens", min=1, help="Or: as many of the latest sessions as fit this many tokens."
    ),
]
HistoryLayout = Annotated[
    str,
    typer.Option(
        "--layout", help="How a history is written in modes without memory: text or json."
    ),
]
Notes = Annotated[
    bool,
    typer.Option(
        "--notes", help="Ask for notes before the answer (modes full-context, oracle, last-n)."
    ),
]
Probe = Annotated[
    bool, typer.Option(help="Probe the assistant first: memory, dates, separation of users.")
]
Repeat = Annotated[
    int,
    typer.Option(
        "--repeat",
        min=1,
        max=100,
        help="Repeat the run N times, each in its own folder under --out.",
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Count questions, tokens, price and time; send nothing.")
]
RetryErrors = Annotated[
    bool, typer.Option("--retry-errors", help="Ask only the questions that failed before.")
]
MaxErrorRate = Annotated[
    float | None,
    typer.Option(
        "--max-error-rate", min=0, max=1, help="Stop when more than this share of questions fails."
    ),
]
MaxTokens = Annotated[
    int | None, typer.Option("--max-tokens", min=1, help="Token budget of all models together.")
]
MaxCost = Annotated[
    float | None,
    typer.Option("--max-cost", min=0, help="Budget in US dollars of all models together."),
]
PriceOption = Annotated[
    str | None,
    typer.Option(
        "--price", help="Assistant's price in US dollars per million tokens: PROMPT/COMPLETION."
    ),
]
JudgePrice = Annotated[
    str | None,
    typer.Option(
        "--judge-price",
        help="Judge's price, as for --price. Add the second judge's after a comma.",
    ),
]
JudgeName = Annotated[
    str | None,
    typer.Option(
        "--judge",
        help="Judge: lexical; choice, for questions with options; beam; or one of "
        f"{', '.join(RUBRICS)} followed by =MODEL@BASE_URL. Default: what the data set is scored "
        "by without a model.",
    ),
]
SecondJudge = Annotated[
    str | None,
    typer.Option("--second-judge", help="Another judge, whose disagreement is reported."),
]
JudgeApiKey = Annotated[
    str | None,
    typer.Option(
        "--judge-api-key",
        envvar=["HARNESS_JUDGE_API_KEY", "OPENAI_API_KEY"],
        help="Key of the judge's model.",
        show_envvar=True,
    ),
]
JudgeVotes = Annotated[
    int,
    typer.Option(
        "--judge-votes", min=1, max=25, help="Judge calls per verdict; the majority decides."
    ),
]
JudgeCache = Annotated[
    Path | None,
    typer.Option(
        "--judge-cache",
        help="A folder of replies, shared by runs; default: within --out.",
        file_okay=False,
    ),
]
JudgeConcurrency = Annotated[
    int, typer.Option("--judge-concurrency", min=1, max=64, help="Verdicts at the same time.")
]
JudgePrompts = Annotated[
    Path | None,
    typer.Option(
        "--judge-prompts",
        help="A folder with the benchmark's own judge texts, used in place of ours.",
        file_okay=False,
    ),
]
JudgeAnyway = Annotated[
    bool,
    typer.Option(
        "--judge-anyway",
        help="Do not ask before judging with a model that the benchmark does not recommend.",
    ),
]
Controls = Annotated[
    int,
    typer.Option("--controls", min=0, help="Questions used to check the judge itself (0: none)."),
]
Types = Annotated[
    str, typer.Option("--types", help="Only these question types, separated by commas.")
]
Ids = Annotated[str, typer.Option("--ids", help="Only these question ids, separated by commas.")]
PerType = Annotated[
    int | None,
    typer.Option("--per-type", min=1, help="N questions of each type, drawn with --seed."),
]
Seed = Annotated[int, typer.Option("--seed", help="Seed of every draw.")]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="Only the first N questions.")]
Concurrency = Annotated[
    int, typer.Option("--concurrency", min=1, max=64, help="Questions to run in parallel.")
]
Timeout = Annotated[float, typer.Option("--timeout", min=0.01, help="Seconds for one request.")]
BarrierTimeout = Annotated[
    float,
    typer.Option("--barrier-timeout", min=0, help="Seconds to wait until a history is stored."),
]
RetrySeconds = Annotated[
    float,
    typer.Option(
        "--retry-seconds", min=0, help="Seconds to keep trying after the connection is lost."
    ),
]
Forget = Annotated[
    bool, typer.Option("--forget", help="Delete each question's memories once it is answered.")
]

Ingested = Annotated[
    Path | None,
    typer.Option("--ingested", help="Run directory whose histories the assistant holds."),
]
Listen = Annotated[
    int,
    typer.Option(
        "--listen", min=0, max=65535, help="Port on which the harness acts as the chat model."
    ),
]

FailUnder = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-under",
        metavar="METRIC=VALUE",
        help="Exit with 3 below this share, e.g. 0.8 or recall_all@5=0.9; may be repeated.",
    ),
]
FailOnRegression = Annotated[
    Path | None,
    typer.Option(
        "--fail-on-regression",
        metavar="BASE",
        help="Exit with 3 if worse than this run directory or report.json.",
    ),
]
Junit = Annotated[
    Path | None,
    typer.Option(
        "--junit", help="Write a JUnit file with one test case per question.", dir_okay=False
    ),
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
    if min(read.prompt, read.completion) < 0:
        raise UsageError(f"{option} {text!r}: a price is not negative")
    return read


def names(text: str) -> tuple[str, ...]:
    """A comma-separated option as a tuple; blanks are dropped."""
    return tuple(part.strip() for part in text.split(",") if part.strip())
