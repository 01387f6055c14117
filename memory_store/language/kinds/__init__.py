"""What a message is: it tells something, asks, corrects, wants something forgotten, or chats."""

from memory_store.language.kinds.kinds import (
    Kind,
    Kinds,
    asks,
    instructs,
    kind_of,
    shipped,
    wants_answer,
)

__all__ = ["Kind", "Kinds", "asks", "instructs", "kind_of", "shipped", "wants_answer"]
