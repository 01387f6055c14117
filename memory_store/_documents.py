"""Small documents by name, each written only over the version that its writer has read.

Several processes on one memory share these beside its rounds. No change of another writer is lost:
of two that change the same version, one is told to read again. Nothing here knows their content.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, Protocol

Body = dict[str, Any]
NONE = ""
"""The version of a document that does not exist."""
# How many earlier versions a document names. A writer that reads back finds its version among them
# even if up to this many later writes came between.
_REMEMBERED = 32


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it was read: plain values, and which version of them. No version is used
    twice."""

    version: str = NONE
    body: Body = field(default_factory=dict)
    earlier: tuple[str, ...] = ()
    """The latest of the versions it was written over, newest first."""


class WriteOutcome(NamedTuple):
    """Whether a version was written, and the document that is there now. After a successful write
    this may already be a later version."""

    done: bool
    there: Document


class Documents(Protocol):
    """A store of documents, lasting or in memory only. It raises the store's errors."""

    async def open(self, *, make: bool = True) -> bool:
        """Connect, and if `make` create a missing place for documents. Return whether it exists."""

    async def versions(self, names: Sequence[str]) -> dict[str, str]:
        """The versions of these documents; documents that do not exist are left out."""

    async def read(self, name: str) -> Document:
        """The document of a name; an empty one with the version `NONE` if there is none."""

    async def write(
        self, name: str, body: Body, over: Document, *, until: datetime | None = None
    ) -> WriteOutcome:
        """Write over the version of `over`, unless another writer was faster. After `until`, if
        given, nobody needs the document any more."""

    async def drop(self, before: datetime) -> None:
        """Delete the documents that nobody needs any more at this time."""

    async def close(self) -> None:
        """Let go of the connections."""


def following(over: Document, body: Body) -> Document:
    """A new version with this body, to be written over the document `over`."""
    earlier = (over.version, *over.earlier)[:_REMEMBERED] if over.version != NONE else ()
    return Document(uuid.uuid4().hex, body, earlier)
