"""What a message wants done, beside being answered and kept.

How sure one has to be of each act follows from what a wrong guess costs
(docs/decisions/0021-what-a-wrong-guess-may-cost.md).
"""

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

from assistant.answering.packing import shortened
from assistant.answering.phrases import (
    ABOUT,
    GOODBYE,
    HELLO,
    HOW_TO_BEGIN,
    KEPT,
    NEEDS_MODEL,
    NO_SMALL_TALK,
    PUT_RIGHT,
    STILL_HOLDS,
    UNTIL_WHEN,
    WELCOME,
)
from assistant.answering.reader import Outcome
from assistant.answering.statements import told_in
from assistant.chat.call import MAY_TELL, ChatCall, Meaning, UserSession
from assistant.chat.forgetting import WHAT_TO_FORGET, Forgetting, Said
from assistant.dates import print_day
from memory_store import (
    Condition,
    Correction,
    Days,
    Fact,
    FactLink,
    MemoryReader,
    MemoryStore,
    Round,
)
from memory_store.language import (
    ASKING,
    Kind,
    Language,
    Sentence,
    confirms,
    confirms_deletion,
    declines,
    is_condition,
    is_open,
    most_of,
    still_holds,
    without_lead,
    wording,
)
from memory_store.scheduler import aside

NOT_KEPT = (
    "This message is not stored, as you asked. If it should be, say it again, beginning with "
    "“remember:”."
)
NOT_KEPT_LINE = "(Your message and this answer are not stored.)"
NOT_KEPT_MODE = "Not stored: memory is not written for this message."
ALL_RIGHT = "All right."
NO_WORDS = f"I see no words in that. {HOW_TO_BEGIN}"
NOTHING_WAITS = "Nothing is waiting to be deleted, and nothing was deleted."
MAY_BE_PRIVATE = "I stored this. If it should not be, say “forget that”."

# How sure a request to forget has to be for an offer to delete, and for asking back. An offer
# deletes nothing, but the message is not stored; asking back costs a message.
_OFFERS, _ASKS_BACK = 0.5, 0.3
# A message that surely refuses is not stored. One that may refuse is stored, and the answer says
# so.
_REFUSES, _MAY_REFUSE = 0.5, 0.2
# A polite reply answers nothing, so a question that is taken for small talk, or for work for a
# model, would be lost.
_POLITE, _WORK, _LONGEST_POLITE = 0.6, 0.8, 100
_ASKS_MEMORY = 0.4
# Of 28,500 questions and messages about other things none is as surely about us.
_ABOUT_US = 0.93
# The number of sessions whose last question is remembered.
_MOST_ASKED = 10_000


class Settled(NamedTuple):
    """A message's answer to the question up to when facts hold: the corrections, by round id, and
    the acknowledgement."""

    corrections: Sequence[tuple[str, Correction]]
    noted: str


