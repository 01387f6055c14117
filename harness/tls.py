"""Whom connections to other servers trust."""

import ssl
from functools import cache

import httpx


def trust_for(url: str) -> ssl.SSLContext:
    """What to `verify` an HTTP server by: the certificate authorities of this machine, or of
    `SSL_CERT_FILE` and `SSL_CERT_DIR`.

    Plain http needs none, which spares reading them: it gets a context that trusts nobody, should
    anything come to https after all. Raises `httpx.InvalidURL`.
    """
    plain = httpx.URL(url).scheme == "http"
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else authorities()


@cache
def authorities() -> ssl.SSLContext:
    """Read once for all clients: it takes longer than a short run."""
    return httpx.create_ssl_context()
