"""Removes from a client's messages what may not go to the model that answers.

Clients send a conversation back with each message, and front ends put all of it into one message,
for a title or for tags. So what is held back of the memory is held back there, too.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from assistant.answering.reader import demanded
from assistant.chat.call import ChatCall, Meaning, MemoryMode
from assistant.chat.recorder import Recorder
from assistant.chat.rounds import next_round
from assistant.chat.turns import Role
from assistant.errors import InvalidRequest
from assistant.models.chat_model import Message
from memory_store import MemoryReader, Reach, Record, closest
from memory_store.scheduler import aside

# A text shorter than the first number is recognised only as a whole message. Of a longer one the
# beginning, up to the second number, is looked for: answers quote it shortened.
_SHORT, _BEGINNING = 12, 60

_Holds = Callable[[str], bool]
"""Whether a text holds words of something."""


class HeldBack:
    """Keeps what may not go to a reader out of the calls that it answers."""

    def __init__(self, recorder: Recorder, memory: MemoryReader) -> None:
        """`memory` is what the reader sees of it."""
        self._recorder = recorder
        self._memory = memory

    async def apart(self, call: ChatCall, meaning: Meaning) -> tuple[ChatCall, bool]:
        """The call as it may go to the reader, and whether it may not go there at all. Raises
        `InvalidRequest` if it may not, and only a language model could answer it."""
        said = next_round(call, meaning)
        reach = await self._recorder.reach_of(said, is_labelled=call.labels is not None)
        is_held = await self._held(call)
        # A task shows a conversation, and results of tools may show anything.
        sent = [call.text, *(message.content for message in call.after)]
        shows_held = (call.is_task or len(sent) > 1) and any(map(is_held, sent))
        call = replace(call, reach=closest([reach, Reach.THIS_COMPUTER]) if shows_held else reach)
        is_elsewhere = self._memory.reach is Reach.ANYWHERE
        if (call.is_task and shows_held) or (is_elsewhere and call.reach is not Reach.ANYWHERE):
            return self._without_model(call), True
        if not call.conversation:
            return call, False
        along = call.conversation if call.sent_along is None else call.sent_along
        shown = await aside(len(call.conversation), without, call.conversation, is_held)
        return replace(call, conversation=shown, sent_along=along), False

    def _without_model(self, call: ChatCall) -> ChatCall:
        if wanted := demanded(call.options, call.message) or (("tools",) if call.after else ()):
            raise InvalidRequest(
                f"{', '.join(wanted)}: this needs a language model, and the message may go to none "
                "that is not local",
                code="kept_here",
                param=wanted[0],
            )
        if self._memory.embedder.is_local:
            return call
        # A search would send its words to the embedder.
        mode = MemoryMode.WRITE_ONLY if call.mode.stores else MemoryMode.OFF
        return replace(call, mode=mode)

    async def _held(self, call: ChatCall) -> _Holds:
        """Return a test whether a text that is sent along is held back from the reader."""
        if not (call.conversation or call.after or call.is_task):
            return lambda text: False
        tells = words_of(await self._recorder.kept_closer(call.user_id, self._memory.reach))

        def holds(text: str) -> bool:
            said = self._recorder.reach_of_text(call.user_id, text)
            return not self._memory.reach.includes(said) or tells(text)

        return holds


def words_of(held: Sequence[Record]) -> _Holds:
    """Return a test whether a text holds words of these records."""
    whole = {one.round.user_text.strip() for one in held} - {""}
    texts = (text for one in held for text in (one.round.user_text, one.round.assistant_text))
    parts = {_plain(text)[:_BEGINNING] for text in texts if len(text.strip()) >= _SHORT}

    def holds(text: str) -> bool:
        plain = _plain(text)
        return text.strip() in whole or any(part in plain for part in parts)

    return holds


def without(messages: Sequence[Message], is_held: _Holds) -> list[Message]:
    """The messages without those that are held back. With a message of the user goes all that
    follows, up to the user's next message."""
    kept: list[Message] = []
    answers_held = False
    for message in messages:
        held = is_held(message.content)
        if message.role == Role.USER:
            answers_held = held
        if not held and (not answers_held or message.role == Role.USER):
            kept.append(message)
    return kept


def _plain(text: str) -> str:
    return " ".join(text.split())
