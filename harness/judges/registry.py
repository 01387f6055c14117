"""Judges as the command line names them: `lexical`, `choice`, `beam`, `RUBRIC=MODEL@BASE_URL`."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from harness.datasets.formats.catalogue import WITH_OPTIONS
from harness.errors import UsageError
from harness.judges.base import Judge
from harness.judges.choice import ChoiceJudge
from harness.judges.deferred_chat import Correspondence, DeferredChat
from harness.judges.lexical import LexicalJudge
from harness.judges.model_judge import ModelJudge
from harness.judges.openai_chat import ChatEndpoint, OpenAIChat, ReplyCache
from harness.judges.rubric_judge import RubricJudge
from harness.judges.rubric_lexical import LexicalRubricJudge
from harness.judges.rubrics import RUBRICS
from harness.spending.budget import Meter, Payee
from harness.spending.usage import Price

# With a model, or without one by words.
BEAM = "beam"
WITHOUT_MODEL: dict[str, Callable[[], Judge]] = {"lexical": LexicalJudge, "choice": ChoiceJudge}
JUDGES = (*WITHOUT_MODEL, *RUBRICS)
# The address of whoever judges elsewhere and has none.
NOWHERE = "http://elsewhere.invalid/v1"
_MODEL = re.compile(r"(?P<model>.+)@(?P<url>https?://.+)")


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """How model judges ask; `timeout` is seconds for one call, `votes` calls decide one verdict,
    `price` is the model's, `payee` the judge's part in the run; `texts` is a folder of the
    benchmarks' own prompts. With a `correspondence` the model is asked elsewhere.
    """

    api_key: str | None = field(default=None, repr=False)
    votes: int = 1
    cache: Path | None = None
    timeout: float = 120.0
    retries: int = 6
    price: Price | None = None
    payee: Payee = "judge"
    texts: Path | None = None
    correspondence: Correspondence | None = None


def default_judge(dataset: str) -> str:
    """The judge without a model that knows how the data set is scored."""
    if dataset == BEAM:
        return BEAM
    return "choice" if dataset in WITH_OPTIONS else "lexical"


def make_judge(spec: str, options: JudgeOptions | None = None) -> Judge:
    """The judge of that name; raises `UsageError` for any other, and for one without its model."""
    options = options or JudgeOptions()
    name, given, model = spec.partition("=")
    if name not in JUDGES:
        raise UsageError(f"unknown judge {name!r}, expected one of {', '.join(JUDGES)}")
    if name in WITHOUT_MODEL:
        if given:
            raise UsageError(f"the {name} judge takes no model")
        return WITHOUT_MODEL[name]()
    if options.correspondence is not None and model and "@" not in model:
        model += f"@{NOWHERE}"  # a person, say
    if name == BEAM and not given:
        return LexicalRubricJudge()
    found = _MODEL.fullmatch(model)
    if found is None:
        raise UsageError(f"judge {spec!r}: expected {name}=MODEL@BASE_URL")
    rubric = RUBRICS[name] if options.texts is None else RUBRICS[name].with_texts(options.texts)
    endpoint = ChatEndpoint(
        found["model"],
        found["url"],
        options.api_key,
        options.timeout,
        options.retries,
        think=not rubric.cleans,
    )
    cache = ReplyCache(options.cache) if options.cache else None
    meter = Meter(options.payee, options.price)
    chat = OpenAIChat(endpoint, cache, meter)
    if options.correspondence is not None:
        letters, votes = options.correspondence, options.votes
        chat = DeferredChat(endpoint, letters, cache, meter, votes=votes)
    kind = RubricJudge if name == BEAM else ModelJudge
    return kind(rubric, chat, votes=options.votes)
