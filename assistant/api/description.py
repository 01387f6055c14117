"""What the OpenAPI document says of routes besides their types: how they may fail, each kind of
failure declared once; examples; and forms of answers.

Replies and bodies carry their examples (`Reply.example`, `Request.example`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from assistant.api.replies import Reply
from assistant.api.requests import Request


@dataclass(frozen=True, slots=True)
class DeclaredFailure:
    """A kind of failure: its name in the document, what it means, and an example of it."""

    name: str
    meaning: str
    type: str
    code: str
    message: str
    param: str | None = None

    def response(self) -> dict[str, Any]:
        error = {
            "message": self.message,
            "type": self.type,
            "param": self.param,
            "code": self.code,
        }
        schema = {"$ref": "#/components/schemas/ErrorBody"}
        content = {"application/json": {"schema": schema, "example": {"error": error}}}
        return {"description": self.meaning, "content": content}


_FAILURES: Mapping[int, DeclaredFailure] = {
    400: DeclaredFailure(
        "InvalidRequest",
        "The request cannot be understood.",
        "invalid_request_error",
        "invalid_timestamp",
        "'soon' is no time",
        "timestamp",
    ),
    401: DeclaredFailure(
        "InvalidKey",
        "There is no API key, or it opens nothing.",
        "authentication_error",
        "invalid_api_key",
        "the API key is wrong or revoked",
    ),
    403: DeclaredFailure(
        "Forbidden",
        "The API key does not allow this; without keys, only this machine may ask.",
        "permission_error",
        "set_time_required",
        "this API key cannot set the time",
        "timestamp",
    ),
    404: DeclaredFailure(
        "NotFound",
        "For this user there is no such thing, whether or not another one has it.",
        "not_found_error",
        "memory_not_found",
        "this user has no memory 'x'",
        "id",
    ),
    409: DeclaredFailure(
        "NotHere",
        "This server cannot do it; the message says what can be done instead.",
        "invalid_request_error",
        "reindex_refused",
        "several workers share this memory: run `assistant reindex --keep-old` beside them",
    ),
    413: DeclaredFailure(
        "TooLarge",
        "The body is larger than the server accepts.",
        "invalid_request_error",
        "request_too_large",
        "the request is larger than the 8388608 bytes this server accepts",
    ),
    429: DeclaredFailure(
        "TooManyRequests",
        "This user's share is used up for now, or the model's; `Retry-After` says how long.",
        "rate_limit_error",
        "rate_limit_exceeded",
        "rate limit: 1200 requests per minute and user; retry later",
    ),
    502: DeclaredFailure(
        "BadModelReply",
        "The language model's reply cannot be used.",
        "server_error",
        "bad_model_reply",
        "the chat model gave no answer",
    ),
    503: DeclaredFailure(
        "Unavailable",
        "Memory, the encoder or the language model cannot be reached.",
        "server_error",
        "store_unavailable",
        "the store does not answer",
    ),
    504: DeclaredFailure(
        "ModelTimeout",
        "The language model did not answer in time.",
        "server_error",
        "model_timeout",
        "the chat model took more than 120 seconds",
    ),
    507: DeclaredFailure(
        "StorageFull",
        "There is no space: nothing was written, and what is there can be read.",
        "server_error",
        "storage_full",
        "the disk is full",
    ),
}
READING = (400, 429, 503)
"""How a route may fail that reads a user's memory."""
WRITING = (*READING, 507)
"""How a route may fail that changes it."""
ANSWERING = (*WRITING, 404, 502, 504)
"""How a route may fail that answers."""


def failures(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The failures of a route, by reference."""
    return {
        status: {
            "$ref": f"#/components/responses/{_FAILURES[status].name}",
            "description": _FAILURES[status].meaning,
        }
        for status in sorted(statuses)
    }


def declared_failures() -> dict[str, dict[str, Any]]:
    return {failure.name: failure.response() for failure in _FAILURES.values()}


Responses = dict[int | str, dict[str, Any]]

_JSON = "application/json"
# The schema of a stream describes one event, whose data is JSON, or `[DONE]`.
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


def text_reply(
    description: str, media_type: str, example: str, *, or_file: str | None = None
) -> Responses:
    """An answer in text; or, where a parameter asks for it, a file of another type."""
    content = text_content(media_type, example)
    if or_file is not None:
        content |= text_content(or_file, "PK…")
    return {200: {"description": description, "content": content}}


def text_content(media_type: str, example: str) -> dict[str, Any]:
    return {media_type: {"schema": {"type": "string"}, "example": example}}


def install(app: FastAPI, routes: Sequence[BaseRoute]) -> None:
    """Complete the application's document with the failures that routes name, and with examples of
    bodies and replies. The framework would leave every null out of the examples."""
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
