"""A chat assistant that remembers: OpenAI-compatible, on a memory of dated rounds."""

from importlib.metadata import version

from assistant.app import create_app
from assistant.settings import Settings, load_settings

__version__ = version("aide-memoire")

__all__ = ["Settings", "__version__", "create_app", "load_settings"]
