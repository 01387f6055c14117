"""The OpenAPI document, made once a process: making it takes longer than most tests."""

from functools import cache
from typing import Any

from assistant import Settings, create_app


@cache
def openapi_document() -> dict[str, Any]:
    """As every server has it; nobody changes it."""
    return create_app(Settings(embedder="hash")).openapi()
