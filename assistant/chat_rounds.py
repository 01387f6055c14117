"""What of a chat is stored: the message and its answer, as a round."""

from collections.abc import Sequence

from assistant.chat_call import ChatCall
from assistant.conversation import Role, Turn
from assistant.models.chat_model import Message
from assistant.reading.reader import Trace
from assistant.reading.repeated import repeated
from assistant.recorder import Recorder
from assistant.tool_calls import kept_results, tool_names
from memory_store import Recall, Round, aside

# So many characters are taken apart into words while rules read one.
_WORDS = 64
# The place of a round that comes after those that are there.
_AFTER_ALL = 1 << 30


class ChatRounds:
    """Stores the rounds of chats."""

    def __init__(self, recorder: Recorder, kept_of_results: int) -> None:
        """`kept_of_results` is how many characters of each tool's result are remembered."""
        self._recorder = recorder
        self._kept_of_results = kept_of_results

    async def store_answer(
        self, call: ChatCall, answer: str, trace: Trace, recall: Recall | None, noted: str
    ) -> Round | None:
        """Store the round: of a loop of tool calls with the first reply, so that what was asked is
        kept whatever becomes of the loop, and with the last one, which has the answer. What was
        noted is shown alone: it stands in the message."""
        if trace.calls and call.after:
            return None
        recalled = recall.rounds if recall else ()
        size = sum(one.record.round.size for one in recalled)
        repeats = await aside(size // _WORDS, repeated, call.text, answer, trace, recalled)
        messages = [*call.after, Message(Role.ASSISTANT, answer, {"tool_calls": trace.calls})]
        results = "" if trace.calls else kept_results(messages, self._kept_of_results)
        return await self.store(
            call,
            results + answer,
            repeats,
            shown=answer + noted if results or noted else None,
            tools=tool_names(messages),
        )

    async def store(
        self,
        call: ChatCall,
        answer: str,
        repeats: Sequence[str] = (),
        shown: str | None = None,
        tools: Sequence[str] = (),
    ) -> Round:
        """Store the message and its answer; `shown` is what the client was shown where that is
        more than the answer."""
        # The last request of a loop repeats its first one, however long the loop took.
        again = call.retried or bool(call.after)
        said = Turn(
            Role.USER,
            call.text,
            call.asked_at,
            call.timed,
            call.name,
            call.turn_id,
            again,
            labels=call.labels,
            expires_at=call.expires_at,
        )
        reply = Turn(Role.ASSISTANT, answer, call.asked_at, call.timed, shown=shown)
        sent = call.conversation if call.sent_along is None else call.sent_along
        # What comes with calls of tools is no answer, and is not kept.
        before = [m.content for m in sent if m.role in (Role.USER, Role.ASSISTANT) and not m.calls]
        return await self._recorder.record_round(
            call.user_id, call.session_id, said, reply, before, repeats, tools
        )


def next_round(call: ChatCall) -> Round:
    """What is said, as a round that is stored next."""
    return Round(
        call.user_id, call.session_id, _AFTER_ALL, call.asked_at, call.text, user_name=call.name
    )
