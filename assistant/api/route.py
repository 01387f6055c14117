"""What routes have in common: the parts of the running assistant, for which a signature asks, and
JSON bodies, which are read once and within bounds, long ones beside the event loop."""

import json
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import Depends, Request, Response
from fastapi.routing import APIRoute

from assistant.api.request_context import services
from assistant.characters import whole_characters
from assistant.errors import InvalidRequest
from assistant.services import Services
from memory_store.scheduler import aside, current_job, pause


async def _services(request: Request) -> Services:
    return services(request)


Parts = Annotated[Services, Depends(_services)]
"""The dependency is `async`: FastAPI runs a plain function in a thread, which costs more than the
look-up."""


MOST_VALUES = 200_000
"""Values in one body: objects, lists, texts and the like. Ten thousand messages with everything
that belongs to them have half as many."""
# Seconds of the loop that checking a byte of a body against its model takes at most, as a rule.
_CHECKED = 5e-8


class JsonRoute(APIRoute):
    """A route whose JSON body is read by `read_json`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def reading(request: Request) -> Response:
            body = await request.body() if self.body_field else b""
            if not body:
                return await handler(request)
            read = await aside(len(body), read_json, body)
            current_job().charge(len(body) * _CHECKED)
            await pause()
            return await handler(_ReadRequest(request, body, read))

        return reading


class _ReadRequest(Request):
    def __init__(self, request: Request, body: bytes, read: Any) -> None:
        super().__init__(request.scope, request.receive)
        self._body = body
        self._read = read

    async def json(self) -> Any:
        return self._read


def read_json(body: bytes) -> Any:
    """The JSON of a body, each text passed through `whole_characters`. Raises `InvalidRequest`."""
    left = MOST_VALUES

    def whole(given: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise InvalidRequest(
                f"more than {MOST_VALUES} values in one request", code="too_many_values"
            )
        if isinstance(given, str):
            return whole_characters(given)
        if isinstance(given, list):
            return [whole(one) for one in given]
        if isinstance(given, dict):
            return {whole_characters(name): whole(value) for name, value in given.items()}
        return given

    try:
        return whole(json.loads(body))
    except json.JSONDecodeError as error:
        raise InvalidRequest(
            f"invalid JSON in the body: {error.msg}", code="invalid_json"
        ) from error
    except ValueError as error:  # not UTF-8, or a number of thousands of digits
        raise InvalidRequest(
            "invalid JSON in the body: it cannot be decoded", code="invalid_json"
        ) from error
    except RecursionError as error:
        raise InvalidRequest("the body is nested too deeply", code="invalid_json") from error
