"""Every setting of the assistant: declared, read from its sources, listed by name."""

from assistant.settings.groups import LanguageModel
from assistant.settings.settings import HASH_EMBEDDER, Role, Settings, load_settings

__all__ = ["HASH_EMBEDDER", "LanguageModel", "Role", "Settings", "load_settings"]
