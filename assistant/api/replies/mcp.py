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


_ERRORS = [{"$ref": f"#/components/schemas/{name}"} for name in ("ErrorBody", "McpAnswer")]
ANSWERED: dict[int | str, dict[str, Any]] = {
    202: {"description": "A notification, which has no answer."},
    "4XX": {
        "description": "The request cannot be granted; an error of the protocol is JSON-RPC's.",
        "content": {"application/json": {"schema": {"anyOf": _ERRORS}}},
    },
}
"""Answers of the route besides the usual one."""


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
