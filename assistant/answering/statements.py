"""What was stated in recalled rounds, sentence by sentence, nearest to a question first.

Where several people speak, each statement has the name of its speaker: "I went to Paris" says
nothing to a reader who cannot tell whose words these are.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from itertools import islice, pairwise
from typing import NamedTuple

from assistant.answering.phrases import outcome_of
from assistant.answering.reader import Outcome
from memory_store import (
    Days,
    Fact,
    FactLink,
    MemoryReader,
    Recalled,
    Speaker,
    is_anothers,
    reading_of,
    superseded_parts,
)
from memory_store.language import Language, Sentence, wording
from memory_store.recall import named_speakers, speakers_of, without_names
from memory_store.scheduler import in_slices

_SENTENCES_OF_A_SIDE = 12
_LONG_WORD = re.compile(r"\w{4,}")
_MAY_ASK = 0.35
# If a sentence was answered, it is surer to ask by the first number, unless it tells as surely as
# the second.
_ANSWERED, _TOLD = 0.3, 0.9
# A sentence less sure to tell than this was a question if it was answered: "landlord phone number".
_MAY_TELL = 0.4


class Statement(NamedTuple):
    """One sentence with who said it, in which round, on which day, about which days.

    `closeness` is to the question, on the scale of a recall's similarity; `similarity` is that of
    its round.
    """

    text: str
    speaker: Speaker
    source: Recalled
    event_dates: tuple[Days, ...] = ()
    closeness: float = 0.0
    superseded_by: FactLink | None = None
    """The user's later statement since which this one no longer holds."""
    said_by: str = ""
    """The name of the speaker, where several people speak."""
    lead: str = ""
    """The sentence before, where this one points back to it ("Before that, ...")."""
    lead_dates: tuple[Days, ...] = ()
    """The days that the lead talks about."""
    passage: str = ""
    """The statement with the sentences around it, where it is quoted with them."""
    weight: float = 0.0
    """How good a quote it is in its passage."""
    asking: float = 0.0
    """How sure it is that it asks and tells nothing, from 0 to 1."""

    @property
    def quotable(self) -> str:
        """The text that can be quoted by itself: the passage, else the statement with what it
        points back to."""
        return self.passage or f"{self.lead} {self.text}".strip()

    @property
    def key(self) -> tuple[str, str]:
        """The key of the same statement, however it was weighed."""
        return self.source.record.id, self.text

    @property
    def is_of_people(self) -> bool:
        """Whether it is of a conversation whose speakers have names: nobody's diary."""
        return bool(self.source.record.round.user_name)

    @property
    def said_on(self) -> date:
        """The day it was said."""
        return self.source.record.round.session_date.date()

    @property
    def happened_on(self) -> date | None:
        """The one day it talks about, if it names exactly one."""
        return _the_day(self.event_dates)

    @property
    def quoted_day(self) -> date | None:
        """The one day that what can be quoted talks about."""
        return _the_day(self.event_dates + self.lead_dates)

    @property
    def day(self) -> date:
        """The day it happened where that is known, else the day it was said."""
        return self.happened_on or self.said_on

    @property
    def nearness(self) -> float:
        """The closeness of the statement and that of its round together."""
        return self.closeness + self.source.similarity


def _the_day(dates: Sequence[Days]) -> date | None:
    if len(dates) != 1 or dates[0].first != dates[0].last:
        return None
    return dates[0].first


async def nearest_statements(
    store: MemoryReader,
    question: str,
    recalled: Sequence[Recalled],
    *,
    replies: bool = True,
    about_replies: bool = False,
    leads: bool = True,
) -> list[Statement]:
    """The statements in these rounds, nearest first. The user's questions are among them, with
    `asking` set.

    Of a reply these are the sentences that share a word with the question. Of the best round's they
    are all, if replies are asked for or nothing else was found: they may share words only with
    their request.
    """
    found = [s async for item in in_slices(recalled) for s in said_in(item, store.language)]
    if replies:
        asked = frozenset(_LONG_WORD.findall(question.lower()))
        found += [
            s async for item in in_slices(recalled) for s in _replied(item, asked, store.language)
        ]
        if recalled and (about_replies or not found):
            found += [s for s in _replied(recalled[0], None, store.language) if s not in found]
    if several_speak(recalled):
        found = [s._replace(said_by=name_of(s.source, s.speaker)) for s in found]
        question = asked_of(question, recalled)
    return await weighed(store, question, found, leads=leads)


