"""Bodies of the route of the Model Context Protocol."""

from collections.abc import Mapping
from typing import Any, ClassVar

from assistant.api.requests import Request


class McpMessage(Request):
    """`POST /mcp`: a JSON-RPC 2.0 message. The protocol's own reader says what else is wrong."""

    jsonrpc: Any = None
    id: Any = None
    method: Any = None
    params: Any = None
    example: ClassVar[Mapping[str, Any]] = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": "remember",
            "arguments": {"text": "I live in Ghent.", "said_at": "2023-05-20T10:00:00Z"},
        },
    }