class Acts:
    """Decides on acts, and carries them out."""

    def __init__(
        self,
        store: MemoryStore,
        memory: MemoryReader,
        forgetting: Forgetting,
        *,
        has_model: bool,
        kept_where: str,
    ) -> None:
        """`memory` is what answers may tell of; `has_model` says whether a language model answers,
        `kept_where` where memory is, in words."""
        self._store = store
        self._memory = memory
        self.requests = forgetting
        self.has_model = has_model
        # After a restart, or at another worker, no question waits: users can tell the fact anew.
        self._due: OrderedDict[UserSession, Sequence[FactLink]] = OrderedDict()
        self._polite: Mapping[Kind, str] = {
            Kind.GREETS: HELLO,
            Kind.THANKS: WELCOME,
            Kind.SMALL_TALK: NO_SMALL_TALK,
            Kind.ABOUT_ASSISTANT: ABOUT.format(place=kept_where),
            Kind.TASK: NEEDS_MODEL,
        }

    @property
    def language(self) -> Language:
        """The language whose rules read messages."""
        return self._store.language

    async def forgetting(self, place: UserSession, meaning: Meaning, days: Days) -> Said | None:
        """The reply to a message that asks to forget, or that confirms or declines it; None for any
        other, which ends a waiting request. A message with such a reply is not stored."""
        text = meaning.reading.text
        if reply := await self.requests.confirmed(place, text):
            return reply
        may_mean_it = self.requests.was_left(place) or not self.has_model
        if may_mean_it and confirms_deletion(text):
            return Said(NOTHING_WAITS, Outcome.POLITE)
        if not self.has_model and (confirms(text) or declines(text)):
            return Said(ALL_RIGHT, Outcome.POLITE)
        if not self.has_model and not any(letter.isalnum() for letter in text):
            return Said(NO_WORDS, Outcome.POLITE)
        sure = sure_to_forget(meaning)
        if sure < _ASKS_BACK:
            return None
        if sure < _OFFERS:
            return Said(WHAT_TO_FORGET, Outcome.ASKED_BACK) if not self.has_model else None
        return await self.requests.offer(place, text, days)

    def refuses(self, meaning: Meaning) -> bool:
        """Whether the message surely says that it is not to be remembered; what asks to forget is
        not remembered, either."""
        return meaning.wishes.refuses >= _REFUSES or sure_to_forget(meaning) >= _OFFERS

    def polite(self, meaning: Meaning) -> str | None:
        """Without a model, the reply to a greeting, to thanks and the like, and to what only a
        model can do; None for any other message."""
        kinds, text = meaning.reading.kinds, meaning.reading.text
        if self.has_model or meaning.asked.overview or meaning.asked.about_user:
            return None
        kind = max(self._polite, key=lambda kind: kinds[kind])
        others = (Kind.ASKS, Kind.ADVICE, Kind.ABOUT_REPLY, Kind.TELLS, Kind.KEEPS, Kind.CORRECTS)
        enough = _WORK if kind is Kind.TASK else _POLITE
        is_sure = kinds[kind] >= enough and most_of(kinds, others) < _ASKS_MEMORY
        is_sure |= kind is Kind.ABOUT_ASSISTANT and kinds[kind] >= _ABOUT_US
        if not is_sure or len(text) > _LONGEST_POLITE:
            return None
        leaves = kind is Kind.GREETS and wording("acts.leaves").search(text)
        return GOODBYE if leaves else self._polite[kind]

    async def acknowledged(self, meaning: Meaning, said: Round) -> str:
        """The acknowledgement of a kept message: what it tells, and what that replaces; empty if it
        tells nothing, or if a model answers. `said` is the round as it is stored next."""
        if self.has_model:
            return ""
        facts = (await self._memory.as_seen(await self._store.foreseen(said))).facts
        parts = await aside(len(meaning.reading.text), _told, meaning, facts)
        if not parts and meaning.tells:
            parts = [(meaning.reading.text, ())]
        if not parts:
            return ""
        corrects = meaning.reading.corrects >= _OFFERS and any(links for _, links in parts)
        noted = (PUT_RIGHT if corrects else KEPT) + _listed(parts)
        in_doubt = meaning.wishes.refuses >= _MAY_REFUSE
        return f"{noted}\n{MAY_BE_PRIVATE}" if in_doubt else noted

    async def still_open(self, call: ChatCall, meaning: Meaning, due: Sequence[FactLink]) -> str:
        """The questions that are put beside an answer: up to when a statement of this message
        holds, and whether the facts that are `due` still hold."""
        if due:
            self._due[call.place] = due
            while len(self._due) > _MOST_ASKED:
                self._due.popitem(last=False)
        reading, today = meaning.reading, call.asked_at.date()
        open_ended = await aside(len(reading.text), self._open_ended, reading.sentences, today)
        due_ones = (
            STILL_HOLDS.format(day=print_day(link.said_at), said=_short(link.text)) for link in due
        )
        return "\n".join([*open_ended, *due_ones])

    def _open_ended(self, sentences: Sequence[Sentence], said_on: date) -> list[str]:
        """The question after the first statement that holds up to an end which it does not say."""
        for one in sentences:
            condition = self.language.condition_of(one.text, said_on) if tells(one) else None
            if condition is not None and is_open(condition):
                return [UNTIL_WHEN.format(said=_short(one.text))]
        return []

    async def settled(self, call: ChatCall) -> Settled | None:
        """What a message settles of the questions asked in its session; None for any other message,
        which ends the question whether something still holds."""
        due = self._due.pop(call.place, ())
        holds = still_holds(call.text) if due else None
        if holds is not None and (due := await self._still_there(call.user_id, due)):
            return _confirmed(due, call.asked_at) if holds else _ended(due, call.asked_at)
        if not is_condition(call.text):
            return None
        condition = self.language.condition_of(call.text, call.asked_at.date())
        if condition is None or is_open(condition):
            return None
        session = await self._store.session(call.user_id, call.session_id)
        facts = session[-1].facts if session else ()
        asked = (f for f in facts if f.is_users and f.condition and is_open(f.condition))
        fact = next(asked, None)
        if fact is None:
            return None
        correction = Correction(call.asked_at, conditions={fact.text: condition})
        noted = f"{KEPT}“{_short(fact.text)}”, {condition.text}."
        return Settled([(session[-1].id, correction)], noted)

    async def _still_there(self, user_id: str, due: Sequence[FactLink]) -> list[FactLink]:
        """Those facts that were neither forgotten nor reworded meanwhile."""
        rounds = [await self._memory.round(user_id, link.round_id) for link in due]
        texts = [{fact.text for fact in each.facts} if each else set() for each in rounds]
        return [link for link, said in zip(due, texts, strict=True) if link.text in said]


