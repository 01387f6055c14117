"""What is certain of a round, and written beside it for a language model: the days that "yesterday"
and "last week" name, and which of its statements hold no longer.

A model reads both out of the text with some effort, and now and then wrongly. What rules can only
guess at is left to the model.
"""

from assistant.by_digest import ByDigest
from assistant.dates import print_day
from assistant.reading.excerpt import shortened
from assistant.reading.packing import Beside
from memory_store import Days, Fact, FactLink, Kind, Language, Record, Round, Speaker, kind_of

_LONGEST = 160
# Of a pasted text nobody needs every day.
_MOST = 8


def beside(record: Record, language: Language) -> Beside:
    """What stands beside a round."""
    gone = [(fact, fact.superseded_by) for fact in record.facts if fact.superseded_by]
    apart = [(fact, link) for fact, link in gone if _contradicts(record, link)]
    replaced = [pair for pair in gone if pair not in apart]
    return Beside(
        days=_days(record, language),
        replaced=tuple(_printed(fact, link) for fact, link in replaced[:_MOST]),
        contradicted=tuple(_printed(fact, link) for fact, link in apart[:_MOST]),
    )


def _days(record: Record, language: Language) -> tuple[str, ...]:
    """The days of the user's words; of a quoted text's nobody knows when it was written."""
    if any(fact.speaker is Speaker.QUOTED for fact in record.facts):
        return ()
    round = record.round
    said = f"{language.name} {round.session_date.isoformat()} {round.user_text}"
    return _DAYS.of(said, lambda: _counted(round, language))


# The same rounds are read for question after question. A few hundred bytes each.
_DAYS = ByDigest[tuple[str, ...]](20_000)


def _counted(round: Round, language: Language) -> tuple[str, ...]:
    named = language.counted_days(round.user_text, round.session_date)
    return tuple(f"{words} = {_print(days)}" for words, days in [*dict.fromkeys(named)][:_MOST])


def _print(days: Days) -> str:
    return "/".join(dict.fromkeys(str(day) for day in (days.first, days.last)))


def _contradicts(record: Record, link: FactLink) -> bool:
    """Whether two statements of one day cannot both hold, of which none puts the other right. A
    model that linked them has read that it does."""
    same_day = link.said_at.date() == record.round.session_date.date()
    return same_day and link.by == "rule" and kind_of(link.text) is not Kind.CORRECTS


def _printed(fact: Fact, link: FactLink) -> str:
    older, newer = (shortened(text, _LONGEST) for text in (fact.text, link.text))
    return f"“{older}” by “{newer}” on {print_day(link.said_at)}"
