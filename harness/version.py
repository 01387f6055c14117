"""Which version of the harness this is."""

from importlib import metadata


def harness_version() -> str:
    """The installed distribution's version, or `unknown` for a source tree run uninstalled."""
    try:
        return metadata.version("aide-memoire")
    except metadata.PackageNotFoundError:
        return "unknown"
