"""The parts of a running assistant, put together from its settings."""

from assistant.services.locality import MCP_CLIENTS, reach_of_mcp
from assistant.services.memory import (
    chosen_of,
    key_design,
    make_documents,
    make_embedder,
    server_options,
    shared_keys,
)
from assistant.services.services import Services, open_services

__all__ = [
    "MCP_CLIENTS",
    "Services",
    "chosen_of",
    "key_design",
    "make_documents",
    "make_embedder",
    "open_services",
    "reach_of_mcp",
    "server_options",
    "shared_keys",
]
