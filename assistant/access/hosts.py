"""The host that a request names, read in one strict way wherever something is decided by it.

Lenient readers disagree about `a@127.0.0.1`, `localhost:80:90` or two headers at once, and who gets
in would depend on which of them is asked. Here every form but the plain ones names nobody.
"""

import re
from collections.abc import Iterable
from ipaddress import IPv6Address, ip_address
from typing import NamedTuple

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
        """Whether only this machine goes by this name."""
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
    """The host of a request: that of its one Host header. None where there is none, several, or one
    that names nobody."""
    given = [value for name, value in headers if name.lower() == b"host"]
    return parse_host(given[0].decode("latin-1")) if len(given) == 1 else None


def origin_host(origin: str) -> Host | None:
    """The host of a web origin; None for `null` and whatever else is no page of a web server."""
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
