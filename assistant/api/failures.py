"""How routes may fail, for the OpenAPI document: each kind of failure declared once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Failure:
    """A kind of failure: its name in the document, what it means, and an example of it."""

    name: str
    meaning: str
    type: str
    code: str
    message: str
    param: str | None = None

    def response(self) -> dict[str, Any]:
        """The response that routes refer to."""
        error = {
            "message": self.message,
            "type": self.type,
            "param": self.param,
            "code": self.code,
        }
        schema = {"$ref": "#/components/schemas/ErrorBody"}
        content = {"application/json": {"schema": schema, "example": {"error": error}}}
        return {"description": self.meaning, "content": content}


_FAILURES: Mapping[int, Failure] = {
    400: Failure(
        "InvalidRequest",
        "The request cannot be understood.",
        "invalid_request_error",
        "invalid_timestamp",
        "'soon' is no time",
        "timestamp",
    ),
    401: Failure(
        "InvalidKey",
        "There is no API key, or it opens nothing.",
        "authentication_error",
        "invalid_api_key",
        "the API key is wrong or revoked",
    ),
    403: Failure(
        "Forbidden",
        "The API key does not allow this; without keys, only this machine may ask.",
        "permission_error",
        "set_time_required",
        "this API key cannot set the time",
        "timestamp",
    ),
    404: Failure(
        "NotFound",
        "For this user there is no such thing, whether or not another one has it.",
        "not_found_error",
        "memory_not_found",
        "this user has no memory 'x'",
        "id",
    ),
    413: Failure(
        "TooLarge",
        "The body is larger than the server accepts.",
        "invalid_request_error",
        "request_too_large",
        "the request is larger than the 1048576 bytes this server accepts",
    ),
    429: Failure(
        "TooManyRequests",
        "This user's share is used up for now, or the model's; `Retry-After` says how long.",
        "rate_limit_error",
        "rate_limit_exceeded",
        "rate limit: 1200 requests per minute and user; retry later",
    ),
    502: Failure(
        "BadModelReply",
        "The language model's reply cannot be used.",
        "server_error",
        "bad_model_reply",
        "the chat model gave no answer",
    ),
    503: Failure(
        "Unavailable",
        "Memory, the encoder or the language model cannot be reached.",
        "server_error",
        "store_unavailable",
        "the store does not answer",
    ),
    504: Failure(
        "ModelTimeout",
        "The language model did not answer in time.",
        "server_error",
        "model_timeout",
        "the chat model took more than 120 seconds",
    ),
    507: Failure(
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
    """What routes refer to, by name."""
    return {failure.name: failure.response() for failure in _FAILURES.values()}
