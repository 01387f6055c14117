"""Any language model litellm speaks to; loaded when a model is configured, never otherwise."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

from assistant.errors import PromptRefused
from assistant.models.chat_model import Message, Piece, TokenCounts, piece_of
from assistant.models.litellm_data import Prices
from assistant.models.litellm_errors import explained
from assistant.models.litellm_import import load_litellm
from assistant.models.refusals import Refusals
from assistant.settings import LanguageModel

# Of a caller's options only these are arguments: litellm takes others to be meant for itself, such
# as where to send the request and with which key.
# `user` is not among them: litellm leaves it out for models that it does not know.
_OPENAIS = frozenset(
    """audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens
    max_tokens modalities n parallel_tool_calls prediction presence_penalty prompt_cache_key
    reasoning_effort response_format safety_identifier seed service_tier stop store stream_options
    temperature tool_choice tools top_logprobs top_p verbosity""".split()
)


def _arguments(options: Mapping[str, Any]) -> dict[str, Any]:
    known = {name: value for name, value in options.items() if name in _OPENAIS}
    others = {name: value for name, value in options.items() if name not in _OPENAIS}
    return known | ({"extra_body": others} if others else {})


class LitellmModel:
    """A model by its litellm name. One call is one request: retries are the gateway's.

    What the model refuses is not sent again (see `Refusals`).
    """

    def __init__(self, how: LanguageModel, prices: tuple[float, float] | None = None) -> None:
        """`prices` are dollars for a million tokens read and written, for models whose price
        litellm does not know."""
        self.name = how.name
        self.identity = f"{how.name}@{how.base_url}"
        self._prices = Prices.of(how.name, prices) if prices else None
        self._refusals = Refusals()
        self._call: dict[str, Any] = {"model": how.name, "timeout": how.timeout, "max_retries": 0}
        if how.base_url:
            self._call["api_base"] = how.base_url
        if how.key:
            self._call["api_key"] = how.key
        self._litellm = load_litellm()

    async def stream(
        self, messages: Sequence[Message], options: Mapping[str, Any]
    ) -> AsyncGenerator[Piece, None]:
        """See `ChatModel.stream`."""
        wanted = {"stream_options": {"include_usage": True}, **options}
        said = [message.body for message in messages]
        reply = await self._open(said, wanted)
        try:
            async for chunk in reply:
                yield self._piece(chunk)
        except Exception as error:  # litellm's tree has many roots; every one is mapped
            raise explained(self._litellm, self.name, error) from error
        finally:
            # A caller that goes away must not leave the provider generating.
            await reply.aclose()

    async def _open(self, messages: list[dict[str, Any]], wanted: Mapping[str, Any]) -> Any:
        """Begin the reply, without what the model refuses."""
        while True:
            options = self._refusals.accepted(wanted)
            try:
                return await self._litellm.acompletion(
                    **_arguments(options), **self._call, messages=messages, stream=True
                )
            except Exception as error:
                failure = explained(self._litellm, self.name, error)
                refused = isinstance(failure, PromptRefused)
                if not (refused and self._refusals.learn(str(error), wanted)):
                    raise failure from error

    async def close(self) -> None:
        """See `ChatModel.close`; litellm keeps its clients to itself."""

    def _piece(self, chunk: Any) -> Piece:
        usage = getattr(chunk, "usage", None)
        tokens = self._counts(usage.model_dump(exclude_none=True)) if usage else None
        choices = [choice.model_dump(exclude_none=True) for choice in chunk.choices]
        return piece_of(choices, tokens)

    def _counts(self, usage: Mapping[str, Any]) -> TokenCounts:
        prompt, completion = usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)
        cost = self._prices.cost if self._prices else self._known_cost
        return TokenCounts(prompt, completion, cost(prompt, completion), usage)

    def _known_cost(self, prompt: int, completion: int) -> float | None:
        try:
            read, written = self._litellm.cost_per_token(
                model=self.name, prompt_tokens=prompt, completion_tokens=completion
            )
            return float(read + written)
        except Exception:  # for a model without a price it raises whatever comes first
            return None
