"""Rubrics by name: which prompt a question is judged with, and how its reply is read. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from harness.datasets.refined import final_answer
from harness.errors import UsageError
from harness.judges.prompt import load_prompt
from harness.judges.reply import CORRECT_WRONG, YES_NO, Menu
from harness.prompt import Prompt
from harness.records.digest import QuestionDigest

_BY_TYPE = {
    "single-session-user": "contain",
    "single-session-assistant": "contain",
    "multi-session": "contain",
    "temporal-reasoning": "temporal",
    "knowledge-update": "update",
    "single-session-preference": "preference",
}
_MENUS = {"lenient": CORRECT_WRONG, "refined": CORRECT_WRONG}


@dataclass(frozen=True, slots=True)
class Rubric:
    """One way of judging. `prompts` are all that `choose` may name.

    `cleans` tells that a hypothesis is first cut down to its final answer, that one equal to an
    answer passes and an empty one fails without asking, and that the model is asked not to think.
    """

    name: str
    version: int
    prompts: tuple[str, ...]
    choose: Callable[[QuestionDigest], str]
    cleans: bool = False

    def prompt(self, question: QuestionDigest) -> Prompt:
        """The prompt for a question."""
        return load_prompt(self.choose(question))

    def menu(self, question: QuestionDigest) -> Menu:
        """The replies that the question's prompt asks for."""
        return _MENUS.get(self.choose(question), YES_NO)

    @property
    def prompt_hashes(self) -> dict[str, str]:
        """Every prompt's hash by its name."""
        return {name: load_prompt(name).hash for name in self.prompts}

    def cleaned(self, hypothesis: str) -> str:
        """What of a hypothesis is judged."""
        return final_answer(hypothesis) if self.cleans else hypothesis


def _longmemeval(question: QuestionDigest) -> str:
    if question.is_abstention:
        return "abstention"
    try:
        return _BY_TYPE[question.question_type]
    except KeyError:
        raise UsageError(
            f"question {question.question_id}: the longmemeval judge knows no type "
            f"{question.question_type!r}; choose another --judge"
        ) from None


def _or_abstention(answerable: str, unanswerable: str) -> Callable[[QuestionDigest], str]:
    return lambda question: unanswerable if question.is_abstention else answerable


RUBRICS: Mapping[str, Rubric] = {
    rubric.name: rubric
    for rubric in (
        Rubric(
            "longmemeval",
            1,
            ("contain", "temporal", "update", "preference", "abstention"),
            _longmemeval,
        ),
        Rubric(
            "locomo",
            1,
            ("lenient", "abstention"),
            _or_abstention("lenient", "abstention"),
        ),
        Rubric(
            "locomo-refined",
            1,
            ("refined", "abstention"),
            _or_abstention("refined", "abstention"),
            cleans=True,
        ),
        Rubric(
            "locomo-refined-original",
            1,
            ("lenient", "abstention"),
            _or_abstention("lenient", "abstention"),
            cleans=True,
        ),
        Rubric(
            "strict",
            1,
            ("strict", "strict_abstention"),
            _or_abstention("strict", "strict_abstention"),
        ),
    )
}
