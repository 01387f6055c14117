"""Where an assistant is, how patiently to speak to it, and when a request is worth repeating."""

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from harness.urls import public_url, require_http


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
