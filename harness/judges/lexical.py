"""A judge without a model: per-type rules over words, numbers and dates.

It follows the benchmark's rubrics as far as words can carry them: containment for facts, off-by-one
for temporal counts, the current value for updates, use of personal information for preferences,
recognition of the gap for abstention. It cannot see paraphrase, and long answers can satisfy it by
accident; docs/benchmark.md says how often it agrees with a model judge.
"""

import hashlib
import re
from importlib import resources
from typing import NamedTuple

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
_RUBRIC_RECALL_NEEDED = 0.3
_SHORT_ANSWER = 240
_NO_KNOWLEDGE = re.compile(
    r"\b(?:i|we) (?:do not|don't|cannot|can't|could not|couldn't|am not|have no|didn't|did not) "
    r"(?:actually |currently |seem to |yet )?(?:know|have|find|see|able|recall|remember|determine|"
    r"answer|tell|sure|say|provide|information|record|any|come)"
    r"|\bi'm (?:not able|unable|not sure|sorry)|\b(?:unable|impossible) to\b|insufficient"
    r"|\bplease provide\b|\bneed (?:some|more|additional) (?:information|detail|context)"
)
_NO_RECORD = re.compile(
    r"\b(?:you|user) (?:have not|haven't|did not|didn't|never)(?: \w+)? (?:mention|specif|provid|"
    r"said|say|tell|told|share|stat|discuss|talk|record)"
    r"|\bno (?:\w+ )?(?:information|record|mention|evidence|detail|data|indication|reference|"
    r"memory|memories|answer)\b"
    r"|\bnot (?:enough|sufficient|mentioned|specified|provided|available|stated|clear|recorded|"
    r"explicitly|possible)"
    r"|\b(?:information|history|record|context|conversation|chat|memor)\w*(?: \w+){0,4} "
    r"(?:does not|doesn't|do not|don't|did not|didn't|is not|isn't|are not|aren't|lacks?)\b"
    r"|\b(?:cannot|can't) be (?:determined|answered)"
    r"|\b(?:isn't|aren't|wasn't|weren't) (?:any|in|mentioned|specified|provided|recorded|enough)\b"
)
_QUANTITY_QUESTION = re.compile(
    r"\bhow (?:many|much|long|old|often|far|big|tall)\b|\bincrease in\b|\bwhat (?:percentage|speed)"
    r"|\btotal (?:number|cost|amount)\b"
)
_ORDER_QUESTION = re.compile(r"\b(?:the|in what|in which) order\b")
_STEP = re.compile(r"[.;,]|\b(?:first|then|next|finally|lastly|followed by|after that)\b")
_ACCEPTABLE = re.compile(r"(?:\([^)]*\) *)?(?:is|are|would be) also acceptable\.?", re.IGNORECASE)
_GOLD_POLARITY = re.compile(r"(yes|no)\b(?! \w)", re.IGNORECASE)
_SAID_POLARITY = re.compile(r"(?:^|[:*(\"]\s*)(yes|no)\b(?=\W*$|[,.!:;*])", re.IGNORECASE)
_CONCLUSION = re.compile(
    r"\bfinal answer\b\W*|\banswer\W*:\W*|\b(?:in )?conclusion\b\W*|\btherefore\b\W*|\bthus\b\W*"
    r"|(?:^|(?<=[.\n]))\s*(?:so|hence)\b\W*",
    re.IGNORECASE,
)
_PREFACE = re.compile(
    r"(?:to (?:determine|answer|find|calculate|identify)|let's|let us|i will|here's|here is)\b"
)
_NOT_WISHED = re.compile(r"\bnot (?:prefer|be interested|appreciate)")
_RUBRIC_GLUE = frozenset(
    content_words(
        "user would prefer response responses suggestion suggestions recommend recommendation "
        "tailored specifically may might not general generic appreciate such like related focus "
        "build upon take account acknowledge especially particularly considering utilize previous "
        "experience interest interested"
    )
)


