"""What a message wants done, beside being answered and kept (docs/decisions/0016-acts.md).

And what a statement is answered with where no language model answers: what was kept of it, and what
it replaced.
"""

from collections.abc import Sequence

from assistant.answering.packing import shortened
from assistant.answering.wording import (
    ABOUT,
    HELLO,
    NO_SMALL_TALK,
    NOTED,
    NOTED_THAT,
    PUT_RIGHT,
    WELCOME,
)
from assistant.chat.call import Place
from assistant.chat.forgetting import OFFERED, Forgetting
from assistant.chat.meaning import confirms, keeps_out, politeness, wants_forgotten
from assistant.models.chat_model import Message
from memory_store import (
    Days,
    Fact,
    FactLink,
    Kind,
    MemoryStore,
    Round,
    Speaker,
    goes_on_to_ask,
    kind_of,
    read_sentences,
)

NOT_KEPT = (
    "This message is not stored. To delete something that you said before, say “forget that” or "
    "“delete what I said about” something."
)
NOT_KEPT_LINE = "(Your message and this answer are not stored.)"
NOT_KEPT_MODE = "Not stored: memory is not written for this message."
NOTHING_WAITS = "Nothing is waiting to be deleted, and nothing was deleted."


class Acts:
    """Decides on acts, and carries them out."""

    def __init__(
        self, store: MemoryStore, forgetting: Forgetting, *, has_model: bool, kept_where: str
    ) -> None:
        """`has_model` says whether a language model answers; `kept_where` where memory is, in
        words."""
        self._store = store
        self._forgetting = forgetting
        self.has_model = has_model
        self._polite = {
            Kind.GREETS: HELLO,
            Kind.THANKS: WELCOME,
            Kind.SMALL_TALK: NO_SMALL_TALK,
            Kind.ABOUT_ASSISTANT: ABOUT.format(place=kept_where),
        }

    async def forgetting(
        self, place: Place, text: str, before: Sequence[Message], days: Days
    ) -> str | None:
        """The reply to a message that asks to forget, or that confirms it; None for any other,
        which ends a request that waits. Nothing of such a message is kept."""
        if reply := await self._forgetting.confirmed(*place, text):
            return reply
        if confirms(text):
            was_offered = bool(before) and OFFERED in before[-1].content
            return NOTHING_WAITS if was_offered or not self.has_model else None
        if wants_forgotten(text):
            return await self._forgetting.offer(*place, text, days)
        return None

    async def ends_request(self, place: Place) -> None:
        """A message that changes no memory ends a request all the same."""
        await self._forgetting.end(*place)

    async def waits(self, place: Place) -> bool:
        """Whether a request waits to be confirmed."""
        return await self._forgetting.waits(*place)

    def refuses(self, text: str) -> bool:
        """Whether the message says that it is not to be remembered."""
        return keeps_out(text)

    def polite(self, text: str) -> str | None:
        """The reply to a greeting, to thanks and the like, where no model gives one."""
        kind = None if self.has_model else politeness(text)
        return self._polite[kind] if kind else None

    async def acknowledged(self, said: Round) -> str:
        """What a statement is answered with."""
        return await acknowledged(self._store, said)

    async def acknowledged_beside(self, said: Round) -> str:
        """What is said of what a question tells, after its answer; nothing where a model answers,
        which sees the message."""
        return "" if self.has_model else await acknowledged_beside(self._store, said)


_MOST = 3
_LONGEST = 100
_TELLING = (Kind.TELLS, Kind.CORRECTS)


async def acknowledged(store: MemoryStore, said: Round) -> str:
    """What is kept of a round that is stored next; its place does not matter."""
    own = [fact for fact in await _facts(store, said) if fact.is_users]
    parts = _parts(own) or [(part, ()) for part in read_sentences(said.user_text)]
    if not parts or (not own and kind_of(said.user_text).asks):
        return NOTED
    replaces = any(fact.supersedes for fact in own)
    corrects = replaces and kind_of(said.user_text) is Kind.CORRECTS
    return (PUT_RIGHT if corrects else NOTED_THAT) + _listed(parts)


async def acknowledged_beside(store: MemoryStore, said: Round) -> str:
    """What is kept of a round that asks something, too; nothing where it only asks."""
    own = [fact for fact in await _facts(store, said) if fact.speaker is Speaker.USER]
    told = [fact for fact in own if _is_told(fact.text, said.user_text)]
    return NOTED_THAT + _listed(_parts(told)) if told else ""


def _is_told(text: str, message: str) -> bool:
    """Whether it surely asks nothing: a question without its mark may be a fact, too."""
    ends = text.endswith((".", "!")) or goes_on_to_ask(text, message)
    return ends and kind_of(text) in _TELLING


async def _facts(store: MemoryStore, said: Round) -> Sequence[Fact]:
    return (await store.foreseen(said)).facts


_Part = tuple[str, Sequence[FactLink]]


def _parts(facts: Sequence[Fact]) -> list[_Part]:
    """The statements, those that replace something first."""
    return sorted(((f.text, f.supersedes) for f in facts), key=lambda part: not part[1])


def _listed(parts: Sequence[_Part]) -> str:
    told = "; ".join(_worded(text, replaced) for text, replaced in parts[:_MOST])
    return told + ("; …" if len(parts) > _MOST else "")


def _worded(said: str, replaced: Sequence[FactLink]) -> str:
    text = f"“{_short(said)}”"
    return f"{text}, before: “{_short(replaced[0].text)}”" if replaced else text


def _short(text: str) -> str:
    return shortened(" ".join(text.split()).rstrip("."), _LONGEST)
