"""Judges as the command line names them: `lexical`, `choice`, `graders`, `beam`,
`RUBRIC=MODEL@BASE_URL`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.datasets.registry import BENCHMARKS
from harness.errors import UsageError
from harness.judges import Judge, Verdict
from harness.judges.graders import GradersJudge
from harness.judges.lexical import LexicalJudge
from harness.judges.model_judge import ModelJudge
from harness.judges.openai_chat import (
    ChatEndpoint,
    Correspondence,
    DeferredChat,
    OpenAIChat,
    ReplyCache,
)
from harness.judges.rubric_judge import RubricJudge
from harness.judges.rubric_lexical import LexicalRubricJudge
from harness.judges.rubrics import RUBRICS
from harness.records.digest import QuestionDigest
from harness.spending import Meter, Payee, Price

_LETTERS = "abcdefghij"
# The last announced letter counts, as models think aloud first. "The answer is a guess" has none.
# "Option" alone announces nothing: models also say what is wrong with the other options.
_ANNOUNCED = re.compile(
    r"(?:answer|choice|option\W{1,3}is|(?<!not )(?<!n't )\b(?:choose|pick|select))"
    r"\W{0,12}(?:is\W{0,6})?(?:option\W{0,6})?\(?\b([b-j]|a(?!\s+[a-z]))\b(?!')"
)
_ALONE = re.compile(r"\W*([a-j])\W*")
_OPTION = re.compile(r"\boption\W{1,6}([a-j])\b")
_LEADING = re.compile(
    r"[\s*]*(?:option\W{1,6}([a-j])\b|\(([a-j])\)|([a-j])[).:])"
    r"(?!\W*(?:or|and)\W+(?:option\W{1,6})?\(?[a-j]\b|\W*\(?[a-j]\b[).:])"
)
_BRACKETED = re.compile(r"\(([a-j])\)")


class ChoiceJudge:
    """Passes an answer that names the right option, by letter or text, and no other option."""

    id = "choice-1"
    hash = "c401ce000003"
    account: Mapping[str, Any] = {"kind": "choice"}
    meter = None

    def prompts(self, question: QuestionDigest, hypothesis: str) -> list[int]:
        return []

    async def judge(self, question: QuestionDigest, hypothesis: str) -> Verdict:
        if not question.options:
            raise UsageError(
                f"question {question.question_id!r} has no options: choose another --judge"
            )
        named = named_option(hypothesis, question.options)
        if named is None:
            return Verdict("no", "names no single option")
        is_right = question.options[named] == question.answer
        return Verdict("yes" if is_right else "no", f"names option ({_LETTERS[named]})")

    async def close(self) -> None:
        """There is nothing to close."""


def named_option(answer: str, options: Sequence[str]) -> int | None:
    """The index of the one option that an answer names, None where it names none or several.

    The first rule that applies decides: a letter alone; the last letter after "answer", "choice",
    "option is" or a verb of choosing; a letter at the beginning; the only letter after "option", or
    in brackets; the only option whose text occurs.
    """
    said = answer.lower()
    letter = _letter(said)
    if letter is not None:
        index = _LETTERS.index(letter)
        return index if index < len(options) else None
    words = _words(said)
    found = [
        i
        for i, option in enumerate(options)
        if option not in options[:i] and f" {_words(option)} " in f" {words} "
    ]
    # "Red" occurs in "dark red": the longer option is meant.
    meant = [
        i
        for i in found
        if not any(i != j and f" {_words(options[i])} " in f" {_words(options[j])} " for j in found)
    ]
    return meant[0] if len(meant) == 1 else None


def _letter(said: str) -> str | None:
    if match := _ALONE.fullmatch(said):
        return match[1]
    if announced := _ANNOUNCED.findall(said):
        return str(announced[-1])
    if match := _LEADING.match(said):
        return match[1] or match[2] or match[3]
    named = set(_OPTION.findall(said)) or set(_BRACKETED.findall(said))
    return named.pop() if len(named) == 1 else None


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


# `beam` judges with a model where one is given, else by words.
BEAM = "beam"
WITHOUT_MODEL: dict[str, Callable[[], Judge]] = {"lexical": LexicalJudge, "choice": ChoiceJudge}
GRADERS = "graders"
JUDGES = (*WITHOUT_MODEL, *RUBRICS, GRADERS)
# The address of an outside judge who has none, a person for example.
NOWHERE = "http://elsewhere.invalid/v1"
MODEL_AT_URL = re.compile(r"(?P<model>.+)@(?P<url>https?://.+)")


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """How model judges ask. `timeout` is seconds for one call, `votes` the number of calls that
    decide one verdict, `price` the model's price, `payee` the judge's role in the run, `texts` a
    folder with the benchmarks' own prompts. With a `correspondence` the replies are given
    elsewhere. `runs_programs` lets the programs run that a data set names as graders.
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
    runs_programs: bool = False


def default_judge(dataset: str) -> str:
    """The name of the judge without a model that fits the data set."""
    return BENCHMARKS[dataset].judge if dataset in BENCHMARKS else "lexical"


def make_judge(spec: str, options: JudgeOptions | None = None) -> Judge:
    """Return the judge that `spec` names; raises `UsageError` for an unknown or incomplete name."""
    options = options or JudgeOptions()
    name, given, model = spec.partition("=")
    if name not in JUDGES:
        raise UsageError(f"unknown judge {name!r}, expected one of {', '.join(JUDGES)}")
    if name in (*WITHOUT_MODEL, GRADERS):
        if given:
            raise UsageError(f"the {name} judge takes no model")
        if name == GRADERS:
            return GradersJudge(runs_programs=options.runs_programs)
        return WITHOUT_MODEL[name]()
    if options.correspondence is not None and model and "@" not in model:
        model += f"@{NOWHERE}"  # a person, say
    if name == BEAM and not given:
        return LexicalRubricJudge()
    found = MODEL_AT_URL.fullmatch(model)
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
