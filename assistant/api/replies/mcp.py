"""What the route of the Model Context Protocol answers, and what OAuth clients are told of it."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from assistant.api.replies import Reply


class McpError(Reply):
    """A failure as JSON-RPC has it."""

    code: int
    message: str
    data: Any = None


class McpAnswer(Reply):
    """The answer to a JSON-RPC request: `result` or `error`."""

    jsonrpc: Literal["2.0"]
    id: str | int | None = None
    result: dict[str, Any] | None = None
    error: McpError | None = None
    example: ClassVar[Mapping[str, Any]] = {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {
            "content": [
                {
                    "type": "text",
                    "text": '{\n  "ids": [\n    "0157570d-e94a-5df1-bdf4-1e758aab5951"\n  ],\n'
                    '  "recorded": 1,\n  "known": 0\n}',
                }
            ],
            "structuredContent": {
                "ids": ["0157570d-e94a-5df1-bdf4-1e758aab5951"],
                "recorded": 1,
                "known": 0,
            },
            "isError": False,
        },
    }


def _refused(meaning: str) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/McpAnswer"}
    return {"description": meaning, "content": {"application/json": {"schema": schema}}}


ANSWERED: dict[int | str, dict[str, Any]] = {
    202: {"description": "A notification, which has no answer."},
    401: _refused("There is no API key, or it opens nothing."),
    403: _refused("The API key does not allow this; without keys, only this machine may ask."),
    413: _refused("The body is larger than the server accepts."),
    501: _refused("The extra `mcp` is not installed."),
    "4XX": _refused("The request cannot be granted."),
    "5XX": _refused("The server failed."),
}
"""The answers besides the usual one: the refusals of other routes, in JSON-RPC's shape."""


class ProtectedResource(Reply):
    """OAuth 2.0 Protected Resource Metadata (RFC 9728)."""

    resource: str
    resource_name: str
    authorization_servers: list[str]
    bearer_methods_supported: list[Literal["header"]]
    example: ClassVar[Mapping[str, Any]] = {
        "resource": "https://memory.example.org/mcp",
        "resource_name": "Aide-mémoire",
        "authorization_servers": ["https://login.example.org"],
        "bearer_methods_supported": ["header"],
    }
