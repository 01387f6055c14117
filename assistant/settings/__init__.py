"""Every setting of the assistant: declared, read from its sources, listed by name."""

from assistant.settings.settings import HASH_EMBEDDER, ModelRole, Role, Settings, load_settings

__all__ = ["HASH_EMBEDDER", "ModelRole", "Role", "Settings", "load_settings"]
