"""Every failure, on every route, in OpenAI's shape."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.routing import Match

from assistant.errors import AssistantError, InvalidRequest, RequestTimeout, Unauthenticated
from assistant.observing.logs import current_note
from memory_store.errors import (
    EmbeddingFailed,
    InvalidRecord,
    MemoryStoreError,
    RoundTaken,
    StoreDenied,
    StoreFull,
    StoreLocked,
    StoreMismatch,
    StoreReadOnly,
    StoreUnavailable,
)

_log = logging.getLogger(__name__)

# The first kind that fits counts.
_STORE_ERRORS: dict[type[MemoryStoreError], tuple[int, str, str]] = {
    InvalidRecord: (400, "invalid_request_error", "invalid_value"),
    RoundTaken: (503, "server_error", "session_busy"),
    StoreFull: (507, "server_error", "storage_full"),
    StoreReadOnly: (503, "server_error", "storage_read_only"),
    StoreUnavailable: (503, "server_error", "store_unavailable"),
    StoreMismatch: (503, "server_error", "store_unavailable"),
    EmbeddingFailed: (503, "server_error", "embedding_failed"),
}
# Seconds after which the same request may succeed without anybody's doing.
_PASSING: dict[type[MemoryStoreError], int] = {RoundTaken: 1, StoreUnavailable: 5}
# Somebody must do something first: OpenAI's clients are told not to try again.
_LASTING = (StoreFull, StoreReadOnly, StoreDenied, StoreLocked, StoreMismatch)


class ErrorInside(BaseModel):
    """What went wrong: for people, by OpenAI's type, where, and by a stable name."""

    message: str
    type: str
    param: str | None
    code: str | None


class ErrorBody(BaseModel):
    """The body of every failure."""

    error: ErrorInside


# How failures are described in the OpenAPI document, for every route, also for those that answer in
# another form than JSON.
_AS_JSON = {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorBody"}}}
DESCRIBED: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorBody, "description": description, "content": _AS_JSON}
    for status, description in (
        ("4XX", "The request cannot be granted."),
        ("5XX", "The server, or a model it asks, failed."),
    )
}


def error_body(error: Exception) -> tuple[int, dict[str, Any]]:
    """The status and the OpenAI-shaped body of any exception. An unforeseen one reveals nothing.

    The code is also put into the request's note, for the log.
    """
    if isinstance(error, AssistantError):
        return error.status, _body(error.message, error.kind, error.code, error.param)
    for kind, (status, type_, code) in _STORE_ERRORS.items():
        if isinstance(error, kind):
            return status, _body(str(error), type_, code)
    _log.error("unexpected error", exc_info=error)
    return 500, _body("internal error; see the server log", "server_error", "internal_error")


def install(app: FastAPI) -> None:
    """Answer every foreseen kind of failure with an error body; `Observed` answers the others."""
    app.add_exception_handler(AssistantError, _domain)
    app.add_exception_handler(MemoryStoreError, _domain)
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(HTTPException, _http)


def error_response(error: Exception) -> JSONResponse:
    status, body = error_body(error)
    return JSONResponse(body, status, _headers_of(error))


async def _domain(_: Request, error: Exception) -> JSONResponse:
    return error_response(error)


def _headers_of(error: Exception) -> dict[str, str]:
    """Headers that say when to try again, where that can help, or not to try again, where somebody
    must act first."""
    if isinstance(error, Unauthenticated):
        return {"WWW-Authenticate": "Bearer"}
    if isinstance(error, RequestTimeout):
        return {"Connection": "close"}
    if isinstance(error, AssistantError):
        after = error.retry_after
        return {} if after is None else {"Retry-After": str(max(1, round(after)))}
    if isinstance(error, _LASTING):
        return {"X-Should-Retry": "false"}
    seconds = [after for kind, after in _PASSING.items() if isinstance(error, kind)]
    return {"Retry-After": str(seconds[0])} if seconds else {}


async def _validation(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, RequestValidationError):
        return error_response(error)
    first = _most_telling(error.errors(), error.body)
    if first["type"] == "json_invalid":
        why = first.get("ctx", {}).get("error", "")
        return error_response(
            InvalidRequest(f"invalid JSON in the body: {why}", code="invalid_json")
        )
    param = ".".join(map(str, _steps(first, error.body))) or None
    message = f"{param}: {first['msg']}" if param else f"the body: {first['msg']}"
    return error_response(InvalidRequest(message, param=param))


def _most_telling(mistakes: Sequence[Any], body: Any) -> Any:
    """The mistake to report: the first. In a field of several types, each type has a mistake; then
    report that of the type that was meant: the deepest, and rather none about a wrong type."""
    place = list(_steps(mistakes[0], body))
    there = [one for one in mistakes if list(_steps(one, body))[: len(place)] == place]
    return max(there, key=lambda one: (not one["type"].endswith("_type"), len(one["loc"])))


def _steps(mistake: Mapping[str, Any], body: Any) -> Iterator[str | int]:
    """Where in a request the mistake is, without the names of the types that were tried there."""
    where, *path = mistake["loc"]
    if where != "body":
        yield from mistake["loc"]
        return
    inside = body
    for step in path:
        if isinstance(inside, Mapping) and (step in inside or mistake["type"] == "missing"):
            yield step
            inside = inside.get(step)
        elif isinstance(inside, list) and isinstance(step, int):
            yield step
            inside = inside[step] if step < len(inside) else None


async def _http(request: Request, error: Exception) -> JSONResponse:
    status = error.status_code if isinstance(error, HTTPException) else 500
    method_and_path = f"{request.method} {request.url.path}"
    why = getattr(error, "detail", "the server failed")
    message, code = {
        # Not UTF-8, nested too deeply, or a number of thousands of digits.
        400: ("invalid JSON in the body: it cannot be decoded", "invalid_json"),
        404: (f"there is no route {method_and_path}", "route_not_found"),
        405: (f"{method_and_path} is not possible", "method_not_allowed"),
    }.get(status, (f"{method_and_path}: {why}", "http_error"))
    type_ = "server_error" if status >= 500 else "invalid_request_error"
    body = _body(message, "not_found_error" if status == 404 else type_, code)
    headers = dict(getattr(error, "headers", None) or {})
    if status == 405:
        headers["Allow"] = ", ".join(_methods_at(request))
    return JSONResponse(body, status, headers)


def _methods_at(request: Request) -> list[str]:
    """The methods of a path; the framework names those of one of its routes only."""

    def possible(method: str) -> bool:
        scope = {**request.scope, "method": method, "path_params": {}}
        return any(route.matches(scope)[0] is Match.FULL for route in request.app.routes)

    found = [method for method in ("DELETE", "GET", "PATCH", "POST", "PUT") if possible(method)]
    return [*found, "HEAD"] if "GET" in found else found


def _body(message: str, type_: str, code: str, param: str | None = None) -> dict[str, Any]:
    if note := current_note():
        note.error_code = code
    return {"error": {"message": message, "type": type_, "param": param, "code": code}}
