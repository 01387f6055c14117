"""A judge that asks a language model, by one of the rubrics; several votes where wished."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from harness.errors import JudgeCallFailed
from harness.judges import Decision, Verdict
from harness.judges.openai_chat import Messages, ModelReply, OpenAIChat
from harness.judges.rubrics import Rubric, parse_verdict
from harness.records.digest import QuestionDigest
from harness.spending import Meter

T = TypeVar("T")
_TOKENS = ("calls", "prompt_tokens", "completion_tokens")


class ModelJudge:
    """A judge whose every vote is one call, repeated once if the reply states no listed verdict.

    Where a question has several complete answers, the hypothesis is compared with each by itself
    and needs to match only one. An unreadable verdict is unscored, never wrong.
    """

    def __init__(self, rubric: Rubric, chat: OpenAIChat, *, votes: int = 1) -> None:
        self._rubric = rubric
        self._chat = chat
        self._votes = votes
        self.id = f"{rubric.name}-{rubric.edition}={chat.endpoint.model}"
        if votes > 1:
            self.id += f"*{votes}"
        rules = [self.id, rubric.prompt_hashes, chat.endpoint.think]
        self.hash = hashlib.sha256(json.dumps(rules, sort_keys=True).encode()).hexdigest()[:12]

    @property
    def account(self) -> Mapping[str, Any]:
        account = {
            "kind": "model",
            "rubric": self._rubric.name,
            "model": self._chat.endpoint.model,
            "base_url": self._chat.endpoint.public_url,
            "votes": self._votes,
            "prompts": self._rubric.prompt_hashes,
        }
        optional = {"given_texts": self._rubric.given_files, "caution": self.caution}
        return account | {name: value for name, value in optional.items() if value}

    @property
    def caution(self) -> str | None:
        return self._rubric.caution(self._chat.endpoint.model)

    @property
    def meter(self) -> Meter:
        """The meter that pays for the calls; replies from the cache cost nothing."""
        return self._chat.meter

    def prompts(self, question: QuestionDigest, hypothesis: str) -> list[int]:
        """One length for each answer and vote: the worst case, in which no answer but the last
        matches.
        """
        said = self._rubric.cleaned(hypothesis)
        if self._unasked(question, said) is not None:
            return []
        answers = self._rubric.compared(question, said)
        texts = [self._text(question, answer, said) for answer in answers]
        return [len(text) for text in texts for _ in range(self._votes)]

    async def judge(self, question: QuestionDigest, hypothesis: str) -> Verdict:
        """Compare with every answer until one passes; raises `JudgeUnavailable`."""
        said = self._rubric.cleaned(hypothesis)
        if (verdict := self._unasked(question, said)) is not None:
            return verdict
        verdicts: list[Verdict] = []
        answers = self._rubric.compared(question, said)
        for answer in answers:
            verdicts.append(await self._compare(question, answer, said))
            if verdicts[-1].verdict == "yes":
                break
        last = verdicts[-1]
        matched = {"matched_answer": answer} if last.verdict == "yes" and len(answers) > 1 else {}
        decisive = last
        if last.verdict != "yes":
            decisive = next((one for one in verdicts if one.verdict is None), last)
        took = {name: sum(one.details.get(name, 0) for one in verdicts) for name in _TOKENS}
        return replace(decisive, details={**decisive.details, **took, **matched})

    async def close(self) -> None:
        await self._chat.close()

    def _unasked(self, question: QuestionDigest, said: str) -> Verdict | None:
        if self._rubric.cleans and not said:
            return Verdict("no", "empty answer, not asked")
        if self._rubric.cleans and any(said == answer.strip() for answer in question.answers):
            return Verdict("yes", "equal to an answer, not asked")
        return None

    def _text(self, question: QuestionDigest, answer: str, said: str) -> str:
        prompt = self._rubric.prompt(question)
        return prompt.render(question=question.question, reference=answer, response=said)

    async def _compare(self, question: QuestionDigest, answer: str, said: str) -> Verdict:
        prompt = self._rubric.prompt(question)
        text = self._text(question, answer, said)
        asked = {"prompt": prompt.name, "prompt_hash": prompt.hash}
        votes: list[tuple[Decision | None, str]] = []
        replies: list[ModelReply] = []
        try:
            for number in range(self._votes):
                votes.append(await self._vote(question, text, number, replies))
        except JudgeCallFailed as error:
            failed = {"error": type(error).__name__, **tokens_of(replies)}
            return Verdict(None, str(error), details=asked | failed)
        return _with_first_reply(_counted(votes, asked | tokens_of(replies)), replies[0].text)

    async def _vote(
        self, question: QuestionDigest, text: str, number: int, replies: list[ModelReply]
    ) -> tuple[Decision | None, str]:
        menu = self._rubric.menu(question)
        again = f"Your verdict in one word, please: {' or '.join(menu)}."
        return await self._ask(
            text, number, replies, lambda reply: parse_verdict(reply, menu), again
        )

    async def _ask(
        self,
        text: str,
        vote: int,
        replies: list[ModelReply],
        read: Callable[[str], T | None],
        again: str,
    ) -> tuple[T | None, str]:
        """Return what the model's reply states, and the reply's text. If `read` finds nothing in
        the first reply, the model is asked once more with the text `again`.
        """
        messages: Messages = [{"role": "user", "content": text}]
        reply = await self._chat.ask(messages, vote=vote)
        replies.append(reply)
        stated = read(reply.text)
        if stated is not None or not reply.text.strip():
            return stated, reply.text
        messages = [
            *messages,
            {"role": "assistant", "content": reply.text},
            {"role": "user", "content": again},
        ]
        reply = await self._chat.ask(messages, vote=vote)
        replies.append(reply)
        return read(reply.text), reply.text


def _counted(votes: list[tuple[Decision | None, str]], details: dict[str, Any]) -> Verdict:
    """The verdict of the majority among readable votes; a tie, or no readable one, is unscored."""
    if len(votes) == 1:
        return Verdict(*votes[0], details=details)
    counts = Counter(decision for decision, _ in votes if decision is not None)
    ranked = counts.most_common()
    details = details | {"votes": [{"verdict": d, "raw": raw} for d, raw in votes]}
    if not ranked or (len(ranked) > 1 and ranked[0][1] == ranked[1][1]):
        return Verdict(None, votes[0][1], details=details)
    won, count = ranked[0]
    raw = next(raw for decision, raw in votes if decision == won)
    return Verdict(won, raw, certainty=round(count / sum(counts.values()), 3), details=details)


def _with_first_reply(verdict: Verdict, reply: str) -> Verdict:
    """The verdict with the model's first reply beside it, where another reply decided. The official
    scripts ask once and take that first reply.
    """
    if verdict.raw == reply:
        return verdict
    return replace(verdict, details={**verdict.details, "first_reply": reply})


def tokens_of(replies: Sequence[ModelReply]) -> dict[str, int]:
    """The number of calls behind these replies, and the sums of their tokens."""
    prompt = sum(reply.prompt_tokens or 0 for reply in replies)
    completion = sum(reply.completion_tokens or 0 for reply in replies)
    return dict(zip(_TOKENS, (len(replies), prompt, completion), strict=True))
