"""The engines a store can run on; each third-party engine is imported in its own module only."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from memory_store.engines._edge.engine import EdgeEngine
from memory_store.engines._edge.operator import EdgeOperator, Repaired, RunningEdge
from memory_store.engines._edge.sync import Durability
from memory_store.engines._engine import Claim, Engine
from memory_store.engines._operator import OperatorEngine

if TYPE_CHECKING:
    from memory_store.engines._server.documents import ServerDocuments
    from memory_store.engines._server.engine import ServerEngine
    from memory_store.engines._server.operator import RunningServer, ServerOperator

__all__ = [
    "Claim",
    "Durability",
    "EdgeEngine",
    "EdgeOperator",
    "Engine",
    "OperatorEngine",
    "Repaired",
    "RunningEdge",
    "RunningServer",
    "ServerDocuments",
    "ServerEngine",
    "ServerOperator",
]


_ON_SERVER = {
    "ServerDocuments": "documents",
    "ServerEngine": "engine",
    "ServerOperator": "operator",
    "RunningServer": "operator",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Import the server's engine only on use, as its client takes a second to import."""
        if name not in _ON_SERVER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}._server.{_ON_SERVER[name]}"), name)
