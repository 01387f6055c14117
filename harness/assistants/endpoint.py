"""Where an assistant is, and how patiently to speak to it."""

from dataclasses import dataclass, field

from harness.assistants.retry import RetryPolicy
from harness.urls import public_url, require_http


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
