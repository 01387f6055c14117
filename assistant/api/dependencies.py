"""What a route asks for by name in its signature: the parts of the running assistant.

Each is `async`: FastAPI runs a plain function in a thread, which costs more than the look-up.
"""

from typing import Annotated

from fastapi import Depends, Request

from assistant.access.doorkeeper import Doorkeeper
from assistant.api.request_context import services
from assistant.chat.recorder import Recorder
from assistant.services import Services
from memory_store import MemoryStore


async def _services(request: Request) -> Services:
    return services(request)


async def _store(request: Request) -> MemoryStore:
    return services(request).store


async def _recorder(request: Request) -> Recorder:
    return services(request).recorder


async def _doorkeeper(request: Request) -> Doorkeeper:
    found: Doorkeeper = request.app.state.doorkeeper
    return found


Parts = Annotated[Services, Depends(_services)]
Store = Annotated[MemoryStore, Depends(_store)]
Changes = Annotated[Recorder, Depends(_recorder)]
Door = Annotated[Doorkeeper, Depends(_doorkeeper)]
