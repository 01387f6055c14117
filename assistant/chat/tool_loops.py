"""Questions that are being answered with tools: one request for each round of tool calls.

Each request of such a loop is a request of its own, with the same question in it. What was recalled
for the question is kept until its answer is complete, so that memory is searched once and the model
reads the same in every round; and the messages since the question, for a client that sends only
what is new. Both are gone with a restart, and with anything that is forgotten.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from assistant.chat.retriever import Retrieved
from assistant.models.chat_model import Message

_MOST = 256


@dataclass(frozen=True, slots=True)
class Loop:
    """A question under way: what was recalled for it, and the messages from it on."""

    question: str
    retrieved: Retrieved | None
    messages: Sequence[Message]


class UnderWay:
    """The last loop of each session, of so many sessions."""

    def __init__(self) -> None:
        self._loops: OrderedDict[tuple[str, str], Loop] = OrderedDict()

    def keep(self, user_id: str, session_id: str, loop: Loop) -> None:
        """A reply of this session has called tools."""
        self._loops[user_id, session_id] = loop
        self._loops.move_to_end((user_id, session_id))
        while len(self._loops) > _MOST:
            self._loops.popitem(last=False)

    def of(self, user_id: str, session_id: str) -> Loop | None:
        """The loop of a session, if one is under way."""
        return self._loops.get((user_id, session_id))

    def end(self, user_id: str, session_id: str) -> None:
        """The question of this session is answered, or another one is asked."""
        self._loops.pop((user_id, session_id), None)

    def clear(self) -> None:
        """Something was forgotten: it may be in what was recalled."""
        self._loops.clear()
