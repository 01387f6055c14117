"""Every setting of the assistant: declared, read from its sources, listed by name."""

from assistant.settings.groups import LanguageModel, ProfileModel
from assistant.settings.settings import (
    HASH_EMBEDDER,
    LITELLM_EMBEDDER,
    PACKAGED_EMBEDDER,
    WITH_MEMORY,
    WITHOUT_MEMORY,
    Role,
    Settings,
    load_settings,
)

__all__ = [
    "HASH_EMBEDDER",
    "LITELLM_EMBEDDER",
    "PACKAGED_EMBEDDER",
    "WITHOUT_MEMORY",
    "WITH_MEMORY",
    "LanguageModel",
    "ProfileModel",
    "Role",
    "Settings",
    "load_settings",
]
