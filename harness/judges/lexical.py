"""A judge without a model: per-type rules over words, numbers and dates.

It follows the benchmark's rubrics as far as words can carry them: containment for facts, off-by-one
for temporal counts, the current value for updates, use of personal information for preferences,
recognition of the gap for abstention. It cannot see paraphrase, and long answers can satisfy it by
accident; docs/benchmark.md says how often it agrees with a model judge.
"""

import hashlib
import re
from importlib import resources

from harness.digest import QuestionDigest
from harness.judges.base import Verdict
from harness.judges.words import (
    Quantity,
    content_words,
    fold,
    quantities,
    recall,
    sentences,
    tokens,
)

_RECALL_NEEDED = 0.6
_RUBRIC_RECALL_NEEDED = 0.25
_SHORT_ANSWER = 240
_REFUSAL = re.compile(
    r"\b(?:i|we) (?:do not|don't|cannot|can't|could not|couldn't|am not|'m not|have no|didn't|did not) "
    r"(?:actually |currently |seem to |yet )?"
    r"(?:know|have|find|see|able|recall|remember|determine|answer|tell|sure|say|provide|information|record|any|come)"
    r"|i'm (?:not able|unable|not sure|sorry)|\bunable to\b"
    r"|(?:you|user) (?:have not|haven't|did not|didn't|never)(?: \w+)? (?:mention|specif|provid|said|say|tell|told|"
    r"share|stat|discuss|talk|record|bake|buy|bought)"
    r"|\bno (?:\w+ )?(?:information|record|mention|evidence|detail|data|indication|reference|memory|memories|answer)\b"
    r"|not (?:enough|sufficient|mentioned|specified|provided|available|stated|clear|recorded|explicitly)"
    r"|(?:information|history|record|context|conversation|chat|memor)\w*(?: \w+){0,4} "
    r"(?:does not|doesn't|do not|don't|did not|didn't|is not|isn't|are not|aren't|is insufficient|lacks?)"
    r"|insufficient|cannot be (?:determined|answered)|can't be (?:determined|answered)"
    r"|(?:isn't|aren't|wasn't|weren't|is not|was not) (?:any |in |mentioned|specified|provided|recorded|enough)"
)
_QUANTITY_QUESTION = re.compile(
    r"\bhow (?:many|much|long|old|often|far|big|tall)\b|\bwhat (?:percentage|was the total|is the total|speed)\b"
    r"|\bincrease in\b|\btotal (?:number|cost|amount)\b"
)
_ACCEPTABLE = re.compile(r"(?:\([^)]*\) *)?(?:is|are|would be) also acceptable\.?", re.IGNORECASE)
_POLARITY = re.compile(r"\b(yes|no)\b[,.!:; ]?", re.IGNORECASE)
_RUBRIC_GLUE = frozenset(
    content_words(
        "user would prefer response responses suggestion suggestions recommend recommendation tailored specifically "
        "may might not general generic appreciate such like related focus build upon take account acknowledge "
        "especially particularly considering utilize previous experience interest interested"
    )
)


class LexicalJudge:
    """Needs no key and no network, and decides the same way every time."""

    id = "lexical-1"

    def __init__(self) -> None:
        folder = resources.files("harness.judges")
        rules = b"".join((folder / name).read_bytes() for name in ("lexical.py", "words.py"))
        self.hash = hashlib.sha256(rules).hexdigest()[:12]

    async def judge(self, question: QuestionDigest, hypothesis: str) -> Verdict:
        """Apply the rule of the question's type."""
        passed, reason = decide(question, hypothesis)
        return Verdict("yes" if passed else "no", reason)


def decide(question: QuestionDigest, hypothesis: str) -> tuple[bool, str]:
    """Whether the hypothesis passes, and the rule that said so."""
    if not hypothesis.strip():
        return False, "empty answer"
    if question.is_abstention:
        refused = is_refusal(hypothesis)
        return refused, "says that it cannot be answered" if refused else "does not see the gap"
    if question.question_type == "single-session-preference":
        return _preference(question, hypothesis)
    for answer in accepted_answers(question.answer):
        passed, reason = _contains(question, answer, hypothesis)
        if passed:
            return True, reason
    return False, reason


def is_refusal(hypothesis: str) -> bool:
    """Whether the answer says, early or at its end, that the question cannot be answered."""
    parts = sentences(hypothesis)
    said = " ".join([*parts[:2], *parts[-2:]]) if len(parts) > 4 else hypothesis
    return _REFUSAL.search(fold(said)) is not None


def accepted_answers(answer: str) -> list[str]:
    """The reference answer and the alternatives that it names as acceptable itself."""
    parts = [part for part in sentences(answer) if part]
    alternatives = [_ACCEPTABLE.sub("", part) for part in parts if _ACCEPTABLE.search(part)]
    main = " ".join(part for part in parts if not _ACCEPTABLE.search(part))
    return [item for item in (main, *alternatives) if item.strip()] or [answer]