async def weighed(
    store: MemoryReader, question: str, statements: Sequence[Statement], *, leads: bool = True
) -> list[Statement]:
    """The statements with their closeness to this question, nearest first. With `leads` each counts
    with its lead: in "I have a cat. She is called Miso." only both tell a cat's name."""
    texts = [s.quotable if leads else s.text for s in statements]
    closeness = await store.closeness(question, texts)
    near = [s._replace(closeness=by) for s, by in zip(statements, closeness, strict=True)]
    return sorted(near, key=lambda s: -s.nearness)


def with_days(statements: Sequence[Statement], language: Language) -> list[Statement]:
    """The statements with the days that they talk about, also those that are no facts."""
    return [
        s._replace(event_dates=language.event_days(s.text, s.source.record.round.session_date))
        if s.speaker is not Speaker.ASSISTANT and not s.event_dates
        else s
        for s in statements
    ]


def superseded_among_others(statements: Sequence[Statement], language: Language) -> list[Statement]:
    """The statements, in their order. One about somebody else links to the statement of the same
    speaker that replaced it later."""
    users = [s for s in statements if s.speaker is Speaker.USER]
    in_order = told_in_order(users)
    links: dict[tuple[str, str], FactLink] = {}
    for name in {s.said_by for s in in_order}:
        said = [s for s in in_order if s.said_by == name]
        for older, newer in language.replacements([s.text for s in said]).items():
            later = said[newer]
            round = later.source.record.round
            links[said[older].key] = FactLink(round.id, later.text, round.session_date)
    return superseded(statements, links)


def superseded(
    statements: Sequence[Statement], links: Mapping[tuple[str, str], FactLink]
) -> list[Statement]:
    """The statements, each that has a link and was not replaced yet marked as replaced by it."""
    if not links:
        return list(statements)
    return [
        s._replace(superseded_by=links[s.key]) if s.superseded_by is None and s.key in links else s
        for s in statements
    ]


def told_in_order(statements: Sequence[Statement]) -> list[Statement]:
    """The statements in the order in which they were told."""
    return sorted(statements, key=_place)


def parts_gone(quote: Statement) -> list[Fact]:
    """Parts of a sentence that no longer hold, where it states several things."""
    facts = quote.source.record.facts if quote.speaker is Speaker.USER else ()
    return superseded_parts(quote.quotable, facts)


def _place(statement: Statement) -> tuple[datetime, str, int, int]:
    round = statement.source.record.round
    position = round.user_text.find(statement.text)
    return round.session_date, round.session_id, round.round_index, position


def said_in(found: Recalled, language: Language) -> list[Statement]:
    """The user's statements in a round, with the days that its facts talk about; questions come
    last."""
    facts = {fact.text: fact for fact in found.record.facts}
    every = reading_of(found.record.round, language).sentences
    points_back = wording("answers.points_back")
    leads = {
        after.text: before.text
        for before, after in pairwise(every)
        if points_back.search(after.text)
    }
    told = {told_in(one, facts): one for one in every}
    whose = {fact.speaker for fact in facts.values() if fact.speaker is not Speaker.ASSISTANT}
    # A text that is no fact has the speaker of the facts around it.
    otherwise = Speaker.QUOTED if whose == {Speaker.QUOTED} else Speaker.USER
    statements = [_stated(found, text, one, facts, otherwise, leads) for text, one in told.items()]
    return sorted(statements, key=lambda one: one.asking >= ASKS)[:_SENTENCES_OF_A_SIDE]


