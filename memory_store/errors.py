"""The errors of the store. Each says who must act: the caller or the operator."""


class MemoryStoreError(Exception):
    """Base of every error the store raises on purpose."""


class InvalidRecord(MemoryStoreError):
    """The caller gave a record or a query that cannot be used (caller acts)."""


class RoundTaken(MemoryStoreError):
    """Another writer changed the session meanwhile (caller reads it again and decides anew)."""


class StoreUnavailable(MemoryStoreError):
    """The engine cannot be reached, opened or written to (operator acts)."""


class StoreLocked(StoreUnavailable):
    """Another process owns the embedded store (operator acts)."""


class StoreFull(StoreUnavailable):
    """The disk of the store is full (operator acts)."""


class StoreDamaged(StoreUnavailable):
    """Rounds that were acknowledged are missing or altered (operator acts)."""


class StoreReadOnly(StoreUnavailable):
    """The directory of the store cannot be written to (operator acts)."""


class StoreDenied(StoreUnavailable):
    """The server wants another API key (operator acts)."""


class StoreMissing(StoreUnavailable):
    """There is no memory at the place to be read (operator acts)."""


class StoreUnready(StoreUnavailable):
    """The memory is being moved or indexed anew, or that was interrupted (operator acts)."""


class StoreNotEmpty(MemoryStoreError):
    """The place that a memory is to be moved to already holds one (operator acts)."""


class TransferUnfinished(MemoryStoreError):
    """A move or a new index is not complete: its source kept changing (operator acts)."""


class StoreMismatch(MemoryStoreError):
    """The stored data was made by another embedder, dimension or schema (operator acts)."""

    def __init__(self, message: str, *, embedder: str = "") -> None:
        """`embedder` is the one that wrote the memory, where nothing else is different."""
        super().__init__(message)
        self.embedder = embedder


class EmbeddingFailed(MemoryStoreError):
    """The encoder could not be loaded or could not encode a text (operator acts)."""
