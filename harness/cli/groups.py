"""The options of commands, in groups by subject; each group makes the objects it stands for."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import typer

from harness.assistants.endpoint import Endpoint, RetryPolicy
from harness.assistants.profile import load_profile
from harness.cli import options
from harness.cli.output import agreed_to
from harness.comparison.gates import Gates
from harness.datasets.selection import Filters, QuestionSource
from harness.errors import UsageError
from harness.judges import Judge
from harness.judges.openai_chat import Correspondence
from harness.judges.registry import (
    MODEL_AT_URL,
    NOWHERE,
    JudgeOptions,
    default_judge,
    make_judge,
)
from harness.judges.rubrics import RUBRICS
from harness.pipeline.judging import JudgePlan
from harness.pipeline.replay import ReplayOptions
from harness.records.run_dir import JUDGE_REPLIES
from harness.replay.context_modes import ContextWindow
from harness.replay.guesses import GUESSES
from harness.replay.modes import Approach
from harness.spending import Payee, Price, SpendingLimits


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The same command with each group spread into single options, as Typer takes them."""
    hints = get_type_hints(command, include_extras=True)
    del hints["return"]
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}

    @wraps(command)
    def flat(**given: Any) -> None:
        for name, kind in groups.items():
            given[name] = kind(**{one.name: given.pop(one.name) for one in fields(kind)})
        command(**given)

    shown = [
        option
        for name, parameter in signature(command).parameters.items()
        for option in (
            _options(groups[name])
            if name in groups
            else [parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[name])]
        )
    ]
    flat.__signature__ = Signature(shown)  # type: ignore[attr-defined]
    flat.__annotations__ = {option.name: option.annotation for option in shown}
    return flat


def _options(kind: Any) -> Iterator[Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    for one in fields(kind):
        default = Parameter.empty if one.default is MISSING else one.default
        yield Parameter(
            one.name, Parameter.KEYWORD_ONLY, default=default, annotation=hints[one.name]
        )


@dataclass(frozen=True)
class Selection:
    """Which questions of which data."""

    dataset: options.DatasetName
    file: options.DataFile = None
    gold: Annotated[
        Path | None, typer.Option(help="A file of corrected answers for LoCoMo.", dir_okay=False)
    ] = None
    conversations: options.Conversations = None
    types: options.Types = ""
    ids: options.Ids = ""
    per_type: options.PerType = None
    seed: options.Seed = 0
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="Only N questions: of each type and abstention in turn."),
    ] = None

    split: options.Split = ""

    @property
    def source(self) -> QuestionSource:
        kinds, ids = options.names(self.types), options.names(self.ids)
        part = options.part(self.split, self.dataset)
        filters = Filters(kinds, ids, self.per_type, self.seed, self.limit, split=part)
        return QuestionSource(self.dataset, self.file, filters, self.gold, self.conversations)


@dataclass(frozen=True)
class Server:
    """Which assistant, and how patiently to speak to it."""

    assistant: Annotated[
        str | None,
        typer.Option(help=f"Base URL of the assistant; modes {', '.join(GUESSES)} need none."),
    ] = None
    api_key: options.ApiKey = None
    model: options.ModelName = "aide-memoire"
    timeout: options.Timeout = 120.0
    retry_seconds: options.RetrySeconds = 90.0

    @property
    def endpoint(self) -> Endpoint:
        if self.assistant is None:
            raise UsageError("--assistant is missing: the base URL of the assistant")
        return self._at(self.assistant)

    def endpoint_for(self, approach: Approach) -> Endpoint:
        """Where this approach asks: nowhere, if it only guesses."""
        return self._at(NOWHERE) if approach.guesses else self.endpoint

    def _at(self, url: str) -> Endpoint:
        retry = RetryPolicy(reconnect_seconds=self.retry_seconds)
        return Endpoint(url, self.api_key, self.model, self.timeout, retry)


