"""URLs of servers: checked before use, without credentials before they are written, and whom a
connection to one trusts.
"""

import ssl
from functools import cache
from urllib.parse import urlsplit, urlunsplit

import httpx

from harness.errors import UsageError


def require_http(url: str, option: str) -> None:
    """Refuse what is no http(s) URL; `option` is where it was given."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise UsageError(f"{option}: {url!r} is not an http(s) URL")


def public_url(url: str) -> str:
    """A URL without credentials, query and fragment, fit for a manifest."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


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
