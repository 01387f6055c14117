"""What became of the requests of one command, counted."""

from dataclasses import asdict, dataclass


@dataclass(slots=True)
class Traffic:
    """Attempts, repeated ones included. `lost` connections never gave an answer."""

    sent: int = 0
    rate_limited: int = 0
    server_errors: int = 0
    timeouts: int = 0
    lost: int = 0

    def answered(self, status: int) -> None:
        """Count an answer by its status."""
        self.rate_limited += status == 429
        self.server_errors += status >= 500

    def to_json(self) -> dict[str, int]:
        """The counts for a manifest."""
        return asdict(self)
