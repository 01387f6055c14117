"""What can go wrong in the store, sorted by who must act."""


class MemoryStoreError(Exception):
    """Base of every error the store raises on purpose."""


class InvalidRecord(MemoryStoreError):
    """The caller handed over something that cannot be stored or asked (caller acts)."""


class StoreUnavailable(MemoryStoreError):
    """The engine cannot be reached, opened or written to (operator acts)."""


class StoreLocked(StoreUnavailable):
    """Another process owns the embedded store (operator acts)."""


class StoreDenied(StoreUnavailable):
    """The server wants another API key (operator acts)."""


class StoreMismatch(MemoryStoreError):
    """The stored data was made by another embedder, dimension or schema (operator acts)."""


class EmbeddingFailed(MemoryStoreError):
    """The encoder could not be loaded or could not encode a text (operator acts)."""
