"""Rules for what may go: whose time is over, and what was said long ago."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime

from memory_store.engines.engine import Scope
from memory_store.errors import InvalidRecord
from memory_store.labels import Where
from memory_store.types import Days


@dataclass(frozen=True, slots=True)
class RetentionRule:
    """Which rounds of a user go: those that expire at `expired_by` or before, and those that were
    said on `said_until` or before. With `where`, of all these only those labelled like this."""

    expired_by: datetime | None = None
    said_until: date | None = None
    where: Where = ()

    def __post_init__(self) -> None:
        if self.expired_by is None and self.said_until is None:
            raise InvalidRecord("a rule names a time")

    def scopes(self, user_id: str) -> Iterator[Scope]:
        """Where these rounds lie; some may lie in both."""
        if self.expired_by is not None:
            yield Scope(user_id, expired_by=self.expired_by, labels=self.where)
        if self.said_until is not None:
            yield Scope(user_id, days=Days(last=self.said_until), labels=self.where)
