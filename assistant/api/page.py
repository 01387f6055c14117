"""The web page: static files out of the package, which may talk to their own origin only."""

from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.responses import FileResponse
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from assistant.api.browsers import PAGE
from assistant.api.description import text_reply

FILES = Path(__file__).parents[1] / "web"
_POLICY = (
    "default-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; object-src 'none'"
)
_HEADERS = {"Content-Security-Policy": _POLICY, "Cache-Control": "no-cache"}

router = APIRouter(tags=["page"])


@router.get(
    PAGE,
    response_class=FileResponse,
    summary="The web page",
    responses=text_reply("The web page", "text/html", "<!doctype html>"),
)
async def read_page() -> FileResponse:
    """The web page."""
    return FileResponse(FILES / "index.html", headers=_HEADERS)


def mount_files(app: FastAPI) -> None:
    """Serve what the page consists of under `/web`."""
    app.mount("/web", _PageFiles(directory=FILES))


class _PageFiles(StaticFiles):
    async def get_response(self, path: str, scope: MutableMapping[str, Any]) -> Response:
        response = await super().get_response(path, scope)
        response.headers.update(_HEADERS)
        return response
