"""What a question asks for: one fact, a count, an order, an overview, advice, what was replied.

Only general turns of phrase count here, those of `[asked]` in the words of English. They decide how
many rounds are read and how they are laid out, never what the answer is.
"""

import re
from dataclasses import dataclass, replace

from memory_store._spans import TimeRange
from memory_store._types import Days
from memory_store.language.kinds import ASKING, Kind, kinds_of, most_of
from memory_store.language.languages import ENGLISH, languages_of, wording

# A text asks for a summary only if it asks for anything with this certainty.
_ASKS = 0.3
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")


@dataclass(frozen=True, slots=True)
class Asked:
    """Which of these a question asks for; several may hold at once."""

    about_replies: bool = False
    """What the assistant said."""
    about_user: bool = False
    """What is known of the user at all."""
    counts: bool = False
    """A number of things, or all of them."""
    orders: bool = False
    """In which order things happened."""
    overview: bool = False
    """A summary of what was said, or the order of it: no few rounds answer it."""
    about_time: bool = False
    """Its answer depends on dates: a day, a span, an order, the first or the last."""
    wants_advice: bool = False
    """Advice that should fit the person, and not what was replied before."""
    impersonal: bool = False
    """Whether it surely speaks neither of the user nor to somebody, as a question of general
    knowledge does."""
    slot: str | None = None
    """What it wants the value of, where a frame surely fits ("Where do I live?")."""
    time_range: TimeRange | None = None
    """The days that it names."""
    days: Days | None = None
    """The same where it names nothing else to go by: no round is like "What did I do in May?"."""

    def within(self, time_range: TimeRange | None, text: str) -> "Asked":
        """The same with the days that somebody else read in the text."""
        return replace(self, time_range=time_range, days=days_alone(text, time_range))


def asked_in(text: str) -> Asked:
    """What the turns of phrase of a question ask for; without its slot and its days."""
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
        impersonal=languages_of(text) == {ENGLISH} and not _says("personal", text),
    )


def _says(name: str, text: str) -> bool:
    """Whether a turn of phrase of a list is in a text."""
    return wording(f"asked.{name}").search(text) is not None


def _names_overview(text: str) -> bool:
    """Whether the words are those for a summary of what was said, or for the order in which it
    was. A few rounds cannot answer that, and none is nearest to it."""
    if _says("orders", text) and (_says("past_talk", text) or _says("was_said", text)):
        return True
    return any(
        _says("summary", one) and _says("ours", one) and not _says("precise", one)
        for one in _SENTENCE.findall(text)
    )


def days_alone(question: str, range_: TimeRange | None) -> Days | None:
    """The days that the question asks for, where it names nothing else to go by."""
    if range_ is None:
        return None
    rest = " ".join(question.replace(range_.text, " ").split()).strip(" ,.?!")
    return range_.days if wording("asked.only_days").fullmatch(rest) else None
