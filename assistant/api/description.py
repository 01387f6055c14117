"""How routes are described in the OpenAPI document: in words, by examples, with their failures."""

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.routing import BaseRoute

from assistant.api.failures import declared_failures, failures

_JSON = "application/json"
# Of a stream the schema is that of one event, whose data is JSON, or `[DONE]`.
_EVENT = {
    "type": "object",
    "properties": {"event": {"type": "string"}, "data": {"type": "string"}},
    "required": ["data"],
}


def described(
    summary: str,
    reply: type[BaseModel],
    example: Any,
    *,
    body: Any = None,
    streamed: str | None = None,
    may_fail: tuple[int, ...] = (),
    other: Mapping[int | str, dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """The arguments of a route that describe it: a reply and a body as they really are, and how it
    looks as `text/event-stream`, where it can be."""
    content: dict[str, Any] = {_JSON: {"example": example}}
    if streamed is not None:
        content["text/event-stream"] = {"schema": _EVENT, "example": streamed}
    means = (reply.__doc__ or summary).splitlines()[0]
    replies: dict[int | str, dict[str, Any]] = {
        200: {"model": reply, "description": means, "content": content}
    }
    arguments: dict[str, Any] = {"summary": summary}
    if body is not None:
        arguments["openapi_extra"] = _with_body(_JSON, body)
        may_fail = (*may_fail, 413)
    return arguments | {"responses": {**replies, **failures(*may_fail), **(other or {})}}


def described_text(
    summary: str,
    media_type: str,
    example: str,
    *,
    may_fail: tuple[int, ...] = (),
) -> dict[str, Any]:
    """The arguments of a route that answers with text."""
    content = {media_type: {"schema": {"type": "string"}, "example": example}}
    reply = {"description": summary, "content": content}
    return {"summary": summary, "responses": {200: reply, **failures(*may_fail)}}


def body_of_lines(media_type: str, example: str) -> dict[str, Any]:
    """The body of a route that reads it line by line."""
    content = {media_type: {"schema": {"type": "string"}, "example": example}}
    return {"requestBody": {"content": content, "required": True}}


def install(app: FastAPI, routes: Sequence[BaseRoute]) -> None:
    """Complete the application's document by what is declared once, and what its routes say."""
    plain = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = plain()
            document["components"]["responses"] = declared_failures()
            for route in routes:
                if isinstance(route, APIRoute):
                    for method in route.methods or ():
                        _complete(document["paths"][route.path_format][method.lower()], route)
        return plain()

    app.openapi = openapi  # type: ignore[method-assign]


def _complete(operation: dict[str, Any], route: APIRoute) -> None:
    """Undo what the framework does to a description: it leaves every null out of examples, and
    adds to a reply's schema what it makes of annotations."""
    replies = operation["responses"]["200"]["content"]
    for media_type, media in route.responses[200]["content"].items():
        replies[media_type]["example"] = media["example"]
        if "$ref" in replies[media_type]["schema"]:
            replies[media_type]["schema"] = {"$ref": replies[media_type]["schema"]["$ref"]}
    body = (route.openapi_extra or {}).get("requestBody", {"content": {}})
    for media_type, media in body["content"].items():
        operation["requestBody"]["content"][media_type]["example"] = media["example"]


def _with_body(media_type: str, example: Any) -> dict[str, Any]:
    return {"requestBody": {"content": {media_type: {"example": example}}}}
