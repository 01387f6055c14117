"""A chat assistant that remembers: OpenAI-compatible, on a memory of dated rounds."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str

    from assistant.app import create_app
    from assistant.settings import Settings, load_settings

__all__ = ["Settings", "__version__", "create_app", "load_settings"]

if not TYPE_CHECKING:
    # Imported on first use: the command line would otherwise wait for them at every start.
    _WHERE = {
        "Settings": "assistant.settings",
        "create_app": "assistant.app",
        "load_settings": "assistant.settings",
    }

    def __getattr__(name: str) -> Any:
        if name == "__version__":
            from importlib.metadata import version

            return version("aide-memoire")
        if name not in _WHERE:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_WHERE[name]), name)