def _contains(question: QuestionDigest, answer: str, hypothesis: str) -> tuple[bool, str]:
    polarity = _POLARITY.match(answer)
    if polarity:
        return _polarity(polarity[1].lower(), hypothesis)
    if quantities(answer) and _is_quantity(question.question, answer):
        return _quantity(question, answer, hypothesis)
    wrong_choice = _other_choice(question.question, answer, hypothesis)
    if wrong_choice:
        return False, wrong_choice
    return _words(question, answer, hypothesis)


def _polarity(wanted: str, hypothesis: str) -> tuple[bool, str]:
    found = _POLARITY.search(hypothesis)
    if found:
        said = found[1].lower()
        return said == wanted, f"says {said}, expected {wanted}"
    said = (
        "no" if is_refusal(hypothesis) or re.search(r"\bnot\b|n't\b", fold(hypothesis)) else "yes"
    )
    return said == wanted, f"reads as {said}, expected {wanted}"


def _is_quantity(question: str, answer: str) -> bool:
    others = [word for word in content_words(answer) if not word[0].isdigit()]
    return bool(_QUANTITY_QUESTION.search(fold(question))) or len(others) <= 1


def _quantity(question: QuestionDigest, answer: str, hypothesis: str) -> tuple[bool, str]:
    wanted = quantities(answer)[0]
    slack = 1.0 if question.question_type == "temporal-reasoning" and wanted.unit else 0.0
    said = [q for part in _decisive(hypothesis) for q in quantities(part)]
    for quantity in said:
        if _agrees(wanted, quantity, slack):
            return True, f"the number {quantity.value:g} agrees with {wanted.value:g}"
    return False, f"the number {wanted.value:g} is not among those that decide the answer"


def _agrees(wanted: Quantity, said: Quantity, slack: float) -> bool:
    if wanted.unit is None or said.unit is None or wanted.unit == said.unit:
        allowed = slack if wanted.unit == said.unit else 0.0
        return abs(wanted.value - said.value) <= allowed + 1e-9
    return _in_days(wanted) is not None and _in_days(wanted) == _in_days(said)


def _in_days(quantity: Quantity) -> float | None:
    factor = {"day": 1.0, "week": 7.0}.get(quantity.unit or "")
    return quantity.value * factor if factor else None


def _decisive(hypothesis: str) -> list[str]:
    """The sentences that state the result: all of a short answer, else the first, the last and the
    bold ones.
    """
    parts = sentences(hypothesis)
    if len(hypothesis) <= _SHORT_ANSWER:
        return parts
    bold = [part for part in parts[1:-1] if "**" in part]
    return [*parts[:1], *bold, *parts[-2:]]


def _other_choice(question: str, answer: str, hypothesis: str) -> str | None:
    """For `A or B` questions: a reason when the answer settles on the one that is not expected."""
    before, separator, after = fold(question).rpartition(" or ")
    if not separator:
        return None
    wanted = set(content_words(answer))
    left, right = set(content_words(before)), set(content_words(after))
    chosen, other = (right, left) if len(wanted & right) > len(wanted & left) else (left, right)
    mine, theirs = (wanted & chosen) - other, (other & _option_words(other, before, after)) - wanted
    for part in _decisive(hypothesis):
        words = tokens(part)
        first_mine = next((i for i, word in enumerate(words) if word in mine), None)
        first_theirs = next((i for i, word in enumerate(words) if word in theirs), None)
        if first_mine is None and first_theirs is None:
            continue
        if first_mine is None or (first_theirs is not None and first_theirs < first_mine):
            return "settles on the other choice"
        return None
    return None


def _option_words(other: set[str], before: str, after: str) -> set[str]:
    """The words of the option itself: behind the last comma of its side of the question."""
    side = before.rpartition(",")[2] if other == set(content_words(before)) else after
    return set(content_words(side))


def _words(question: QuestionDigest, answer: str, hypothesis: str) -> tuple[bool, str]:
    wanted = content_words(answer) or tokens(answer)
    # What the question says already proves nothing when repeated.
    new = [word for word in wanted if word not in set(content_words(question.question))]
    said = set(tokens(hypothesis))
    share = recall(new or wanted, said)
    numbers = {word for word in new if word[0].isdigit()}
    if numbers - said:
        return False, f"misses the number {min(numbers - said)} of the reference"
    return share >= _RECALL_NEEDED, f"holds {share:.0%} of the reference's own words"


def _preference(question: QuestionDigest, hypothesis: str) -> tuple[bool, str]:
    wished = [
        part
        for part in sentences(question.answer)
        if not re.search(r"\bnot (?:prefer|be interested|appreciate)", fold(part))
    ]
    asked = set(content_words(question.question)) | _RUBRIC_GLUE
    wanted = [word for word in content_words(" ".join(wished)) if word not in asked]
    share = recall(wanted, set(tokens(hypothesis)))
    return share >= _RUBRIC_RECALL_NEEDED, f"holds {share:.0%} of the rubric's own words"
