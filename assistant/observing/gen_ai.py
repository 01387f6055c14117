"""Spans for the steps of a chat and of memory, named by OpenTelemetry's semantic conventions for
generative AI, version 1.42.0-dev.

Texts, queries, records and the ids of users, sessions and rounds, which the conventions describe,
too, are left out: only models, counts and kinds of errors are sent.
"""

from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from enum import StrEnum
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from assistant.answering.reader import AnswerPiece
from assistant.models.chat_model import Piece
from assistant.observing.tracing import Attributes, span, traced_pieces

_AGENT = "aide-memoire"
# From litellm's names of providers to the conventions', where these differ.
_PROVIDERS = {
    "azure": "azure.ai.openai",
    "azure_ai": "azure.ai.inference",
    "bedrock": "aws.bedrock",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "moonshot": "moonshot_ai",
    "vertex_ai": "gcp.vertex_ai",
    "watsonx": "ibm.watsonx.ai",
    "xai": "x_ai",
}
_UNNAMED_PROVIDER = "litellm"
_OPTIONS = {"temperature": float, "top_p": float, "max_tokens": int, "seed": int}
_P = ParamSpec("_P")
_T = TypeVar("_T")


class Operation(StrEnum):
    """`gen_ai.operation.name` of what is done here."""

    INVOKE_AGENT = "invoke_agent"
    CHAT = "chat"
    SEARCH = "search_memory"
    CREATE = "create_memory"
    UPDATE = "update_memory"
    UPSERT = "upsert_memory"
    DELETE = "delete_memory"


def traced_answer(pieces: AsyncGenerator[_T, None]) -> AsyncGenerator[_T, None]:
    """The pieces of an answer to a chat, as a step with all that leads to the answer."""
    attributes = {**_named(Operation.INVOKE_AGENT), "gen_ai.agent.name": _AGENT}
    return traced_pieces(f"{Operation.INVOKE_AGENT} {_AGENT}", pieces, attributes)


def traced_reading(pieces: AsyncGenerator[AnswerPiece, None]) -> AsyncGenerator[AnswerPiece, None]:
    """The pieces that a reader makes of the recalled rounds, as a step; the conventions name none
    for this."""
    return traced_pieces("read", pieces, seen=_of_answer)


def traced_call(
    model: str, options: Mapping[str, Any], pieces: AsyncGenerator[Piece, None]
) -> AsyncGenerator[Piece, None]:
    """The pieces of one request to a language model, as a step. `model` is litellm's name of it."""
    provider, named, name = model.partition("/")
    attributes: dict[str, Any] = {
        **_named(Operation.CHAT),
        "gen_ai.provider.name": _PROVIDERS.get(provider, provider) if named else _UNNAMED_PROVIDER,
        "gen_ai.request.model": name or model,
        "gen_ai.request.stream": True,
    }
    for option, kind in _OPTIONS.items():
        if isinstance(value := options.get(option), int | float):
            attributes[f"gen_ai.request.{option}"] = kind(value)
    title = f"{Operation.CHAT} {name or model}"
    return traced_pieces(title, pieces, attributes, kind="CLIENT", seen=_of_reply)


def memory_operation(
    operation: Operation, count: Callable[[Any], int]
) -> Callable[[Callable[_P, Coroutine[Any, Any, _T]]], Callable[_P, Coroutine[Any, Any, _T]]]:
    """Decorate a coroutine function: each call is a step. `count` tells how many rounds a result is
    about."""

    def decorate(
        method: Callable[_P, Coroutine[Any, Any, _T]],
    ) -> Callable[_P, Coroutine[Any, Any, _T]]:
        @wraps(method)
        async def traced(*args: _P.args, **kwargs: _P.kwargs) -> _T:
            with span(operation, _named(operation)) as step, step.current():
                result = await method(*args, **kwargs)
                step.set({"gen_ai.memory.record.count": count(result)})
                if kwargs.get("dry_run"):
                    step.set({"aide_memoire.dry_run": True})
                return result

        return traced

    return decorate


def _named(operation: Operation) -> Attributes:
    return {"gen_ai.operation.name": operation.value}


def _of_reply(piece: Piece) -> Attributes:
    seen: dict[str, Any] = {}
    if piece.tokens:
        seen["gen_ai.usage.input_tokens"] = piece.tokens.prompt
        seen["gen_ai.usage.output_tokens"] = piece.tokens.completion
    if piece.finish_reason:
        seen["gen_ai.response.finish_reasons"] = [piece.finish_reason]
    return seen


def _of_answer(piece: AnswerPiece) -> Attributes:
    if not piece.trace:
        return {}
    return {
        "aide_memoire.rounds_read": len(piece.trace.context),
        "aide_memoire.context_tokens": piece.trace.context_tokens,
    }