@dataclass(frozen=True)
class Manner:
    """How histories are told and questions put."""

    mode: options.Mode = "native"
    profile: options.ProfileName = "aide-memoire"
    context_tokens: options.ContextTokens = 120_000
    last_sessions: Annotated[
        int | None, typer.Option(min=1, help="Sessions in the prompt in mode last-n (default: 10).")
    ] = None
    last_tokens: Annotated[
        int | None,
        typer.Option(min=1, help="Or: as many of the latest sessions as fit this many tokens."),
    ] = None
    layout: Annotated[
        str, typer.Option(help="How a history is written in modes without memory: text or json.")
    ] = "text"
    notes: Annotated[
        bool,
        typer.Option(
            "--notes", help="Ask for notes before the answer (modes full-context, oracle, last-n)."
        ),
    ] = False
    send: options.Send = "turn"
    reader: Annotated[
        str | None,
        typer.Option(
            help="The model that reads what a store finds (profile add-search): MODEL@BASE_URL."
        ),
    ] = None
    reader_api_key: Annotated[
        str | None,
        typer.Option(
            envvar=["HARNESS_READER_API_KEY", "OPENAI_API_KEY"],
            help="Key of the reader's model.",
            show_envvar=True,
        ),
    ] = None

    def approach(self, price: Price | None) -> Approach:
        """Mode, profile and prompt size; a price that was given counts more than the profile's."""
        profile = load_profile(self.profile)
        if price is not None:
            profile = replace(profile, price=price)
        counted = self.last_sessions is not None or self.last_tokens is not None
        last_sessions = self.last_sessions if counted else ContextWindow().last_sessions
        if self.layout not in ("text", "json"):
            raise UsageError(f"--layout {self.layout!r}: expected text or json")
        layout: Literal["text", "json"] = "json" if self.layout == "json" else "text"
        window = ContextWindow(
            self.context_tokens, last_sessions, self.last_tokens, layout, self.notes
        )
        return Approach(self.mode, profile, window, self.send, self._reader())

    def _reader(self) -> Endpoint | None:
        if self.reader is None:
            return None
        found = MODEL_AT_URL.fullmatch(self.reader)
        if found is None:
            raise UsageError(f"--reader {self.reader!r}: expected MODEL@BASE_URL")
        return Endpoint(found["url"], self.reader_api_key, found["model"])


@dataclass(frozen=True)
class Replaying:
    """How a replay goes on, and when it stops."""

    concurrency: options.Concurrency = 2
    barrier_timeout: options.BarrierTimeout = 60.0
    forget: options.Forget = False
    keep: options.Keep = False
    probe: Annotated[
        bool, typer.Option(help="Probe the assistant first: memory, dates, separation of users.")
    ] = True
    retry_errors: Annotated[
        bool, typer.Option("--retry-errors", help="Ask only the questions that failed before.")
    ] = False
    max_error_rate: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Stop when more than this share of questions fails."),
    ] = None

    def replay_options(self, limits: SpendingLimits) -> ReplayOptions:
        return ReplayOptions(
            concurrency=self.concurrency,
            barrier_seconds=self.barrier_timeout,
            forget=options.forgetting(self.forget, self.keep),
            probe=self.probe,
            retry_errors=self.retry_errors,
            max_error_rate=self.max_error_rate,
            limits=limits,
        )


@dataclass(frozen=True)
class Allowance:
    """The most that may be spent, and the prices of models."""

    max_tokens: options.MaxTokens = None
    max_cost: options.MaxCost = None
    price: Annotated[
        str | None,
        typer.Option(help="Assistant's price in US dollars per million tokens: PROMPT/COMPLETION."),
    ] = None
    judge_price: Annotated[
        str | None,
        typer.Option(help="Judge's price, as for --price. Add the second judge's after a comma."),
    ] = None

    @property
    def limits(self) -> SpendingLimits:
        """The limits, with prices for what earlier commands spent without knowing a price."""
        return SpendingLimits(self.max_tokens, self.max_cost, self.prices)

    @property
    def prices(self) -> dict[Payee, Price]:
        """Prices by payee; a second judge costs what the first one does, unless told otherwise."""
        first, _, second = (self.judge_price or "").partition(",")
        told: dict[Payee, Price] = {}
        if self.price is not None:
            told["assistant"] = options.price(self.price, "--price")
        if self.judge_price is not None:
            told["judge"] = options.price(first, "--judge-price")
            told["second_judge"] = options.price(second or first, "--judge-price")
        return told


