"""A language model that may look into memory again before it answers.

Its reader uses it like any other model: its calls of the memory's tools are answered here, and do
not leave. What it looks for is streamed as reasoning, which is no part of the answer. The client's
own tools are offered beside ours; calls of them are passed on to the client.
"""

import json
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from assistant.answering.memory_tools import MemoryTools, tool_schemas
from assistant.answering.plan import LookLimits
from assistant.errors import PromptRefused, PromptTooLong
from assistant.models.chat_model import ChatModel, Message, Piece, TokenCounts, merge

_MORE_THAN_WORDS = ("functions", "logprobs", "audio")
# How many characters of a reply are held back before it flows: models often say that they will look
# into memory before they call a tool.
_HELD = 80
# A number of calls above any limit, after which no more are made.
_NEVER = 1 << 30


def may_look(options: Mapping[str, Any]) -> bool:
    """Whether a request leaves room for tools of ours: one reply in words, and no tool that it must
    call or that has the name of one of ours."""
    if options.get("n") not in (None, 1) or any(map(options.get, _MORE_THAN_WORDS)):
        return False
    if options.get("tool_choice") not in (None, "auto"):
        return False
    ours = {tool["function"]["name"] for tool in tool_schemas()}
    return ours.isdisjoint(_names(options))


def _names(options: Mapping[str, Any]) -> set[str]:
    """The names of the client's tools."""
    functions = (tool.get("function") or tool for tool in options.get("tools") or ())
    return {str(function.get("name")) for function in functions}


class LookingModel:
    """The model of one answer. Its reader asks it once."""

    def __init__(self, model: ChatModel, tools: MemoryTools, limits: LookLimits) -> None:
        self.name = model.name
        self.refuses_tools = False
        """Whether the model turned out to take no tools; it answered without them."""
        self.looking_ms = 0.0
        """Milliseconds from the start to the end of its last look."""
        self._model = model
        self._tools = tools
        self._limits = limits
        self._made = 0
        self._started = time.monotonic()

    @property
    def identity(self) -> str:
        """See `ChatModel.identity`."""
        return self._model.identity

    async def close(self) -> None:
        """Do nothing: the model is still used by other answers."""

    async def stream(
        self, messages: Sequence[Message], options: Mapping[str, Any]
    ) -> AsyncGenerator[Piece, None]:
        """See `ChatModel.stream`."""
        theirs, asked = _names(options), list(messages)
        spent: TokenCounts | None = None
        while True:
            reply, may_look = _Reply(theirs, self._made), self._may_look
            offered = self._offered(options, may_look=may_look)
            try:
                async with aclosing(self._model.stream(asked, offered)) as pieces:
                    async for piece in pieces:
                        if shown := reply.shown(piece):
                            yield shown
            except PromptRefused as refused:
                if not self._can_do_with_less(refused, theirs):
                    raise
                asked = list(messages)
                continue
            spent = _together(spent, reply.tokens)
            if not (reply.looks and may_look):
                yield _last_piece(reply, spent)
                return
            if reply.flows:
                yield Piece("\n\n")
            for call in reply.looks:
                yield _reasoning(call)
            asked += [reply.message, *[await self._answered(call) for call in reply.looks]]
            self.looking_ms = (time.monotonic() - self._started) * 1000

    def _can_do_with_less(self, refused: PromptRefused, theirs: set[str]) -> bool:
        """Whether to send the request again: without what was found, if that made the prompt too
        long, or without tools, which some servers do not take at all."""
        if isinstance(refused, PromptTooLong):
            can = 0 < self._made < _NEVER
            self._made = _NEVER
            return can
        can = not (theirs or self._made or self.refuses_tools)
        self.refuses_tools = can
        return can

    @property
    def _may_look(self) -> bool:
        is_late = time.monotonic() - self._started > self._limits.seconds
        if is_late or self.refuses_tools:
            return False
        return self._made < self._limits.calls and not self._tools.is_spent

    def _offered(self, options: Mapping[str, Any], *, may_look: bool) -> dict[str, Any]:
        """The options, with our tools. They stay named when no more calls are allowed: some
        servers refuse a conversation that has calls but names no tools."""
        own = list(options.get("tools") or ())
        if self.refuses_tools or (own and not may_look):
            return dict(options)
        offered = {**options, "tools": [*own, *tool_schemas()]}
        return offered if may_look else {**offered, "tool_choice": "none"}

    async def _answered(self, call: Mapping[str, Any]) -> Message:
        """The result of a call, as a message."""
        self._made += 1
        function = call.get("function") or {}
        if self._made > self._limits.calls or self._tools.is_spent:
            result = json.dumps({"error": "no more calls: answer from what you have read"})
        else:
            arguments = str(function.get("arguments") or "")
            result = await self._tools.call(str(function.get("name")), arguments)
        sent = {"role": "tool", "tool_call_id": call["id"], "content": result}
        return Message("tool", result, sent)