def _confirmed(due: Sequence[FactLink], at: datetime) -> Settled:
    corrections = [(link.round_id, Correction(at, confirmed=(link.text,))) for link in due]
    return Settled(corrections, f"{KEPT}{_quoted(due)} still holds.")


def _ended(due: Sequence[FactLink], at: datetime) -> Settled:
    over = Condition.until_day(at.date() - timedelta(days=1))
    corrections = [(one.round_id, Correction(at, conditions={one.text: over})) for one in due]
    return Settled(corrections, f"{KEPT}{_quoted(due)} holds no longer. What holds now?")


def _quoted(links: Sequence[FactLink]) -> str:
    return "; ".join(f"“{_short(link.text)}”" for link in links)


def sure_to_forget(meaning: Meaning) -> float:
    """How sure it is that a message asks to forget; 0 where it more surely means something else."""
    sure, reading = meaning.wishes.forgets, meaning.reading
    others = most_of(reading.kinds, (*ASKING, Kind.TASK, Kind.TELLS))
    corrects = reading.corrects >= _OFFERS and reading.telling >= _OFFERS
    means_else = corrects or meaning.asked.overview or sure <= max(others, meaning.wishes.keeps)
    return 0.0 if means_else else sure


_MOST = 3
_LONGEST = 100
_Part = tuple[str, Sequence[FactLink]]


def _told(meaning: Meaning, facts: Sequence[Fact]) -> list[_Part]:
    """Statements of the message, sentence by sentence, those first that replace something."""
    links = {fact.text: fact.supersedes for fact in facts if fact.is_users}
    return sorted(_parts(meaning, facts, links), key=lambda part: not part[1])


def _parts(
    meaning: Meaning, facts: Sequence[Fact], links: Mapping[str, Sequence[FactLink]]
) -> Iterator[_Part]:
    text = meaning.reading.text.strip()
    tells_all = meaning.tells_more or (meaning.tells and not meaning.asks_surely)
    if tells_all and len(text) <= _LONGEST:
        yield without_lead(text), next(filter(None, links.values()), ())
        return
    for sentence in meaning.reading.sentences:
        begun = told_in(sentence, [fact.text for fact in facts])
        if begun != sentence.text:
            yield begun, links.get(begun, ())
        elif tells(sentence) or (meaning.only_tells and not sentence.is_polite):
            own = [links[text] for text in links if text in sentence.text]
            yield (
                without_lead(sentence.text),
                next(filter(None, own), ()),
            )


def tells(sentence: Sentence) -> bool:
    """Whether the acknowledgement names this sentence as kept."""
    return sentence.telling >= MAY_TELL and sentence.telling >= sentence.asking


def _listed(parts: Sequence[_Part]) -> str:
    told = "; ".join(_worded(text, replaced) for text, replaced in parts[:_MOST])
    return told + (f"; and {len(parts) - _MOST} more" if len(parts) > _MOST else "")


def _worded(said: str, replaced: Sequence[FactLink]) -> str:
    text = f"“{_short(said)}”"
    return f"{text}, before: “{_short(replaced[0].text)}”" if replaced else text


def _short(text: str) -> str:
    return shortened(" ".join(text.split()).rstrip("."), _LONGEST)