@dataclass(frozen=True)
class Judging:
    """Who compares answers with references, and how."""

    judge: Annotated[
        str | None,
        typer.Option(
            help="Judge: lexical; choice, for questions with options; graders, for cases of your "
            "own; beam; or one of "
            f"{', '.join(RUBRICS)} followed by =MODEL@BASE_URL. Default: what the data set is "
            "scored by without a model."
        ),
    ] = None
    second_judge: Annotated[
        str | None,
        typer.Option(
            help="Another judge, whose disagreement is reported; or the same one, asked again."
        ),
    ] = None
    judge_votes: Annotated[
        int, typer.Option(min=1, max=25, help="Judge calls per verdict; the majority decides.")
    ] = 1
    judge_concurrency: Annotated[
        int, typer.Option(min=1, max=64, help="Verdicts at the same time.")
    ] = 4
    judge_cache: Annotated[
        Path | None,
        typer.Option(
            help="A folder of replies, shared by runs; default: within --out.", file_okay=False
        ),
    ] = None
    judge_api_key: Annotated[
        str | None,
        typer.Option(
            envvar=["HARNESS_JUDGE_API_KEY", "OPENAI_API_KEY"],
            help="Key of the judge's model.",
            show_envvar=True,
        ),
    ] = None
    judge_prompts: Annotated[
        Path | None,
        typer.Option(
            help="A folder with the benchmark's own judge texts, used in place of ours.",
            file_okay=False,
        ),
    ] = None
    judge_anyway: Annotated[
        bool,
        typer.Option(
            "--judge-anyway",
            help="Do not ask before judging with a model that the benchmark does not recommend.",
        ),
    ] = False
    run_programs: Annotated[
        bool,
        typer.Option(
            "--run-programs",
            help="Run the programs that the data names as graders. They may do whatever you may.",
        ),
    ] = False
    controls: Annotated[
        int, typer.Option(min=0, help="Questions used to check the judge itself (0: none).")
    ] = 20

    def judges(
        self,
        dataset: str,
        out: Path,
        prices: Mapping[Payee, Price],
        correspondence: Correspondence | None = None,
    ) -> tuple[Judge, Judge | None]:
        """The judge, by default the data set's, and a second one where there is one; their replies
        are kept within `out`. With a `correspondence` their models are asked elsewhere.
        """
        asking = JudgeOptions(
            self.judge_api_key,
            self.judge_votes,
            self.judge_cache or out / JUDGE_REPLIES,
            price=prices.get("judge"),
            texts=self.judge_prompts,
            correspondence=correspondence,
            runs_programs=self.run_programs,
        )
        first, second = make_judge(self.judge or default_judge(dataset), asking), None
        if self.second_judge:
            asking = replace(asking, price=prices.get("second_judge"), payee="second_judge")
            second = make_judge(self.second_judge, asking)
            if (second.id, second.hash) == (first.id, first.hash):
                second = self._asked_again(asking)
        if self.judge_prompts and not any(
            j and "given_texts" in j.account for j in (first, second)
        ):
            raise UsageError(
                f"--judge-prompts {self.judge_prompts}: neither judge takes a text from there"
            )
        return first, second

    def _asked_again(self, asking: JudgeOptions) -> Judge:
        """The same judge a second time: it must not read the replies that the first one kept."""
        if asking.correspondence is not None:
            raise UsageError("--second-judge: a judge elsewhere is asked once about an answer")
        cache = asking.cache and asking.cache / "again"
        return make_judge(self.second_judge or "", replace(asking, cache=cache))

    def agree_to(self, *judges: Judge | None) -> None:
        """Ask before a judge whose model its benchmark does not recommend."""
        for judge in judges:
            caution = judge and judge.account.get("caution")
            if caution and not self.judge_anyway:
                agreed_to(f"{caution}; its verdicts compare with no published figure")

    def plan(self, second: Judge | None, seed: int, limits: SpendingLimits) -> JudgePlan:
        return JudgePlan(second, self.controls, seed, self.judge_concurrency, limits)


@dataclass(frozen=True)
class Gating:
    """What a finished run is held against."""

    fail_under: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC=VALUE",
            help="Exit with 3 below this share, e.g. 0.8 or recall_all@5=0.9; may be repeated.",
        ),
    ] = None
    fail_on_regression: Annotated[
        Path | None,
        typer.Option(
            metavar="BASE", help="Exit with 3 if worse than this run directory or report.json."
        ),
    ] = None
    junit: Annotated[
        Path | None,
        typer.Option(help="Write a JUnit file with one test case per question.", dir_okay=False),
    ] = None

    @property
    def gates(self) -> Gates:
        return Gates.of(self.fail_under or (), self.fail_on_regression, self.junit)
