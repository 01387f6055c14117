"""Judges as the command line names them: `lexical`, `choice`, or `RUBRIC=MODEL@BASE_URL`."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from harness.errors import UsageError
from harness.judges.base import Judge
from harness.judges.choice import ChoiceJudge
from harness.judges.lexical import LexicalJudge
from harness.judges.model_judge import ModelJudge
from harness.judges.openai_chat import ChatEndpoint, OpenAIChat, ReplyCache
from harness.judges.rubrics import RUBRICS
from harness.spending.budget import Meter, Payee
from harness.spending.usage import Price

WITHOUT_MODEL: dict[str, Callable[[], Judge]] = {"lexical": LexicalJudge, "choice": ChoiceJudge}
JUDGES = (*WITHOUT_MODEL, *RUBRICS)
_MODEL = re.compile(r"(?P<model>.+)@(?P<url>https?://.+)")


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """How model judges ask; `timeout` is seconds for one call, `votes` calls decide one verdict,
    `price` is the model's, `payee` the judge's part in the run; `texts` is a folder of the
    benchmarks' own prompts.
    """

    api_key: str | None = field(default=None, repr=False)
    votes: int = 1
    cache: Path | None = None
    timeout: float = 120.0
    retries: int = 6
    price: Price | None = None
    payee: Payee = "judge"
    texts: Path | None = None


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
    return ModelJudge(rubric, OpenAIChat(endpoint, cache, meter), votes=options.votes)
