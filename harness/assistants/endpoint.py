"""An address of an assistant or a model: checked, joined with paths, and whom to trust on the way
there.
"""

import random
import ssl
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
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


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Bounds on repetition.

    `attempts` bounds requests that get a bad answer (5xx, 429, no answer in time). Lost connections
    are bounded by time instead, `reconnect_seconds`, so that a run survives a server being
    restarted. All waits are in seconds.
    """

    attempts: int = 4
    reconnect_seconds: float = 90.0
    first_wait: float = 0.25
    longest_wait: float = 5.0
    longest_retry_after: float = 60.0

    def wait(self, failures: int, retry_after: str | None = None) -> float:
        """Seconds before the next try: exponential with jitter, never shorter than the server asks
        for.
        """
        ceiling = min(self.longest_wait, self.first_wait * 2.0 ** min(failures - 1, 16))
        backoff = ceiling * random.uniform(0.5, 1.0)
        return max(backoff, self.asked_for(retry_after))

    def asked_for(self, retry_after: str | None) -> float:
        """Seconds that a `Retry-After` header asks for, 0 where it names none."""
        try:
            asked = float(retry_after or 0)
        except ValueError:
            asked = _seconds_until(retry_after or "")
        return min(max(asked, 0.0), self.longest_retry_after)


def _seconds_until(http_date: str) -> float:
    try:
        return (parsedate_to_datetime(http_date) - datetime.now(UTC)).total_seconds()
    except (TypeError, ValueError):  # neither form: our own backoff will do
        return 0.0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`timeout` is seconds for one request."""

    url: str
    api_key: str | None = field(default=None, repr=False)
    model: str = "aide-memoire"
    timeout: float = 120.0
    retry: RetryPolicy = field(default_factory=RetryPolicy)

    def __post_init__(self) -> None:
        require_http(self.url, "--assistant")

    @property
    def public_url(self) -> str:
        """The URL without credentials, fit for a manifest."""
        return public_url(self.url)
