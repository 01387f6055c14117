"""Who calls, and what this caller may say about users and times. Pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from assistant.access.keys import Key, Scope
from assistant.errors import Forbidden

# How far a client's clock may be off before its time counts as another one.
_NOW = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Caller:
    """The holder of a key; or anybody, on a server without keys."""

    key_id: str
    label: str
    user_id: str | None
    """The user this caller always is, whomever a request names; None for any."""
    scopes: frozenset[Scope]

    @classmethod
    def of(cls, key: Key) -> "Caller":
        """The holder of a key."""
        return cls(key.id, key.label, key.user_id, key.scopes)

    def checked_time(self, given: datetime, now: datetime, param: str) -> None:
        """Raises `Forbidden` where a caller without `set_time` says it is another time than now."""
        if Scope.SET_TIME not in self.scopes and abs(given - now) > _NOW:
            raise Forbidden(
                "this API key may not set the time: leave it out, or use a key with the "
                "scope set_time",
                code="set_time_required",
                param=param,
            )

    def checked_scope(self, scope: Scope) -> None:
        """Raises `Forbidden` for a caller without a scope."""
        if scope not in self.scopes:
            raise Forbidden(
                f"this needs an API key with the scope {scope}", code=f"{scope}_required"
            )


ANYBODY = Caller("", "", None, frozenset(Scope))
"""The caller of a server without keys, which only its own machine can reach."""
