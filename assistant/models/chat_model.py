"""The protocol of a language model that answers in pieces, the merging of pieces, and the counts of
calls and tokens."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Message:
    role: str
    content: str
    """The text of the message."""
    sent: Mapping[str, Any] | None = None
    """The whole message in OpenAI's shape, where it is more than a text: pictures, files, calls of
    tools and their results."""

    @property
    def body(self) -> dict[str, Any]:
        return dict(self.sent or {"role": self.role, "content": self.content})

    @property
    def calls(self) -> Sequence[Mapping[str, Any]]:
        sent = self.sent or {}
        given, older = sent.get("tool_calls"), sent.get("function_call")
        listed = given if isinstance(given, list | tuple) else ()
        calls = [call for call in listed if isinstance(call, Mapping)]
        return [*calls, {"function": older}] if isinstance(older, Mapping) else calls

    @property
    def is_result(self) -> bool:
        return self.role in ("tool", "function")


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """Tokens read and written by a call, as the provider counts them.

    `cost` is in US dollars; None where the price is not known. `usage` is all that the provider
    said of a single call.
    """

    prompt: int = 0
    completion: int = 0
    cost: float | None = field(default=None, compare=False)
    usage: Mapping[str, Any] | None = field(default=None, compare=False)

    def __add__(self, other: "TokenCounts") -> "TokenCounts":
        """Add both; the cost is known where both are."""
        known = self.cost is not None and other.cost is not None
        cost = (self.cost or 0.0) + (other.cost or 0.0) if known else None
        return TokenCounts(self.prompt + other.prompt, self.completion + other.completion, cost)


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a reply; the last one may carry the token counts and why the reply ended."""

    text: str = ""
    tokens: TokenCounts | None = None
    finish_reason: str | None = None
    choices: Sequence[Mapping[str, Any]] = ()
    """The piece in OpenAI's shape, where it is more than a text: calls of tools, logarithms of
    probabilities, a second choice."""


_PLAIN = {"role", "content"}


def piece_of(choices: Sequence[Mapping[str, Any]], tokens: TokenCounts | None) -> Piece:
    """The piece in a chunk of a stream. Its text and its `finish_reason` are those of the first
    choice, the only one that is remembered; `choices` do not repeat this reason. Raises
    `ValueError` for a chunk of another shape."""
    for choice in choices:
        _check(choice)
    text, reason = "", None
    for choice in choices:
        if not choice.get("index"):
            delta = choice.get("delta") or {}
            # A refusal in a field of its own is still what the model has to say.
            text += delta.get("content") or delta.get("refusal") or ""
            reason = choice.get("finish_reason") or reason
    if not any(map(_is_more_than_text, choices)):
        return Piece(text, tokens, reason)
    shown = [c if c.get("index") else {**c, "finish_reason": None} for c in choices]
    return Piece(text, tokens, reason, tuple(shown))


def _check(choice: Any) -> None:
    """Raise `ValueError` for a choice that could not be put together with others."""
    if not isinstance(choice, Mapping):
        raise ValueError("a choice is no object")
    delta = choice.get("delta") or {}
    calls = delta.get("tool_calls") or [] if isinstance(delta, Mapping) else None
    if not isinstance(calls, list) or not all(isinstance(call, Mapping) for call in calls):
        raise ValueError("the calls of tools are no list of objects")
    parts = [call.get(name) or {} for call in calls for name in ("function", "custom")]
    objects = [*parts, delta.get("function_call") or {}, choice.get("logprobs") or {}]
    if not all(isinstance(one, Mapping) for one in objects):
        raise ValueError("a part of a choice is no object")
    texts = [delta.get(name) or "" for name in ("content", "refusal")]
    if not all(isinstance(one, str) for one in texts):
        raise ValueError("the content of a choice is no text")
    if not isinstance(choice.get("index") or 0, int):
        raise ValueError("the index of a choice is no number")


def _is_more_than_text(choice: Mapping[str, Any]) -> bool:
    told = {name for name, value in (choice.get("delta") or {}).items() if value}
    return bool(choice.get("index") or choice.get("logprobs") or not told <= _PLAIN)


@dataclass(frozen=True, slots=True)
class ModelReply:
    text: str
    tokens: TokenCounts | None = None
    finish_reason: str = "stop"


class ChatModel(Protocol):
    """A language model. Raises `ModelUnavailable`, `BadModelReply` or `ConfigError` only."""

    name: str

    @property
    def identity(self) -> str:
        """Tells apart models whose replies differ: the name of the model, and where it is asked."""

    def stream(
        self, messages: Sequence[Message], options: Mapping[str, Any]
    ) -> AsyncGenerator[Piece, None]:
        """The reply in pieces. A failed call is tried again only before the first piece.

        Closing the generator stops the model.
        """

    async def close(self) -> None:
        """Close the connections to the model."""


@dataclass(slots=True)
class RoleCounts:
    """The counts of one role. Every request to the provider is a call, also a repeated one.

    `cost` is in US dollars, of the calls whose price is known. `unpriced` counts the calls of
    unknown price, `uncounted` the calls without token counts, such as failed or abandoned ones.
    """

    calls: int = 0
    failed: int = 0
    repaired: int = 0
    from_cache: int = 0
    uncounted: int = 0
    unpriced: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    last_call: str = "none yet"
    """How the last call ended: `ok`, or the code of its error."""

    def count(self, tokens: TokenCounts | None) -> None:
        """Add what one call took; None where the provider did not say."""
        self.calls += 1
        if tokens is None:
            self.uncounted += 1
            return
        self.prompt_tokens += tokens.prompt
        self.completion_tokens += tokens.completion
        if tokens.cost is None:
            self.unpriced += 1
        else:
            self.cost += tokens.cost


class UsageCounts:
    def __init__(self) -> None:
        self.by_role: dict[str, RoleCounts] = {}

    def of(self, role: str) -> RoleCounts:
        return self.by_role.setdefault(role, RoleCounts())

    def totals(self) -> RoleCounts:
        totals = RoleCounts()
        for name in ("calls", "failed", "from_cache"):
            setattr(totals, name, sum(getattr(usage, name) for usage in self.by_role.values()))
        return totals

    def body(self) -> dict[str, dict[str, Any]]:
        counts = {
            role: asdict(usage) | {"cost": round(usage.cost, 6)}
            for role, usage in self.by_role.items()
        }
        for told in counts.values():
            del told["last_call"]
        return counts


# These fields are given whole, once or in every chunk; all other texts go on from chunk to chunk.
_SAID_WHOLE = ("id", "type", "role", "index", "name")


def merge(whole: dict[str, Any], delta: Mapping[str, Any]) -> None:
    """Add a chunk's delta: texts go on, lists grow, entries with an index are merged by it."""
    for name, value in delta.items():
        before = whole.get(name)
        if value is None:
            whole.setdefault(name, None)
        elif isinstance(value, list):
            whole[name] = before = before if isinstance(before, list) else []
            for item in value:
                _add(before, item)
        elif isinstance(value, Mapping):
            whole[name] = before = before if isinstance(before, dict) else {}
            merge(before, value)
        elif isinstance(value, str) and isinstance(before, str) and name not in _SAID_WHOLE:
            whole[name] = before + value
        else:
            whole[name] = value


def _add(items: list[Any], item: Any) -> None:
    """Add an entry to a list: merge it into the entry with the same index, or append it."""
    if not isinstance(item, Mapping):
        items.append(item)
        return
    index = item.get("index")
    parts = [one for one in items if isinstance(one, dict) and one.get("index") == index]
    if index is None or not parts:
        items.append(known := {})
    else:
        known = parts[0]
    merge(known, item)
