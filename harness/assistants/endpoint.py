"""Where an assistant is, and how patiently to speak to it."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit, urlunsplit

from harness.assistants.retry import RetryPolicy
from harness.errors import UsageError


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`timeout` is seconds for one request."""

    url: str
    api_key: str | None = field(default=None, repr=False)
    model: str = "aide-memoire"
    timeout: float = 120.0
    retry: RetryPolicy = field(default_factory=RetryPolicy)

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise UsageError(f"--assistant {self.url!r} is not an http(s) URL")

    @property
    def public_url(self) -> str:
        """The URL without credentials, fit for a manifest."""
        parts = urlsplit(self.url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