class _Reply:
    """One reply of the model while it comes in."""

    def __init__(self, theirs: set[str], made: int) -> None:
        """`made` counts the calls before it in this conversation."""
        self.tokens: TokenCounts | None = None
        self.finish_reason: str | None = None
        self._theirs = theirs
        self._made = made
        self._held = ""
        self.flows = False
        """Whether its text is passed on as it comes."""
        self._told: dict[str, Any] = {}

    @property
    def held(self) -> str:
        """The part of its text that was held back."""
        return "" if self.flows else self._held

    @property
    def calls(self) -> Sequence[Mapping[str, Any]]:
        """Its calls of tools, each with an id: not all servers give one."""
        calls = Message("assistant", "", self._told).calls
        numbered = enumerate(calls, start=self._made)
        return [{**call, "id": call.get("id") or f"call_{number}"} for number, call in numbered]

    @property
    def others(self) -> Sequence[Mapping[str, Any]]:
        """Its calls of the client's tools."""
        return [call for call in self.calls if _name(call) in self._theirs]

    @property
    def looks(self) -> Sequence[Mapping[str, Any]]:
        """Its calls of our tools; none where it also calls the client's, which go to the client."""
        return [] if self.others else self.calls

    @property
    def message(self) -> Message:
        """The reply as a message of the conversation."""
        calls = [{key: call[key] for key in call if key != "index"} for call in self.calls]
        return Message(
            "assistant",
            self._held,
            {"role": "assistant", "content": self._held or None, "tool_calls": calls},
        )

    def shown(self, piece: Piece) -> Piece | None:
        """The part of a piece that is passed on at once; None where there is none."""
        self.tokens = piece.tokens or self.tokens
        self.finish_reason = piece.finish_reason or self.finish_reason
        self._held += piece.text
        deltas = [choice.get("delta") or {} for choice in piece.choices]
        for delta in deltas:
            merge(self._told, {"tool_calls": delta.get("tool_calls") or []})
        if any(delta.get("tool_calls") for delta in deltas):
            return None
        if self.flows:
            return Piece(piece.text, choices=piece.choices)
        if len(self._held) > _HELD and not self.calls:
            self.flows = True
            return Piece(self._held)
        return Piece(choices=piece.choices) if piece.choices and not piece.text else None


def _last_piece(reply: _Reply, spent: TokenCounts | None) -> Piece:
    """The last piece of the last reply: what was held back of it, and its calls of the client's
    tools."""
    calls = [{**call, "index": place} for place, call in enumerate(reply.others)]
    choices = [{"index": 0, "delta": {"tool_calls": calls}, "finish_reason": None}] if calls else []
    return Piece(reply.held, spent, reply.finish_reason, choices)


def _together(before: TokenCounts | None, last: TokenCounts | None) -> TokenCounts | None:
    if before is None or last is None:
        return last or before
    return replace(before + last, usage=None)


def _name(call: Mapping[str, Any]) -> str:
    return str((call.get("function") or call.get("custom") or {}).get("name"))


def _reasoning(call: Mapping[str, Any]) -> Piece:
    """Says what is looked for, as models that reason say what they think."""
    function = call.get("function") or {}
    try:
        given = json.loads(function.get("arguments") or "{}")
        words = ", ".join(f"{name}: {value}" for name, value in given.items())
    except (ValueError, AttributeError):
        words = ""
    said = f"Looking into memory: {function.get('name')} ({words})\n"
    return Piece(choices=[{"index": 0, "delta": {"reasoning_content": said}}])
