"""The part of a chat that is stored: the message and its answer, as a round.

The round also names the tools that were called, and the rounds whose words the answer repeats: when
these are forgotten, the answer is withdrawn.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from assistant.answering.reader import Outcome, Trace
from assistant.chat.call import ChatCall, Meaning
from assistant.chat.recorder import Recorder
from assistant.chat.turns import Role, Turn
from assistant.models.chat_model import Message
from memory_store import Recall, Recalled, Record, Round, closest
from memory_store.language import terms
from memory_store.scheduler import aside

# For `aside`: this many characters are split into words while rules read one.
_WORDS = 64
# The index of a round that comes after all stored ones.
_AFTER_ALL = 1 << 30


class ChatRounds:
    """Stores the rounds of chats."""

    def __init__(self, recorder: Recorder, kept_of_results: int) -> None:
        """`kept_of_results` is how many characters of each tool's result are remembered."""
        self._recorder = recorder
        self._kept_of_results = kept_of_results

    async def store_answer(
        self,
        call: ChatCall,
        answer: str,
        trace: Trace,
        recall: Recall | None,
        noted: str,
        meaning: Meaning,
        outcome: Outcome,
    ) -> Record | None:
        """Store the round and return its record. In a loop of tool calls it is stored with the
        first reply, so that the question is kept whatever becomes of the loop, and with the last
        one, which has the answer; else None. `noted` is shown, not stored: the message has it."""
        if trace.calls and call.after:
            return None
        looked = [found for look in trace.looks for found in look.found]
        recalled = [*(recall.rounds if recall else ()), *looked]
        size = len(call.text) + len(answer) + sum(one.record.round.size for one in recalled)
        repeats = await aside(size // _WORDS, repeated, call.text, answer, trace, recalled)
        messages = [*call.after, Message(Role.ASSISTANT, answer, {"tool_calls": trace.calls})]
        results = "" if trace.calls else kept_results(messages, self._kept_of_results)
        return await self.store(
            call,
            results + answer,
            meaning,
            outcome,
            repeats,
            shown=answer + noted if results or noted else None,
            tools=tool_names(messages),
            read=trace.quoted or (*trace.context, *(id for look in trace.looks for id in look.ids)),
        )

    async def store(
        self,
        call: ChatCall,
        answer: str,
        meaning: Meaning,
        outcome: Outcome,
        repeats: Sequence[str] = (),
        shown: str | None = None,
        tools: Sequence[str] = (),
        read: Sequence[str] = (),
    ) -> Record:
        """Store the message and its answer, and return the record. `shown` is what the client was
        shown where that is more than the answer. `read` names the rounds of which the answer may
        tell: the new round may go no farther than any of them."""
        reach = closest([call.reach, await self._recorder.closest_of(call.user_id, read)])
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
            reach=reach,
            reading=meaning.reading,
        )
        reply = Turn(
            Role.ASSISTANT, answer, call.asked_at, call.timed, shown=shown, outcome=outcome
        )
        sent = call.conversation if call.sent_along is None else call.sent_along
        # Text beside calls of tools is no answer, and is not kept.
        before = [m.content for m in sent if m.role in (Role.USER, Role.ASSISTANT) and not m.calls]
        return await self._recorder.record_round(
            call.user_id, call.session_id, said, reply, before, repeats, tools, call.person
        )


def next_round(call: ChatCall, meaning: Meaning) -> Round:
    """The message and its answer as the next round of the session."""
    return Round(
        call.user_id,
        call.session_id,
        _AFTER_ALL,
        call.asked_at,
        call.text,
        user_name=call.name,
        labels=call.labels or {},
        reach=call.reach,
        reading=meaning.reading,
    )


def tool_names(messages: Sequence[Message]) -> tuple[str, ...]:
    """The tools that were called, each once, in order."""
    names = (_function(call).get("name") for message in messages for call in message.calls)
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str) and name))


def kept_results(messages: Sequence[Message], characters: int) -> str:
    """The beginning of what each tool returned, to stand before the answer."""
    if not characters:
        return ""
    names = {call.get("id"): _function(call).get("name") for m in messages for call in m.calls}
    results = [
        f"[{_called(message, names)}: {message.content.strip()[:characters]}]\n"
        for message in messages
        if message.is_result and message.content.strip()
    ]
    return "".join([*results, "\n"] if results else [])


def _function(call: Any) -> Any:
    """The function of a call; of a caller's own kind of tool, the call itself."""
    found = call.get("function") or call.get("custom")
    return found if isinstance(found, dict) else call


def _called(result: Message, names: dict[Any, Any]) -> str:
    sent = result.sent or {}
    return str(sent.get("name") or names.get(sent.get("tool_call_id")) or "tool")


# A word that more than this many of the rounds read have belongs to none of them.
_FEW = 3
# An answer is taken to repeat at most this many rounds, those that share most such words with it.
_MOST = 8
# An answer that shares no such word with any round may repeat those nearest to the question; their
# number was measured (docs/decisions/0015-withdrawn-answers.md).
_NEAREST = 5


def repeated(
    question: str, answer: str, trace: Trace, recalled: Sequence[Recalled]
) -> tuple[str, ...]:
    """Ids of the rounds that the answer may repeat: those it quotes; else those read that share the
    most words with it, of words that the question does not have and few rounds have; else the
    nearest ones that were read. `recalled` is in order of nearness.

    In doubt a round counts as repeated: rounds that were read but are not in `recalled` come next.
    """
    if trace.quoted:
        return tuple(trace.quoted)
    texts = {
        one.record.id: f"{one.record.round.user_text}\n{one.record.round.assistant_text}"
        for one in recalled
    }
    told = frozenset(terms(answer)).difference(terms(question))
    shared = {id: told.intersection(terms(texts[id])) for id in trace.context if id in texts}
    rounds_with = Counter(term for of_round in shared.values() for term in of_round)
    owns = {
        id: sum(rounds_with[term] <= _FEW for term in of_round) for id, of_round in shared.items()
    }
    owed = sorted((id for id in owns if owns[id]), key=lambda id: -owns[id])
    # "Three." shares no word with the rounds that were counted for it.
    owed = owed or [id for id in texts if id in shared][:_NEAREST]
    return tuple([*owed, *(id for id in trace.context if id not in owns)][:_MOST])
