"""What the OpenAPI document says of routes besides their types: examples, and forms of answers.

Replies and bodies carry their examples (`Reply.example`, `Request.example`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from assistant.api.failures import declared_failures
from assistant.api.replies import Reply
from assistant.api.requests import Request

Responses = dict[int | str, dict[str, Any]]

_JSON = "application/json"
# Of a stream the schema is that of one event, whose data is JSON, or `[DONE]`.
_EVENT = {
    "type": "object",
    "properties": {"event": {"type": "string"}, "data": {"type": "string"}},
    "required": ["data"],
}


def streamed(example: str) -> Responses:
    """A reply that can be a stream of events, too."""
    return {200: {"content": {"text/event-stream": {"schema": _EVENT, "example": example}}}}


def shown(example: Mapping[str, Any]) -> Responses:
    """A reply with another example than its model's."""
    return {200: {"content": {_JSON: {"example": example}}}}


def text_reply(description: str, media_type: str, example: str) -> Responses:
    """A reply that is text."""
    return {200: {"description": description, "content": text_content(media_type, example)}}


def text_content(media_type: str, example: str) -> dict[str, Any]:
    """Text of a kind, as a reply or a body."""
    return {media_type: {"schema": {"type": "string"}, "example": example}}


def install(app: FastAPI, routes: Sequence[BaseRoute]) -> None:
    """Complete the application's document: by the failures that routes name, and the examples of
    what they take and give. The framework would leave every null out of those."""
    plain = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = plain()
            document["components"]["responses"] = declared_failures()
            for route in routes:
                if isinstance(route, APIRoute):
                    for method in route.methods or ():
                        _add_examples(document["paths"][route.path_format][method.lower()], route)
        return plain()

    app.openapi = openapi  # type: ignore[method-assign]


def _add_examples(operation: dict[str, Any], route: APIRoute) -> None:
    reply, body = route.response_model, route.body_field
    if isinstance(reply, type) and issubclass(reply, Reply):
        ok = operation["responses"]["200"]
        ok["description"] = (reply.__doc__ or "").splitlines()[0]
        own = route.responses.get(200, {}).get("content", {}).get(_JSON, {})
        ok["content"][_JSON]["example"] = own.get("example", reply.example)
    taken = body.field_info.annotation if body else None
    if isinstance(taken, type) and issubclass(taken, Request):
        operation["requestBody"]["content"][_JSON]["example"] = taken.example
