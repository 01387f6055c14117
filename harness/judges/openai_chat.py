"""A client of one OpenAI-compatible chat model for judges and authors, with a cache on disk."""

import asyncio
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import httpx

from harness import harness_version
from harness.assistants.endpoint import RetryPolicy, public_url, require_http, trust_for
from harness.assistants.transport import detail_of
from harness.errors import (
    JudgeCallFailed,
    JudgeReplyAwaited,
    JudgeUnavailable,
    UsageError,
    raising,
)
from harness.spending import Meter


class ReplyCache:
    """A cache of replies whose key is everything that a reply depends on; failures are not kept.

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
        with raising(UsageError, f"--judge-cache {self._folder}: cannot be written"):
            path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_text(text + "\n", encoding="utf-8")
            partial.replace(path)

    def _path(self, request: Mapping[str, Any]) -> Path:
        text = json.dumps(request, sort_keys=True, ensure_ascii=True)
        name = hashlib.sha256(text.encode()).hexdigest()
        return self._folder / name[:2] / f"{name}.json"


Messages = Sequence[Mapping[str, str]]
# Some models refuse settings that others need: a refused setting is left out, the call repeated.
_SETTINGS: Mapping[str, Any] = {"temperature": 0, "max_tokens": 2048}
_THINKING_OFF = {"chat_template_kwargs": {"enable_thinking": False}}
# Status codes. Busy: the same request may succeed later. Refused: the request itself is at fault.
_BUSY = (408, 409, 429)
_REFUSED = (400, 422)


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
    # The role that error messages name.
    role: str = "judge"

    def __post_init__(self) -> None:
        require_http(self.base_url, "--model" if self.role == "author" else "--judge")

    @property
    def public_url(self) -> str:
        return public_url(self.base_url)


@dataclass(frozen=True, slots=True)
class ModelReply:
    """The text of a model or a person, and the server's token counts, None where it gave none."""

    text: str
    finish_reason: str = "stop"
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class OpenAIChat:
    """Asks the model, repeats failed calls after `Retry-After` or growing pauses, pays from a
    meter, and keeps replies where a cache is given.
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
        self._http: httpx.AsyncClient | None = None
        self._settings = {**_SETTINGS, **({} if endpoint.think else _THINKING_OFF)}
        self._patience = RetryPolicy(first_wait=0.5, longest_wait=8.0)

    async def ask(self, messages: Messages, *, vote: int = 0) -> ModelReply:
        """Return one reply. `vote` tells repetitions of the same request apart in the cache.

        Raises `JudgeUnavailable` when further calls would fail too, `BudgetSpent` when the budget
        is used up, and `JudgeCallFailed` when the server rejects this request.
        """
        request = self.identity(messages, vote)
        if (kept := self.kept(request)) is not None:
            return kept
        characters = sum(len(message["content"]) for message in messages)
        reply = await self.meter.spend(characters, lambda: self._call(messages))
        self.keep(request, reply)
        return reply

    def identity(self, messages: Messages, vote: int) -> dict[str, Any]:
        return {
            "base_url": self.endpoint.public_url,
            "model": self.endpoint.model,
            "messages": list(messages),
            "settings": {**_SETTINGS, "think": self.endpoint.think},
            "vote": vote,
        }

    def body(self, messages: Messages) -> dict[str, Any]:
        return {"model": self.endpoint.model, "messages": list(messages), **self._settings}

    def kept(self, request: Mapping[str, Any]) -> ModelReply | None:
        kept = self._cache.get(request) if self._cache else None
        return None if kept is None else ModelReply(**kept)

    def keep(self, request: Mapping[str, Any], reply: ModelReply) -> None:
        if self._cache:
            self._cache.put(request, asdict(reply))

    async def close(self) -> None:
        if self._http is not None:
            await self._http.aclose()
            self._http = None

    async def _call(self, messages: Messages) -> ModelReply:
        where = f"{self.endpoint.role} {self.endpoint.model} at {self.endpoint.public_url}"
        while True:
            settings = dict(self._settings)
            response = await self._post(self.body(messages), where)
            if response.is_success:
                return _reply(response, where)
            said = f"{where}: status {response.status_code}: {detail_of(response)}"
            if response.status_code not in _REFUSED:
                raise JudgeUnavailable(said)
            refused = [name for name in settings if _is_named(name, response.text)]
            if not refused:
                raise JudgeCallFailed(said)
            for name in refused:
                self._settings.pop(name, None)

    async def _post(self, body: Mapping[str, Any], where: str) -> httpx.Response:
        failures = 0
        while True:
            retry_after = None
            try:
                response = await self._client().post("chat/completions", json=body)
            except httpx.HTTPError as error:
                if failures == self.endpoint.retries:
                    reason = str(error) or type(error).__name__
                    raise JudgeUnavailable(f"{where}: no answer: {reason}") from error
            else:
                is_busy = response.status_code in _BUSY or response.status_code >= 500
                if not is_busy or failures == self.endpoint.retries:
                    return response
                retry_after = response.headers.get("Retry-After")
            failures += 1
            await asyncio.sleep(self._patience.wait(failures, retry_after))

    def _client(self) -> httpx.AsyncClient:
        if self._http is None:
            self._http = httpx.AsyncClient(
                base_url=self.endpoint.base_url,
                headers={
                    "User-Agent": f"aide-memoire-harness/{harness_version()}",
                    "Authorization": f"Bearer {self.endpoint.api_key or 'none'}",
                },
                timeout=self.endpoint.timeout,
                # The meter already limits the number of concurrent calls.
                limits=httpx.Limits(max_connections=None),
                verify=trust_for(self.endpoint.base_url),
                follow_redirects=True,
            )
        return self._http


def without_refused(body: dict[str, Any], refusal: str) -> dict[str, Any]:
    """The request's body without the settings that the server's refusal names."""
    settings = {*_SETTINGS, *_THINKING_OFF}
    return {
        name: value
        for name, value in body.items()
        if name not in settings or not _is_named(name, refusal)
    }


def _is_named(setting: str, message: str) -> bool:
    return setting in message or (setting in _THINKING_OFF and "thinking" in message)


def _reply(response: httpx.Response, where: str) -> ModelReply:
    try:
        return completed(response.json())
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise JudgeCallFailed(f"{where}: unreadable reply: {detail_of(response)}") from error


def completed(body: Any) -> ModelReply:
    """The reply in a chat completion. A body of another shape raises whatever its access raises."""
    choice, usage = body["choices"][0], body.get("usage") or {}
    return ModelReply(
        text=choice["message"].get("content") or "",
        finish_reason=choice.get("finish_reason") or "",
        prompt_tokens=usage.get("prompt_tokens"),
        completion_tokens=usage.get("completion_tokens"),
    )


ID_BEGINS = "v"


@dataclass(frozen=True, slots=True)
class Correspondence:
    """The replies that were given elsewhere, and the requests that await one, by request id."""

    replies: Mapping[str, ModelReply] = field(default_factory=dict)
    awaited: dict[str, dict[str, Any]] = field(default_factory=dict)


class DeferredChat(OpenAIChat):
    """A chat that asks no server and answers with replies given elsewhere. It caches them like
    replies over HTTP, so a judge of the same name can use either kind.
    """

    def __init__(
        self,
        endpoint: ChatEndpoint,
        correspondence: Correspondence,
        cache: ReplyCache | None = None,
        meter: Meter | None = None,
        *,
        votes: int = 1,
    ) -> None:
        super().__init__(endpoint, cache, meter)
        self._correspondence = correspondence
        self._votes = votes

    async def ask(self, messages: Messages, *, vote: int = 0) -> ModelReply:
        """Return the reply. Where there is none, note the request and raise `JudgeReplyAwaited`.

        Every vote begins with the same messages, so the first request of each later vote is noted
        as well. Follow-up requests depend on the reply before them, and are noted one by one.
        """
        reply = self._known(messages, vote)
        if reply is not None:
            return reply
        is_first = len(messages) == 1
        for number in range(vote, self._votes if is_first else vote + 1):
            if self._known(messages, number) is None:
                name = _request_id(self.identity(messages, number))
                self._correspondence.awaited[name] = self.body(messages)
        raise JudgeReplyAwaited("the judge's prompt waits for its reply: harness verdicts import")

    def _known(self, messages: Messages, vote: int) -> ModelReply | None:
        request = self.identity(messages, vote)
        given = self._correspondence.replies.get(_request_id(request))
        if given is None:
            return self.kept(request)
        self.keep(request, given)
        return given


def _request_id(request: Mapping[str, Any]) -> str:
    text = json.dumps(request, sort_keys=True, ensure_ascii=True)
    return ID_BEGINS + hashlib.sha256(text.encode()).hexdigest()[:24]
