"""What the lexical judge sees of a question and a hypothesis: numbers from 0 to 1."""

import re

from harness.judges.lexical.conclusion import conclusion
from harness.judges.lexical.references import Reference, references
from harness.judges.lexical.refusal import declines
from harness.judges.lexical.words import MONTHS, content_words, fold, recall, sentences, tokens
from harness.records.digest import QuestionDigest

Features = dict[str, float]

_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_CONCLUDING = 3
_FEW_WORDS = 5
_MANY_PERSONAL = 3
_HEDGE = re.compile(
    r"\b(?:at least|at most|close to|around|approximately|likely|probably|possibly|might|may have|"
    r"assum|infer|unclear|cannot be sure)"
)
_NOT_WISHED = re.compile(r"\bnot (?:prefer|be interested|appreciate)")
_PERSONAL = re.compile(
    r"\b(?:since|given|based on|considering|building on|as) (?:you|your|that you|the user|our)\b"
    r"|\byou(?:'ve| have)? (?:mentioned|said|told|enjoy|like|love)|\byour (?:interest|love|previous"
    r"|recent|existing|current|experience|background|history)"
)
# Words that questions of any subject share.
_GENERIC = frozenset(
    content_words(
        "many much long often times total number day week month year ago last first recent "
        "current currently name remind previous conversation previously chat wonder wondering tell "
        "recall remember go going look looking back discuss recommend suggest suggestion able want "
        "confirm thing event order happen time think make choose sure plan upcoming get idea feel "
        "bit find lately need help way try"
    )
)
# Words of quoting, dating and declining: an answer made of them alone is a bare one.
_SPEECH = frozenset(
    content_words(
        "talk talked say said tell told mention mentioned find found know don't doesn't didn't "
        "haven't can't couldn't information conversation conversations chat history memory record "
        "nothing anything not no answer base provide provided previous previously past share "
        "shared detail details specific available ask question sorry unfortunately session "
        "sessions discuss date today yesterday "
        + " ".join([*MONTHS, *(f"{day} {day[:3]}" for day in _WEEKDAYS)])
    )
)
# Words that rubrics of any subject share.
_RUBRIC = frozenset(
    content_words(
        "user would prefer response responses suggestion suggestions recommend recommendation "
        "tailored specifically may might not general generic appreciate such like related focus "
        "build upon take account acknowledge especially particularly considering utilize previous "
        "experience interest interested"
    )
)


def fact_features(question: QuestionDigest, hypothesis: str) -> Features:
    """For answers that state facts.

    `concluded` and `said` grade what agrees with the reference, in the conclusion and anywhere;
    `rival` tells that the conclusion names something else in its place; `declines`, `hedges` and
    `off_topic` speak for themselves.
    """
    tolerant = question.question_type == "temporal-reasoning"
    ends, whole = conclusion(hypothesis), sentences(hypothesis)
    graded = [
        _graded(reference, ends, whole)
        for answer in question.answers
        for reference in references(question.question, answer, tolerant=tolerant)
    ]
    return max(graded, key=lambda features: features["concluded"]) | {
        "declines": float(declines(ends[:_CONCLUDING])),
        "hedges": float(bool(_HEDGE.search(fold(" ".join(ends[:_CONCLUDING]))))),
        "off_topic": off_topic(question, hypothesis),
    }


def _graded(reference: Reference, ends: list[str], whole: list[str]) -> Features:
    concluded, said = reference.match(ends), reference.match(whole)
    if reference.kind == "order" and not concluded.grade and not concluded.rival:
        concluded = said  # steps may be told one by one, not in the conclusion
    return {
        "concluded": concluded.grade,
        "said": max(said.grade, concluded.grade),
        "rival": float(concluded.rival),
    }


def abstention_features(question: QuestionDigest, hypothesis: str) -> Features:
    """For questions that cannot be answered from the history: whether the conclusion declines, and
    whether any sentence does.
    """
    return {
        "declines": float(declines(conclusion(hypothesis)[:_CONCLUDING])),
        "said": float(declines(sentences(hypothesis))),
        "off_topic": off_topic(question, hypothesis),
    }


def preference_features(question: QuestionDigest, hypothesis: str) -> Features:
    """For answers that should use what is known of the person; the reference is a rubric.

    `off_topic` is the share of the question's and the rubric's own words that the answer lacks,
    `personal` how often it refers to what the person is or said.
    """
    rubric = [
        part
        for answer in question.answers
        for part in sentences(answer)
        if not _NOT_WISHED.search(fold(part))
    ]
    wished = set(content_words(" ".join([*rubric, question.question]))) - _RUBRIC - _GENERIC
    personal = len(_PERSONAL.findall(fold(hypothesis)))
    return {
        "personal": min(1.0, personal / _MANY_PERSONAL),
        "off_topic": 1.0 - recall(wished, tokens(hypothesis)),
    }


def off_topic(question: QuestionDigest, hypothesis: str) -> float:
    """How little a wordy answer takes up of the question; 0 for a bare one."""
    topic = set(content_words(question.question)) - _GENERIC
    own = {word for answer in question.answers for word in content_words(answer)}
    said = set(content_words(hypothesis))
    substance = {word for word in said - own - _SPEECH if not word[0].isdigit()}
    if not topic or len(substance) < _FEW_WORDS:
        return 0.0
    return 1.0 - recall(topic, said)
