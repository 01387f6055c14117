"""`/mcp` as a protected resource of OAuth 2.1: which authorization servers give access to it.

This is metadata only (RFC 9728). What opens the server stays an API key of its own: the token that
an authorization server or a gateway gives out must be one, or be exchanged for one.
"""

from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from starlette.types import Scope

from assistant.access.hosts import requested_host
from assistant.api.failures import failures
from assistant.api.replies.mcp import ProtectedResource
from assistant.api.request_context import services
from assistant.errors import NotFound
from assistant.settings.groups import OauthSettings

MCP = "/mcp"
"""The path of the resource."""
METADATA = "/.well-known/oauth-protected-resource"
router = APIRouter(tags=["mcp"])


@router.get(METADATA, summary="OAuth metadata", responses=failures(404))
@router.get(f"{METADATA}{MCP}", summary="OAuth metadata of /mcp", responses=failures(404))
async def describe_resource(request: Request) -> ProtectedResource:
    """Where OAuth clients get access to `/mcp` (RFC 9728), if the server says so."""
    oauth = services(request).settings.oauth
    url = _resource(oauth, request.scope)
    if not oauth.authorization_servers or url is None:
        raise NotFound(
            "this server names no authorization server (oauth.authorization_servers): send one of "
            "its API keys as 'Authorization: Bearer …'",
            code="no_authorization_server",
        )
    return ProtectedResource(
        resource=url,
        resource_name="Aide-mémoire",
        authorization_servers=list(oauth.authorization_servers),
        bearer_methods_supported=["header"],
    )


def challenge(oauth: OauthSettings, scope: Scope) -> str:
    """What `WWW-Authenticate` says to who has no key: for `/mcp` also where to get access."""
    url = _resource(oauth, scope)
    if scope["path"] != MCP or not oauth.authorization_servers or url is None:
        return "Bearer"
    parts = urlsplit(url)
    return f'Bearer resource_metadata="{parts.scheme}://{parts.netloc}{METADATA}{parts.path}"'


def _resource(oauth: OauthSettings, scope: Scope) -> str | None:
    """The URL of `/mcp` as clients call it; None where a request does not name its host."""
    if oauth.resource:
        return oauth.resource
    if requested_host(scope["headers"]) is None:
        return None
    host = dict(scope["headers"])[b"host"].decode("latin-1")
    return f"{scope['scheme']}://{host}{MCP}"