def _asking(found: Recalled, sentence: Sentence) -> float:
    """How sure it is that a sentence only asks, or greets. The outcome counts, too: a sentence that
    was answered as a question or greeting was taken for one."""
    outcome = outcome_of(found.record.round)
    if outcome is Outcome.POLITE:
        return 1.0 - sentence.telling
    if outcome not in (Outcome.QUOTED, Outcome.UNKNOWN) or sentence.telling >= _TOLD:
        return sentence.only_asks
    asks = min(1.0, sentence.only_asks + _ANSWERED)
    return max(asks, 1.0 - sentence.telling) if sentence.telling < _MAY_TELL else asks


ASKS, ONLY_ASKS = 0.55, 0.8
"""How sure it has to be that a sentence only asks, for it to count as a question, and for it to
surely be one: of 300 sentences of plain messages that tell something none is as sure."""


def told_in(sentence: Sentence, facts: Iterable[str]) -> str:
    """What a sentence states: the fact that a question begins with ("I moved to Lyon, where can I
    swim?"), or all of it."""
    begins = (one for one in facts if sentence.text.startswith(one) and sentence.text != one)
    begun = max(begins, key=len, default="")
    return begun if begun and sentence.asking > _MAY_ASK else sentence.text


def is_ours(found: Recalled) -> bool:
    """Whether the round was answered without a language model: such words are not quoted again."""
    return outcome_of(found.record.round) not in (Outcome.ANSWERED, None)


def told_texts(found: Recalled) -> list[str]:
    """The texts told in the round. If it was answered without a language model, only what the
    user's sentences state: to ask for something is not to tell it."""
    round = found.record.round
    if not is_ours(found):
        return [round.user_text, round.assistant_text]
    facts = [fact.text for fact in found.record.facts]
    told = ((one, told_in(one, facts)) for one in reading_of(round).sentences)
    return [" ".join(text for one, text in told if one.only_asks < ASKS or text != one.text)]


def _stated(
    found: Recalled,
    text: str,
    sentence: Sentence,
    facts: Mapping[str, Fact],
    otherwise: Speaker,
    leads: Mapping[str, str],
) -> Statement:
    """The statement of a sentence, with the sentence that it points back to as its lead."""
    fact = facts.get(text)
    if fact is not None and fact.speaker is Speaker.ASSISTANT:
        fact = None
    lead = leads.get(text, "")
    return Statement(
        text,
        fact.speaker if fact else otherwise,
        found,
        fact.event_dates if fact else (),
        superseded_by=fact.superseded_by if fact else None,
        lead=lead,
        lead_dates=facts[lead].event_dates if lead in facts else (),
        asking=_asking(found, sentence) if text == sentence.text else 0.0,
    )


def _replied(found: Recalled, asked: frozenset[str] | None, language: Language) -> list[Statement]:
    """The sentences of the reply that share a word with `asked`; all where `asked` is None."""
    if is_ours(found):
        return []
    replied = (
        Statement(text, Speaker.ASSISTANT, found)
        for text in language.sentences(found.record.round.assistant_text)
        if (asked is None or asked & set(_LONG_WORD.findall(text.lower())))
        and not wording("answers.about_itself").search(text)
    )
    return list(islice(replied, _SENTENCES_OF_A_SIDE))


def several_speak(recalled: Sequence[Recalled]) -> bool:
    """Whether more than one name stands at the user's sides, or one side is by another member of a
    shared space."""
    names = {name_of(one, Speaker.USER).casefold() for one in recalled}
    return len(names - {""}) > 1 or any(is_anothers(one.record.round) for one in recalled)


def name_of(found: Recalled, speaker: Speaker) -> str:
    """The name told with this side of the round; empty where none was."""
    round = found.record.round
    name = round.assistant_name if speaker is Speaker.ASSISTANT else round.user_name
    return (name or "").strip()


def asked_of(question: str, recalled: Sequence[Recalled]) -> str:
    """The question without the names of the speakers it asks about: a name stands in what others
    say, not in what its owner says."""
    rounds = (one.record.round for one in recalled)
    told = (speakers_of(round.user_name, round.assistant_name) for round in rounds)
    return without_names(question, named_speakers(question, told))
