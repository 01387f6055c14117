"""Finds the caller of a request by its key, decides whether a key is needed at all, and parses the
host that a request names, strictly and in one place for every decision.

Lenient parsers disagree about `a@127.0.0.1`, `localhost:80:90` or two headers at once, and who gets
in would depend on which of them is asked. Here every form but the plain ones names no host.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import IPv6Address, ip_address
from typing import NamedTuple

from assistant.access.keys import ApiKey, KeyFile, KeyScope, digest_of, key_of
from assistant.errors import ConfigError, Forbidden, Unauthenticated
from assistant.settings import Settings

_HOST = re.compile(
    r"(?:\[(?P<ipv6>[0-9a-f:.]{2,45})\]|(?P<name>[a-z0-9_-]+(?:\.[a-z0-9_-]+)*))"
    r"(?::(?P<port>[0-9]{1,5}))?",
    re.I | re.A,
)
_LONGEST_NAME = 253
_LAST_PORT = 65535


class Host(NamedTuple):
    """A name or an address in lower case, and the port where one is given."""

    name: str
    port: int | None = None

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can be reached by this name."""
        return is_loopback(self.name)


def parse_host(text: str) -> Host | None:
    """The host in `name`, `name:port` or `[IPv6]:port`; None for any other text."""
    match = _HOST.fullmatch(text)
    if match is None:
        return None
    port = int(match["port"]) if match["port"] else None
    name = (match["name"] or _ipv6(match["ipv6"])).lower()
    if not 0 < len(name) <= _LONGEST_NAME or (port or 0) > _LAST_PORT:
        return None
    return Host(name, port)


def requested_host(headers: Iterable[tuple[bytes, bytes]]) -> Host | None:
    """The host in the one Host header of a request. None where there is no such header, where there
    are several, or where it names no host."""
    given = [value for name, value in headers if name.lower() == b"host"]
    return parse_host(given[0].decode("latin-1")) if len(given) == 1 else None


def origin_host(origin: str) -> Host | None:
    """The host of a web origin; None for `null` and all else that is not of http or https."""
    scheme, separator, rest = origin.partition("://")
    return parse_host(rest) if separator and scheme in ("http", "https") else None


def is_loopback(name: str) -> bool:
    """Whether only this machine can be reached by a name or an address."""
    try:
        return ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return name.lower() == "localhost"


def _ipv6(text: str) -> str:
    try:
        return str(IPv6Address(text))
    except ValueError:
        return ""


# A time that a client gives counts as now if it is no farther than this from the server's.
_NOW = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Caller:
    """The holder of a key; or anybody, on a server without keys."""

    key_id: str
    label: str
    user_id: str | None
    """The user this caller always is, whomever a request names; None for any."""
    scopes: frozenset[KeyScope]

    @classmethod
    def of(cls, key: ApiKey) -> "Caller":
        """The holder of a key."""
        return cls(key.id, key.label, key.user_id, key.scopes)

    def checked_time(self, given: datetime, now: datetime, param: str) -> None:
        """Raises `Forbidden` where a caller without `set_time` says it is another time than now."""
        if KeyScope.SET_TIME not in self.scopes and abs(given - now) > _NOW:
            raise Forbidden(
                "this API key cannot set the time: omit the timestamp, or use a key with the "
                "scope set_time",
                code="set_time_required",
                param=param,
            )

    def checked_scope(self, scope: KeyScope) -> None:
        """Raises `Forbidden` for a caller without a scope."""
        if scope not in self.scopes:
            raise Forbidden(
                f"this needs an API key with the scope {scope}", code=f"{scope}_required"
            )


ANYBODY = Caller("", "", None, frozenset(KeyScope))
"""The caller of a server without keys, which only its own machine can reach."""


_ADVICE = (
    "make one with 'assistant keys create LABEL --user NAME', or give one in the setting api_key "
    "(ASSISTANT_API_KEY)"
)


class Doorkeeper:
    """Decides who may come in. A server that has needed a key once needs one until it ends."""

    def __init__(self, settings: Settings) -> None:
        """Raises `ConfigError` for keys that cannot be read."""
        self._file = KeyFile(settings.keys_path)
        self._given = _given_key(settings)
        self.shared: tuple[ApiKey, ...] = ()
        """The keys of all assistants on the Qdrant server, as they were last read there."""
        self._needs_key = not is_loopback(settings.host) or bool(self.keys())

    def keys(self) -> tuple[ApiKey, ...]:
        """The keys that are valid now. Raises `ConfigError` when they cannot be read."""
        return (*self._given, *self._file.keys(), *self.shared)

    @property
    def needs_key(self) -> bool:
        """Whether a request needs a key: always where others can reach the server, else as soon as
        there is a key."""
        self._needs_key = self._needs_key or bool(self.keys())
        return self._needs_key

    def caller(self, token: str | None) -> Caller:
        """The caller who sends this token. Raises `Unauthenticated`."""
        if not self.needs_key:
            return ANYBODY
        if token is None:
            raise Unauthenticated(
                "this server needs an API key: send it as 'Authorization: Bearer …'",
            )
        key = key_of(token, self.keys())
        if key is None:
            raise Unauthenticated("invalid API key: unknown or revoked")
        return Caller.of(key)


def check_reachable(settings: Settings, shared: Sequence[ApiKey] = ()) -> None:
    """Raises `ConfigError` where others could reach an assistant that needs no key. `shared` are
    the keys of all assistants on the Qdrant server."""
    if not (is_loopback(settings.host) or shared or Doorkeeper(settings).keys()):
        raise ConfigError(
            f"refusing to listen on {settings.host} without an API key: {_ADVICE}, "
            "or listen on 127.0.0.1",
            code="wrong_setting",
        )


def _given_key(settings: Settings) -> tuple[ApiKey, ...]:
    """The key that the settings give, if any; it may do everything."""
    token = settings.api_key.get_secret_value() if settings.api_key else ""
    if not token:
        return ()
    start = datetime.fromtimestamp(0, UTC).isoformat()
    return (ApiKey("settings", "api_key", digest_of(token), None, frozenset(KeyScope), start),)
