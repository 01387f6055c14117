"""What judging would take, counted from the questions alone: nobody is asked."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.judges.base import Judge
from harness.judges.controls import draw_controls
from harness.runs.digest import QuestionDigest
from harness.runs.spending import Price
from harness.tokens import tokens_at_least_one

# An assumption, printed with the figures; a model that thinks writes more.
VERDICT_TOKENS = 10


@dataclass(frozen=True, slots=True)
class JudgingForecast:
    """Calls of one judge's model, were none of its replies kept."""

    judge_id: str
    calls: int
    prompt_tokens: int
    price: Price | None

    @property
    def completion_tokens(self) -> int:
        """If every reply has the assumed length."""
        return self.calls * VERDICT_TOKENS

    @property
    def usd(self) -> float | None:
        """None where no price is known."""
        if self.price is None:
            return None if self.calls else 0.0
        return self.price.of(self.prompt_tokens, self.completion_tokens)


def judging_forecasts(
    questions: Sequence[QuestionDigest],
    said: Mapping[str, str],
    judges: Sequence[Judge | None],
    *,
    controls: int,
    seed: int,
) -> Iterator[JudgingForecast]:
    """The first judge with its controls, and the second; `said` are hypotheses by question id."""
    answered = [question for question in questions if question.question_id in said]
    verdicts = [(question, said[question.question_id]) for question in answered]
    drawn = draw_controls(answered, said, sample=controls, seed=seed)
    made_up = [(control.question, control.hypothesis) for control in drawn]
    for number, judge in enumerate(judges):
        if judge is not None and judge.purse is not None:
            yield _forecast(judge, verdicts + made_up if number == 0 else verdicts)


def _forecast(judge: Judge, verdicts: Iterable[tuple[QuestionDigest, str]]) -> JudgingForecast:
    prompts = [
        characters for question, said in verdicts for characters in judge.prompts(question, said)
    ]
    tokens = sum(map(tokens_at_least_one, prompts))
    price = judge.purse.price if judge.purse else None
    return JudgingForecast(judge.id, len(prompts), tokens, price)
