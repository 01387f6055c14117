"""What a question asks for: one fact, a count, an order, an overview, advice, what was replied.

Only general turns of phrase count here, listed under `[asked]` in the words of English. They decide
how many rounds are read and how they are laid out, never what the answer is.

Facts are kept as they were said: "I fixed the mountain bike on Saturday". The question about them,
"Which bike did I fix the past weekend?", opens with words that no statement has, and it names the
time in another way. Both pull its vector away from the fact's. Without these words it lies nearer,
and the mean of both vectors finds more than either (measured in benchmarks/LOG.md).
"""

import re
from dataclasses import dataclass, replace
from functools import cache

from memory_store._spans import TimeRange
from memory_store._types import Days
from memory_store.language.kinds import ASKING, Kind, kinds_of, most_of
from memory_store.language.languages import (
    ENGLISH,
    languages_of,
    spelled,
    word_table,
    wording,
)
from memory_store.language.statements import stated

# A text asks for a summary only if it asks for something with at least this certainty.
_ASKS = 0.3
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question asks for; several of these may hold at once."""

    about_replies: bool = False
    """It asks what the assistant said."""
    about_user: bool = False
    """It asks what is known of the user in general."""
    counts: bool = False
    """It asks for a number of things, or for all of them."""
    orders: bool = False
    """It asks in which order things happened."""
    overview: bool = False
    """It asks for a summary of what was said, or for its order, which a few rounds cannot give."""
    about_time: bool = False
    """Its answer depends on dates: a day, a span, an order, the first or the last."""
    wants_advice: bool = False
    """It asks for advice that should fit the person, and not for an earlier reply."""
    impersonal: bool = False
    """Whether it surely speaks neither of the user nor to somebody, as a question of general
    knowledge does."""
    slot: str | None = None
    """The slot whose value it asks for, if a frame surely fits ("Where do I live?")."""
    time_range: TimeRange | None = None
    """The days that it names."""
    days: Days | None = None
    """These days, if it names nothing else: no round is similar to "What did I do in May?"."""

    def within(self, time_range: TimeRange | None, text: str) -> "Asked":
        """The same, with the days that the caller has read in the text."""
        return replace(self, time_range=time_range, days=days_alone(text, time_range))


def asked_in(text: str) -> Asked:
    """What a question asks for by its turns of phrase; without its slot and its days."""
    text = text.replace("’", "'")
    spans = _says("spans", text)
    overview = _names_overview(text) and (
        "?" in text
        or most_of(kinds_of(text), (*ASKING, Kind.TASK)) >= _ASKS
        or any(_says("wish", one) for one in _SENTENCE.findall(text))
    )
    about_replies = _says("about_replies", text) or (_says("past_talk", text) and not overview)
    return Asked(
        about_replies=about_replies,
        about_user=_says("about_user", text),
        counts=_says("counts", text) and not spans,
        orders=_says("orders", text),
        overview=overview,
        about_time=spans or _says("about_time", text),
        wants_advice=_says("advice", text) and not about_replies,
        impersonal=_is_impersonal(text),
    )


def _says(name: str, text: str) -> bool:
    """Whether the text has a turn of phrase of this list."""
    return wording(f"asked.{name}").search(text) is not None


def _is_impersonal(text: str) -> bool:
    """Whether a text is surely English and speaks of nobody. The "I" of "How do I boil an egg?" and
    the "me" of "Give me a synonym" mean anybody, so they do not count."""
    bare = wording("asked.anybody").sub("", text)
    is_english = bare != text or languages_of(text) == {ENGLISH}
    return is_english and not wording("asked.personal").search(bare)


def _names_overview(text: str) -> bool:
    """Whether the words ask for a summary of what was said, or for the order of it. A few rounds
    cannot answer that, and no round is nearest to it."""
    if _says("orders", text) and (_says("past_talk", text) or _says("was_said", text)):
        return True
    return any(
        _says("summary", one) and _says("ours", one) and not _says("precise", one)
        for one in _SENTENCE.findall(text)
    )


def days_alone(question: str, range_: TimeRange | None) -> Days | None:
    """The days that the question asks about, if it names nothing else; otherwise None."""
    if range_ is None:
        return None
    rest = " ".join(question.replace(range_.text, " ").split()).strip(" ,.?!")
    return range_.days if wording("asked.only_days").fullmatch(rest) else None


# A longer text does not just ask for the value of a slot.
_LONGEST = 300
# A shorter question means little without the sentences before it.
_SHORTEST = 25


def asked_slot(question: str) -> str | None:
    """The slot of the statement that would answer a question such as "Where do I live?"."""
    if len(question) > _LONGEST:
        return None
    for pattern, answers in _frames():
        if match := pattern.fullmatch(" ".join(question.split())):
            known = (stated(answer.format(**match.groupdict())) for answer in answers)
            return next((one.slot for one in known if one), None)
    return None


@cache
def _frames() -> list[tuple[re.Pattern[str], list[str]]]:
    """Patterns of questions, each with the statements that may answer it."""
    return [
        (re.compile(spelled(one["question"], "questions"), re.I), one["answers"])
        for one in word_table("english", "questions")["asked"]
    ]


def as_statement(question: str) -> str:
    """The question as the statement that answers it: 'How many bikes do I own?' → 'I bikes I own'.

    The result is not meant to be read but to be embedded. A text without a known opening (a
    statement, another language) and a wish for advice are returned unchanged.
    """
    bare = _asking(question)
    if wording("questions.wish").search(bare):
        return question
    for asks in ("polite", "opening", "auxiliary"):
        bare = wording(f"questions.{asks}").sub("", bare).strip()
    if bare == _asking(question):
        return question
    for differs in ("inversion", "named_time"):
        bare = wording(f"questions.{differs}").sub(" ", bare)
    bare = " ".join(bare.split()).strip(" ?.!,")
    if not bare:
        return question
    return bare if wording("questions.first_person").match(bare) else f"I {bare}"


def _asking(text: str) -> str:
    """The last sentence, which asks; the whole text if that sentence means little alone."""
    last = re.split(r"(?<=[.!?])\s+", text.strip())[-1]
    return last if len(last) >= _SHORTEST else text.strip()
