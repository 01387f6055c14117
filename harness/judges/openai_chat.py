"""One OpenAI-compatible chat model, as judges need it, and its replies kept on disk; the only
importer of `openai`.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import JudgeCallFailed, JudgeUnavailable, UsageError
from harness.spending.budget import Meter
from harness.urls import public_url, require_http


class ReplyCache:
    """Replies by everything that they depend on; failures are never kept.

    Files are written whole and renamed, so several processes may share a folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, request: Mapping[str, Any]) -> dict[str, Any] | None:
        """The kept reply to exactly this request; a damaged file counts as none."""
        try:
            kept = json.loads(self._path(request).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return kept["reply"] if isinstance(kept, dict) and "reply" in kept else None

    def put(self, request: Mapping[str, Any], reply: Mapping[str, Any]) -> None:
        """Keep a reply beside its request."""
        path = self._path(request)
        partial = path.with_suffix(f".{os.getpid()}.partial")
        text = json.dumps({"request": request, "reply": reply}, ensure_ascii=True, indent=1)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_text(text + "\n", encoding="utf-8")
            partial.replace(path)
        except OSError as error:
            reason = error.strerror or error
            raise UsageError(
                f"--judge-cache {self._folder}: cannot be written ({reason})"
            ) from error

    def _path(self, request: Mapping[str, Any]) -> Path:
        text = json.dumps(request, sort_keys=True, ensure_ascii=True)
        name = hashlib.sha256(text.encode()).hexdigest()
        return self._folder / name[:2] / f"{name}.json"


if TYPE_CHECKING:
    from openai import AsyncOpenAI

Messages = Sequence[Mapping[str, str]]
# Some models refuse settings that others need; a refused one is left out and the call repeated.
_SETTINGS: Mapping[str, Any] = {"temperature": 0, "max_tokens": 2048}
_THINKING_OFF = {"chat_template_kwargs": {"enable_thinking": False}}


@dataclass(frozen=True, slots=True)
class ChatEndpoint:
    """A model behind a base URL; `timeout` is seconds for one call, `retries` how often it is
    repeated.
    """

    model: str
    base_url: str
    api_key: str | None = field(default=None, repr=False)
    timeout: float = 120.0
    retries: int = 6
    think: bool = True

    def __post_init__(self) -> None:
        require_http(self.base_url, "--judge")

    @property
    def public_url(self) -> str:
        """The URL without credentials, fit for a manifest."""
        return public_url(self.base_url)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said, and the tokens that its server counted, None where it did not."""

    text: str
    finish_reason: str
    prompt_tokens: int | None
    completion_tokens: int | None


class OpenAIChat:
    """Asks, repeats with `Retry-After` and growing pauses, pays from a meter, and remembers replies
    where a cache is given.
    """

    def __init__(
        self,
        endpoint: ChatEndpoint,
        cache: ReplyCache | None = None,
        meter: Meter | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.meter = meter or Meter("judge")
        self._cache = cache
        self._client: AsyncOpenAI | None = None
        self._settings: dict[str, Any] = dict(_SETTINGS)
        self._extra: dict[str, Any] = {} if endpoint.think else dict(_THINKING_OFF)

    async def ask(self, messages: Messages, *, vote: int = 0) -> Reply:
        """One reply. `vote` tells repeated askings of the same question apart in the cache.

        Raises `JudgeUnavailable` when going on makes no sense, `BudgetSpent` when it may not,
        `JudgeCallFailed` for a request that the server takes exception to.
        """
        request = {
            "base_url": self.endpoint.public_url,
            "model": self.endpoint.model,
            "messages": list(messages),
            "settings": {**_SETTINGS, "think": self.endpoint.think},
            "vote": vote,
        }
        kept = self._cache.get(request) if self._cache else None
        if kept is not None:
            return Reply(**kept)
        characters = sum(len(message["content"]) for message in messages)
        reply = await self.meter.spend(characters, lambda: self._call(messages))
        if self._cache:
            self._cache.put(request, asdict(reply))
        return reply

    async def close(self) -> None:
        """Let go of the connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def _call(self, messages: Messages) -> Reply:
        import openai  # takes most of a second: only who uses it should pay

        if self._client is None:
            self._client = openai.AsyncOpenAI(
                base_url=self.endpoint.base_url,
                api_key=self.endpoint.api_key or "none",
                timeout=self.endpoint.timeout,
                max_retries=self.endpoint.retries,
            )
        where = f"judge {self.endpoint.model} at {self.endpoint.public_url}"
        while True:
            try:
                response = await self._client.chat.completions.create(
                    model=self.endpoint.model,
                    messages=list(messages),  # type: ignore[arg-type]
                    extra_body=self._extra or None,
                    **self._settings,
                )
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                if not self._drop_refused(str(error)):
                    raise JudgeCallFailed(f"{where}: {error}") from error
            except openai.APIResponseValidationError as error:
                raise JudgeCallFailed(f"{where}: unreadable reply: {error}") from error
            except openai.OpenAIError as error:
                raise JudgeUnavailable(f"{where}: {_told(error)}") from error
            else:
                return _reply(response, where)

    def _drop_refused(self, message: str) -> bool:
        """Leave out the setting that an error message names; whether there was one."""
        for settings in (self._settings, self._extra):
            named = [
                n
                for n in settings
                if n in message or (settings is self._extra and "thinking" in message)
            ]
            for name in named:
                del settings[name]
            if named:
                return True
        return False


def _reply(response: Any, where: str) -> Reply:
    choices = getattr(response, "choices", None)
    if not choices:
        raise JudgeCallFailed(f"{where}: a reply without choices")
    usage = response.usage
    return Reply(
        text=choices[0].message.content or "",
        finish_reason=choices[0].finish_reason or "",
        prompt_tokens=usage.prompt_tokens if usage else None,
        completion_tokens=usage.completion_tokens if usage else None,
    )


def _told(error: Exception) -> str:
    return str(error) or type(error).__name__
