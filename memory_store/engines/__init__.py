"""The engines a store can run on; each third-party engine is imported in its own module only."""

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


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Import the engine on a server when it is asked for: its client takes a second to
        import."""
        if name == "ServerDocuments":
            from memory_store.engines._server.documents import ServerDocuments

            return ServerDocuments
        if name == "ServerEngine":
            from memory_store.engines._server.engine import ServerEngine

            return ServerEngine
        if name in ("ServerOperator", "RunningServer"):
            from memory_store.engines._server import operator

            return getattr(operator, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
