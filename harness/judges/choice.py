"""The judge of questions with options: which option an answer names, decided without a model."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import UsageError
from harness.judges.base import Verdict
from harness.records.digest import QuestionDigest

_LETTERS = "abcdefghij"
# The last announced letter counts: models think aloud before. "The answer is a guess" names none.
# "Option" alone announces nothing: models also say what is wrong with the others.
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
    """An answer is right when it names the right option, by letter or text, and no other."""

    id = "choice-1"
    hash = "c401ce000003"
    account: Mapping[str, Any] = {"kind": "choice"}
    meter = None

    def prompts(self, question: QuestionDigest, hypothesis: str) -> list[int]:
        """None."""
        return []

    async def judge(self, question: QuestionDigest, hypothesis: str) -> Verdict:
        """Compare the option that is named with the right one."""
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
        """Nothing is open."""


def named_option(answer: str, options: Sequence[str]) -> int | None:
    """The index of the one option that an answer names, None where it names none or several.

    In this order: a letter alone; the last letter after "answer", "choice", "option is" or a word
    of choosing; a letter at the beginning; the only letter after "option", or in brackets; the only
    option whose text occurs.
    """
    said = answer.lower()
    letter = _letter(said)
    if letter is not None:
        index = _LETTERS.index(letter)
        return index if index < len(options) else None
    words = _words(said)
    found = [i for i, option in enumerate(options) if f" {_words(option)} " in f" {words} "]
    # "Red" occurs in "dark red": the longer one is meant.
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
