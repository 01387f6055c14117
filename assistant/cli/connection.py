"""The terminal commands' connection to a running assistant: HTTP for one user."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Self
from urllib.parse import quote

import httpx

from assistant.errors import AssistantError
from assistant.tls import trust_for

_SECONDS = 600.0
_DEFAULT_USER = "default"
_SPACE = "X-Memory-Space"


class ServerError(AssistantError):
    """The server cannot be reached or refused the request."""


class ServerConnection:
    """Requests to the assistant at `base_url` for one user. Every failure is a `ServerError`.

    Without a `user_id` it is the user of the key, or the single default user. `seconds` is how
    long the server may be silent.
    """

    def __init__(
        self,
        base_url: str,
        user_id: str | None = None,
        api_key: str | None = None,
        *,
        seconds: float = _SECONDS,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self._user_id = user_id
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        try:
            self._http = httpx.Client(
                base_url=self.base_url,
                headers=headers,
                timeout=seconds,
                verify=trust_for(self.base_url),
            )
        except (httpx.InvalidURL, UnicodeEncodeError) as error:
            raise ServerError(
                f"{base_url!r} is not a valid address, or the API key is malformed: {error}"
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    @property
    def user_id(self) -> str:
        if self._user_id is None:
            caller = self.call("GET", "/version").get("caller") or {}
            self._user_id = str(caller.get("user_id") or _DEFAULT_USER)
        return self._user_id

    @user_id.setter
    def user_id(self, user_id: str) -> None:
        self._user_id = user_id

    @property
    def space(self) -> str | None:
        """The space that is asked about; None for the user's own memory."""
        named: str | None = self._http.headers.get(_SPACE)
        return named

    def enter(self, named: str | None) -> None:
        """Ask about this space from now on, or about the user's own memory."""
        self._http.headers.pop(_SPACE, None)
        if named is not None:
            self._http.headers[_SPACE] = self._space_id(named)

    @contextmanager
    def beside_the_space(self) -> Iterator[None]:
        """Ask about the user's own memory, and about no space, within the block."""
        space = self._http.headers.pop(_SPACE, None)
        try:
            yield
        finally:
            self._http.headers.update({_SPACE: space} if space else {})

    def space_path(self, named: str, member: str | None = None) -> str:
        """The path of a shared space, or of a member of it."""
        path = f"/v1/spaces/{in_path(self._space_id(named))}"
        return path if member is None else f"{path}/members/{in_path(member)}"

    def _space_id(self, named: str) -> str:
        """The id of a space: as it is, or of the only shared space of the user with this name."""
        if ":" in named or named.startswith("shared-"):
            return named
        spaces = self.mine("GET", "/v1/spaces")["data"]
        ids = [str(one["space"]) for one in spaces if one.get("name") == named]
        if len(ids) != 1:
            many = "several of your spaces are" if ids else "no space of yours is"
            raise ServerError(f"{many} called {named!r}: 'assistant spaces list' shows their ids")
        return ids[0]

    def check(self) -> None:
        """Raise when no assistant answers there."""
        with self._failures():
            reply = self._http.get("/health", timeout=10)
        if reply.status_code != 200:
            raise ServerError(f"{self.base_url} is not an assistant: GET /health answered {reply}")

    def call(self, method: str, path: str, **content: Any) -> dict[str, Any]:
        """The JSON object that a route answers; `content` is as for `httpx.Client.request`."""
        with self._failures():
            reply = self._http.request(method, path, **content)
        if reply.status_code != 200:
            raise _refusal(reply)
        try:
            body = reply.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            raise ServerError(f"{self.base_url} is not an assistant: {path} answered no JSON")
        return body

    def mine(self, method: str, path: str, **asked: Any) -> dict[str, Any]:
        """What a route answers for the user. `asked` is sent along, without values that are None. A
        trailing underscore, which keeps a name apart from Python's keywords, is not sent."""
        given = {name.rstrip("_"): value for name, value in asked.items() if value is not None}
        where = "params" if method in ("GET", "DELETE") else "json"
        return self.call(method, path, **{where: {"user_id": self.user_id} | given})

    def content(self, method: str, path: str, **asked: Any) -> bytes:
        """The bytes of a whole answer."""
        with self._failures():
            reply = self._http.request(method, path, **asked)
        if reply.status_code != 200:
            raise _refusal(reply)
        return reply.content

    def lines(self, method: str, path: str, **content: Any) -> Iterator[str]:
        """The lines of a long answer, as they come. Closing the iterator ends the request."""
        with self._failures(), self._http.stream(method, path, **content) as reply:
            if reply.status_code != 200:
                reply.read()
                raise _refusal(reply)
            yield from _lines(reply.iter_text())

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except UnicodeEncodeError as error:  # of arguments that the shell did not give as UTF-8
            raise ServerError("what was given is not UTF-8 text") from error
        except httpx.HTTPError as error:
            raise ServerError(
                f"no assistant at {self.base_url} ({error or type(error).__name__}): "
                "start one with 'assistant serve', or name another with --assistant"
            ) from error


def _lines(pieces: Iterable[str]) -> Iterator[str]:
    """Text line by line. Only a newline ends a line: JSON may hold the other separators."""
    rest = ""
    for piece in pieces:
        *lines, rest = (rest + piece).split("\n")
        yield from lines
    if rest:
        yield rest


def in_path(text: str) -> str:
    return quote(text, safe="")


def _refusal(reply: httpx.Response) -> ServerError:
    try:
        message = str(json.loads(reply.text)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        url, status = reply.request.url, reply.status_code
        message = f"{url.host}:{url.port} is not an assistant: {url.path} answered {status}"
    if reply.status_code == 401:
        message += " (give a key with --api-key or ASSISTANT_API_KEY)"
    return ServerError(message)