class Decided(NamedTuple):
    """A decision with its reason."""

    passed: bool
    reason: str


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


def decide(question: QuestionDigest, hypothesis: str) -> Decided:
    """Whether the hypothesis passes, and the rule that said so."""
    if not hypothesis.strip():
        return Decided(False, "empty answer")
    if question.is_abstention:
        refused = is_refusal(hypothesis)
        return Decided(refused, "sees the gap" if refused else "does not see the gap")
    if question.question_type == "single-session-preference":
        return _preference(question, hypothesis)
    accepted = accepted_answers(question.answer)
    decided = [_contains(question, answer, accepted, hypothesis) for answer in accepted]
    return next((item for item in decided if item.passed), decided[0])


def is_refusal(hypothesis: str) -> bool:
    """Whether the answer says, early or at its end, that the question cannot be answered."""
    parts = sentences(hypothesis)
    said = fold(" ".join([*parts[:2], *parts[-3:]]) if len(parts) > 5 else hypothesis)
    return bool(_NO_KNOWLEDGE.search(said) or _NO_RECORD.search(said))


def accepted_answers(answer: str) -> list[str]:
    """The reference answer and the alternatives that it names as acceptable itself."""
    parts = sentences(answer)
    alternatives = [_ACCEPTABLE.sub("", part) for part in parts if _ACCEPTABLE.search(part)]
    main = " ".join(part for part in parts if not _ACCEPTABLE.search(part))
    return [item for item in (main, *alternatives) if item.strip()] or [answer]


def _contains(
    question: QuestionDigest, answer: str, accepted: list[str], hypothesis: str
) -> Decided:
    asked = fold(question.question)
    polarity = _GOLD_POLARITY.match(answer)
    if polarity:
        return _polarity(polarity[1].lower(), hypothesis)
    if _is_quantity(asked, answer):
        # A reference that lists its own tolerance gets no further one.
        temporal = question.question_type == "temporal-reasoning" and len(accepted) == 1
        return _quantity(quantities(answer)[0], hypothesis, slack=1.0 if temporal else 0.0)
    if _ORDER_QUESTION.search(asked):
        return _order(answer, hypothesis)
    if " or " in asked:
        choice = _choice(asked, answer, hypothesis)
        if choice is not None:
            return choice
    return _words(question, answer, hypothesis)


def _polarity(wanted: str, hypothesis: str) -> Decided:
    parts = [hypothesis, *_decisive(hypothesis)]
    found = [m[1].lower() for part in parts if (m := _SAID_POLARITY.search(part))]
    if found:
        said = found[0]
    else:
        negative = is_refusal(hypothesis) or re.search(r"\bnot\b|n't\b", fold(parts[-1]))
        said = "no" if negative else "yes"
    return Decided(said == wanted, f"says {said}, expected {wanted}")


def _is_quantity(asked: str, answer: str) -> bool:
    if not quantities(answer):
        return False
    others = [word for word in content_words(answer) if not word[0].isdigit()]
    return bool(_QUANTITY_QUESTION.search(asked)) or len(others) <= 1


def _quantity(wanted: Quantity, hypothesis: str, *, slack: float) -> Decided:
    said = [quantity for part in _decisive(hypothesis) for quantity in quantities(part)]
    for quantity in said:
        if _agrees(wanted, quantity, slack if wanted.unit else 0.0):
            return Decided(True, f"says {quantity.value:g}, expected {wanted.value:g}")
    return Decided(False, f"does not conclude with {wanted.value:g}")


def _agrees(wanted: Quantity, said: Quantity, slack: float) -> bool:
    if wanted.unit is None or said.unit is None or wanted.unit == said.unit:
        allowed = slack if wanted.unit == said.unit else 0.0
        return abs(wanted.value - said.value) <= allowed + 1e-9
    return _in_days(wanted) is not None and _in_days(wanted) == _in_days(said)


