"""The clock, which is read for calls that give no time, and for what workers must agree about."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def wall_clock() -> datetime:
    """The time now. Machines that share a memory must agree about it to about a second."""
    return datetime.now(UTC)
