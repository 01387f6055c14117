"""The keys of all assistants on one Qdrant server: one document, as the file is for one machine."""

from collections.abc import Sequence

from assistant.access.keys import ApiKey, from_body, to_body
from assistant.errors import ConfigError
from memory_store import Document, Documents

SHARED_KEYS = "keys"
"""The name of the document, whose changes are told."""


class SharedKeys:
    """The keys in the document. Where there is no document there are no keys."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def keys(self) -> tuple[ApiKey, ...]:
        """The keys of the moment. Raises `ConfigError` for what cannot be read."""
        return _keys_in(await self._documents.read(SHARED_KEYS))

    async def add(self, key: ApiKey) -> None:
        """Put a key with the others."""
        done, there = False, await self._documents.read(SHARED_KEYS)
        while not done:
            done, there = await self._write((*_keys_in(there), key), there)

    async def remove(self, key_id: str) -> ApiKey | None:
        """Take a key away; None when it is not there."""
        done, there, gone = False, await self._documents.read(SHARED_KEYS), None
        while not done:
            keys = _keys_in(there)
            gone = next((key for key in keys if key.id == key_id), gone)
            if gone not in keys:
                return gone
            done, there = await self._write([key for key in keys if key != gone], there)
        return gone

    async def _write(self, keys: Sequence[ApiKey], over: Document) -> tuple[bool, Document]:
        return await self._documents.write(SHARED_KEYS, to_body(keys), over)


def _keys_in(document: Document) -> tuple[ApiKey, ...]:
    try:
        return from_body(document.body) if document.body else ()
    except (ValueError, KeyError, TypeError, ConfigError) as error:
        raise ConfigError(
            f"cannot read the keys on the Qdrant server: {error}", code="keys_unreadable"
        ) from error
