"""Points that tell themselves whether they are as they were written.

Beside what a point says, its payload carries marks: the number of the write, a digest of its keys
and words, and a digest of all of this. They are set and taken off here; nobody else sees them.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from memory_store.engines.engine import Matrix, Payload

MARKS = "_marks"
"""The payload field that holds them."""
_SIZE = 8


class Marks(NamedTuple):
    """The marks of a point; digests as hexadecimal text."""

    write: int
    vectors: str
    digest: str

    @property
    def digest_bytes(self) -> bytes:
        """The digest as a ledger keeps it."""
        return bytes.fromhex(self.digest)


def marks_of(payload: Payload) -> Marks | None:
    """The marks of a payload; None where it carries none that can be read."""
    match payload.get(MARKS):
        case [int(write), str(vectors), str(digest)]:
            return Marks(write, vectors, digest)
    return None


def marked(payload: Payload, write: int, vectors: str) -> dict[str, Any]:
    """The payload with its marks, those it had replaced."""
    bare = unmarked(payload)
    return {**bare, MARKS: [write, vectors, _digest(bare, write, vectors)]}


def is_whole(payload: Payload) -> bool:
    """Whether the payload is as it was written. What has no marks is not."""
    marks = marks_of(payload)
    return marks is not None and marks.digest == _digest(unmarked(payload), *marks[:2])


def unmarked(payload: Payload) -> dict[str, Any]:
    """The payload without its marks."""
    return {name: value for name, value in payload.items() if name != MARKS}


def digest_of_vectors(keys: Matrix, words: Mapping[int, float]) -> str:
    """A digest of the keys, as the 16-bit floats they are kept as, and of the words."""
    sum = hashlib.blake2b(digest_size=_SIZE)
    sum.update(np.asarray(keys, dtype=np.float16).tobytes())
    sum.update(json.dumps(sorted(words.items())).encode())
    return sum.hexdigest()


def _digest(bare: Payload, write: int, vectors: str) -> str:
    said: Sequence[Any] = [write, vectors, bare]
    text = json.dumps(said, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_SIZE).hexdigest()
