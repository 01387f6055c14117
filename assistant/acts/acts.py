"""The acts of a chat: what is done with a message instead of answering and keeping it."""

from collections.abc import Sequence
from typing import NamedTuple

from assistant.acts import wording
from assistant.acts.acknowledging import acknowledged, acknowledged_beside
from assistant.acts.forgetting import Forgetting
from assistant.acts.meaning import confirms, keeps_out, politeness, wants_forgotten
from assistant.answering.wording import ABOUT, HELLO, NO_SMALL_TALK, WELCOME
from assistant.models.chat_model import Message
from memory_store import Days, Kind, MemoryStore, Round


class Place(NamedTuple):
    """Whose message it is, and in which session."""

    user_id: str
    session_id: str


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
            was_offered = bool(before) and wording.OFFERED in before[-1].content
            return wording.NOTHING_WAITS if was_offered or not self.has_model else None
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