def _in_days(quantity: Quantity) -> float | None:
    factor = {"day": 1.0, "week": 7.0}.get(quantity.unit or "")
    return quantity.value * factor if factor else None


def _conclusion(hypothesis: str) -> str | None:
    """What follows the last word that announces a result, None without such a word."""
    ends = [match.end() for match in _CONCLUSION.finditer(hypothesis)]
    tails = [hypothesis[end:].strip() for end in reversed(ends)]
    return next((tail for tail in tails if content_words(tail)), None)


def _decisive(hypothesis: str) -> list[str]:
    """The sentences that state the result, the most telling first.

    All of a short answer; else the announced conclusion, the last, the bold and the first ones.
    """
    parts = [p for p in sentences(hypothesis) if not _PREFACE.match(p.lower())]
    if len(hypothesis) <= _SHORT_ANSWER or len(parts) <= 2:
        return parts or [hypothesis]
    conclusion = _conclusion(hypothesis)
    if conclusion is not None:
        return [*sentences(conclusion)[:2], *parts[-2:], parts[0]]
    bold = [part for part in parts[1:-1] if "**" in part and not part.endswith(":**")]
    first = parts[:2] if parts[0].endswith(":") else parts[:1]
    return [*parts[-2:], *bold, *first]


def _order(answer: str, hypothesis: str) -> Decided:
    """Whether the steps of the reference occur in its order, each by words that no other has."""
    steps = [set(content_words(step)) for step in _STEP.split(fold(answer)) if step]
    steps = [step for step in steps if step]
    own = [step - set().union(*(s for s in steps if s is not step)) for step in steps]
    own = [step for step in own if step]
    for text in (_conclusion(hypothesis), hypothesis):
        words = tokens(text or "")
        places = [next((i for i, w in enumerate(words) if w in step), None) for step in own]
        known = [place for place in places if place is not None]
        if len(known) == len(own):
            return Decided(known == sorted(known), "compared the order of the steps")
    return Decided(False, "does not name every step")


def _choice(asked: str, answer: str, hypothesis: str) -> Decided | None:
    """For `A or B`: whether the answer settles on the expected one; None where that is unclear."""
    before, _, after = asked.rpartition(" or ")
    left, right = set(content_words(before.rpartition(",")[2])), set(content_words(after))
    wanted = set(content_words(answer))
    mine, theirs = (left, right) if len(wanted & left) >= len(wanted & right) else (right, left)
    mine, theirs = (mine & wanted) - theirs, theirs - wanted
    if not mine or not theirs:
        return None
    for part in _decisive(hypothesis):
        words = tokens(part)
        named = next((word for word in words if word in mine or word in theirs), None)
        if named is not None:
            return Decided(named in mine, f"settles on the choice with {named!r}")
    return None


def _words(question: QuestionDigest, answer: str, hypothesis: str) -> Decided:
    wanted = content_words(answer) or tokens(answer)
    # What the question says already proves nothing when repeated.
    asked = set(content_words(question.question))
    new = [word for word in wanted if word not in asked] or wanted
    said = set(tokens(hypothesis))
    if question.question_type == "knowledge-update":
        said = set(tokens(" ".join(_decisive(hypothesis))))
    numbers = {word for word in new if word[0].isdigit()}
    if numbers - said:
        return Decided(False, f"misses the number {min(numbers - said)} of the reference")
    share = recall(new, said)
    return Decided(share >= _RECALL_NEEDED, f"holds {share:.0%} of the reference's own words")


def _preference(question: QuestionDigest, hypothesis: str) -> Decided:
    wished = [part for part in sentences(question.answer) if not _NOT_WISHED.search(fold(part))]
    asked = set(content_words(question.question)) | _RUBRIC_GLUE
    wanted = [word for word in content_words(" ".join(wished)) if word not in asked]
    share = recall(wanted, set(tokens(hypothesis)))
    return Decided(share >= _RUBRIC_RECALL_NEEDED, f"holds {share:.0%} of the rubric's own words")
