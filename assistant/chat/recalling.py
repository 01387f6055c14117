"""What is recalled for a message: once, for all requests of a loop of tool calls.

Recall is strict where the call or the profile wants only what the user stated and still holds.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from assistant.answering.at_odds import without_odds
from assistant.answering.reader import Reader, Trace
from assistant.chat.call import ChatCall, Meaning, UserSession
from assistant.chat.retriever import Read, Retrieved, Retriever, known_until
from assistant.chat.turns import Role
from assistant.models.chat_model import Message
from memory_store import MemberMemory, MemoryReader, Query, Reach, Recall, Recalled, StatedMemory
from memory_store.language import LONGEST_QUERY

# The most rounds that are recalled, whatever the budget: each has to be read from the store.
_MOST_ROUNDS = 200
_MOST_LOOPS = 256


@dataclass(frozen=True, slots=True)
class Loop:
    """A question that is being answered with tools, a request for each round of calls: what was
    recalled for it, and the messages from it on.

    What was recalled is kept until the answer is complete, so that memory is searched once and the
    model reads the same in every round; the messages, for a client that sends only what is new.
    """

    question: str
    retrieved: Retrieved | None
    messages: Sequence[Message]
    reach: Reach = Reach.NEVER_IN_ANSWERS
    """The reach up to which memory was seen."""


class Loops:
    """The last loop of each session, for the latest sessions. A restart drops all loops, and so
    does forgetting anything."""

    def __init__(self) -> None:
        self._loops: OrderedDict[UserSession, Loop] = OrderedDict()

    def keep(self, place: UserSession, loop: Loop) -> None:
        """Keep the loop of a session whose reply has called tools."""
        self._loops[place] = loop
        self._loops.move_to_end(place)
        while len(self._loops) > _MOST_LOOPS:
            self._loops.popitem(last=False)

    def of(self, place: UserSession) -> Loop | None:
        """The loop of a session, if one is under way."""
        return self._loops.get(place)

    def end(self, place: UserSession) -> None:
        """Drop the loop of a session: its question is answered, or another one is asked."""
        self._loops.pop(place, None)

    def clear(self) -> None:
        """Drop all loops: something was forgotten that may be in what was recalled."""
        self._loops.clear()


class Recalling:
    """Recalls for the calls of one chat."""

    def __init__(
        self,
        retriever: Retriever,
        reader: Reader,
        memory: MemoryReader,
        loops: Loops,
        *,
        strict: bool,
        recalled_rounds: int,
    ) -> None:
        """`memory` is what the reader sees of it; `strict` and `recalled_rounds` as in `Chat`."""
        self._retriever = retriever
        self._reader = reader
        self._memory = memory
        self._loops = loops
        self._strict = strict
        self._recalled_rounds = recalled_rounds

    def is_strict(self, call: ChatCall) -> bool:
        """Whether only what the user stated and still holds is read."""
        return self._strict if call.strict is None else call.strict

    def kept(self, call: ChatCall) -> Retrieved | None:
        """An earlier recall, if it serves: all rounds of tool calls of one question share one."""
        is_kept = call.after and call.mode.recalls and not self.is_strict(call)
        loop = self._loops.of(call.place) if is_kept else None
        is_same = loop and loop.question == call.text and self._memory.reach.includes(loop.reach)
        return loop.retrieved if loop and is_same else None

    async def retrieved(self, call: ChatCall, meaning: Meaning) -> Retrieved | None:
        """What is recalled for the message; None if memory is not read, or the text is blank."""
        query = call.asked[:LONGEST_QUERY]
        if not call.mode.recalls or not query.strip():
            return None
        # Rounds that the conversation shows already are not read twice.
        reads_conversation = self._reader.reads_conversation
        shown = len(call.conversation) // 2 if reads_conversation else 0
        wanted = self._recalled_rounds or self._reader.most_rounds(meaning.asked)
        # Of short rounds a prompt holds more.
        fits_more = reads_conversation and not self._recalled_rounds
        found = await self._retriever_for(call).retrieve(
            Query(
                call.user_id,
                query,
                min(wanted + shown, _MOST_ROUNDS),
                known_until(call.days, call.asked_at, timed=call.timed),
                asked_on=call.asked_at.date(),
                week_begins=call.week_begins,
                explained=call.debug,
                sessions=False,
                short_limit=_MOST_ROUNDS if fits_more else 0,
                where=call.where,
                asked=meaning.asked,
            ),
            # The query model may be on another computer, where such a message may not go.
            Read.MODEL if call.reach is Reach.ANYWHERE else Read.RULES,
        )
        if not self.is_strict(call):
            return found
        return replace(found, recall=await without_odds(self._memory, found.recall))

    def memory_for(self, call: ChatCall) -> MemoryReader:
        """The memory as the member who asks sees it; for strict recall, only what was stated."""
        memory = MemberMemory(self._memory, call.person) if call.person else self._memory
        return StatedMemory(memory, call.asked_at) if self.is_strict(call) else memory

    def _retriever_for(self, call: ChatCall) -> Retriever:
        memory = self.memory_for(call)
        return self._retriever if memory is self._memory else self._retriever.over(memory)

    def keep(self, call: ChatCall, retrieved: Retrieved | None, answer: str, trace: Trace) -> None:
        """Keep what the next request of a loop needs, while there will be one."""
        if not trace.calls:
            self._loops.end(call.place)
            return
        sent = {"role": "assistant", "content": answer or None, "tool_calls": list(trace.calls)}
        asked = call.message or Message(Role.USER, call.text)
        messages = [asked, *call.after, Message(Role.ASSISTANT, answer, sent)]
        self._loops.keep(call.place, Loop(call.text, retrieved, messages, self._memory.reach))

    def unseen(self, recall: Recall | None, call: ChatCall) -> list[Recalled]:
        """The recalled rounds without this message, if it was sent before, and without those that
        the reader sees as earlier messages of the conversation."""
        seen = {call.text}
        if self._reader.reads_conversation:
            seen |= {m.content for m in call.conversation if m.role == "user"}
        return [
            found
            for found in (recall.read if recall else ())
            if found.record.round.session_id != call.session_id
            or found.record.round.user_text not in seen
        ]
