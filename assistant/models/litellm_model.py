"""Any language model litellm speaks to; loaded when a model is configured, never otherwise."""

import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

from assistant.errors import PromptRefused
from assistant.models.chat_model import Message, Piece, TokenCounts
from assistant.models.litellm_errors import explained
from assistant.models.litellm_import import load_litellm

_FORMAT = "response_format"
# The same limit by its newer and its older name; each is refused by some.
_OTHER_NAME = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
# How providers call the formats that they do not take.
_NO_SCHEMA = re.compile(r"json_schema|schema|structured|grammar|guided|response_format", re.I)


class LitellmModel:
    """A model by its litellm name. One call is one request: retries are the gateway's.

    A parameter that the model refuses is left out of this and all later calls (a limit of the reply
    is tried by its other name first); a reply format that it refuses gives way to a plainer one.
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str = "",
        api_key: str | None = None,
        timeout: float = 120.0,
        prices: tuple[float, float] | None = None,
    ) -> None:
        """`prices` are dollars for a million tokens read and written, for models whose price
        litellm does not know."""
        self.name = name
        self.identity = f"{name}@{base_url}"
        self._prices = prices
        self._refused: set[str] = set()
        self._call: dict[str, Any] = {"model": name, "timeout": timeout, "max_retries": 0}
        if base_url:
            self._call["api_base"] = base_url
        if api_key:
            self._call["api_key"] = api_key
        self._litellm = load_litellm()

    async def stream(
        self, messages: Sequence[Message], options: Mapping[str, Any]
    ) -> AsyncGenerator[Piece, None]:
        """See `ChatModel.stream`."""
        wanted = {"stream_options": {"include_usage": True}, **options}
        said = [{"role": message.role, "content": message.content} for message in messages]
        reply = await self._open(said, wanted)
        try:
            async for chunk in reply:
                yield self._piece(chunk)
        except Exception as error:  # litellm's tree has many roots; every one is mapped
            raise explained(self._litellm, self.name, error) from error
        finally:
            # A caller that goes away must not leave the provider generating.
            await reply.aclose()

    async def _open(self, messages: list[dict[str, str]], wanted: Mapping[str, Any]) -> Any:
        """Begin the reply, without what the model refuses."""
        while True:
            options = self._accepted(wanted)
            try:
                return await self._litellm.acompletion(
                    **self._call, **options, messages=messages, stream=True, drop_params=True
                )
            except Exception as error:
                failure = explained(self._litellm, self.name, error)
                refused = isinstance(failure, PromptRefused) and _refused(str(error), options)
                if not refused:
                    raise failure from error
                self._refused.add(refused)

    def _accepted(self, wanted: Mapping[str, Any]) -> dict[str, Any]:
        options = {self._taken(name): value for name, value in wanted.items()}
        options = {name: value for name, value in options.items() if name not in self._refused}
        if _FORMAT in options and options[_FORMAT]["type"] in self._refused:
            options[_FORMAT] = {"type": "json_object"}
        return options

    def _taken(self, name: str) -> str:
        """The name by which the model takes a parameter."""
        other = _OTHER_NAME.get(name, name)
        return other if name in self._refused and other not in self._refused else name

    def _piece(self, chunk: Any) -> Piece:
        usage = getattr(chunk, "usage", None)
        tokens = self._counts(usage.prompt_tokens, usage.completion_tokens) if usage else None
        if not chunk.choices:
            return Piece(tokens=tokens)
        choice = chunk.choices[0]
        # A refusal in a field of its own is still what the model has to say.
        text = choice.delta.content or getattr(choice.delta, "refusal", None) or ""
        return Piece(text, tokens, choice.finish_reason)

    def _counts(self, prompt: int, completion: int) -> TokenCounts:
        if self._prices:
            read, written = self._prices
            cost: float | None = (prompt * read + completion * written) / 1e6
        else:
            cost = self._known_cost(prompt, completion)
        return TokenCounts(prompt, completion, cost)

    def _known_cost(self, prompt: int, completion: int) -> float | None:
        try:
            read, written = self._litellm.cost_per_token(
                model=self.name, prompt_tokens=prompt, completion_tokens=completion
            )
            return float(read + written)
        except Exception:  # for a model without a price it raises whatever comes first
            return None


def _refused(message: str, options: Mapping[str, Any]) -> str:
    """The parameter or format that a refusal names, empty when it names none."""
    for name in options:
        if name != _FORMAT and re.search(rf"\b{name}\b", message):
            return name
    if _FORMAT in options and _NO_SCHEMA.search(message):
        kind: str = options[_FORMAT]["type"]
        return kind if kind == "json_schema" else _FORMAT
    return ""
