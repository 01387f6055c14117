"""Which certificate authorities the connections to other servers trust."""

import ssl

import httpx


def trust_for(url: str) -> ssl.SSLContext:
    """What to `verify` an HTTP server by: the certificate authorities of this machine, or of
    `SSL_CERT_FILE` and `SSL_CERT_DIR`.

    Reading the authorities takes longer than most commands. Plain http needs none: its context
    trusts nobody, should a connection use https after all. Raises `httpx.InvalidURL`.
    """
    if httpx.URL(url).scheme == "http":
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return httpx.create_ssl_context()
