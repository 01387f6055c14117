"""Addresses of servers: checked before use, and without credentials before they are written."""

from urllib.parse import urlsplit, urlunsplit

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
