"""Small documents by name, each written only over the version that its writer has read.

What several processes on one memory share beside its rounds: nobody else's change is ever lost, and
of two who change the same version one is told to read again. Nothing here knows what they say.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, Protocol

Body = dict[str, Any]
NONE = ""
"""The version of a document that is not there."""
# A write is known to have been done although up to this many others came before it is read back.
_REMEMBERED = 32


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it was read: plain values, and which version of them. No version is used
    twice."""

    version: str = NONE
    body: Body = field(default_factory=dict)
    earlier: tuple[str, ...] = ()
    """The versions it was written over, the last ones of them, newest first."""


class WriteOutcome(NamedTuple):
    """Whether a version was written, and the document that is there now. Where it was, that may
    already be a later one."""

    done: bool
    there: Document


class Documents(Protocol):
    """Documents that last, or do not; raises the store's errors."""

    async def open(self, *, make: bool = True) -> bool:
        """Connect, and make the place for documents where it is missing; whether it is there."""

    async def versions(self, names: Sequence[str]) -> dict[str, str]:
        """The versions of these documents, without those that are not there."""

    async def read(self, name: str) -> Document:
        """The document of a name; an empty one without a version where there is none."""

    async def write(
        self, name: str, body: Body, over: Document, *, until: datetime | None = None
    ) -> WriteOutcome:
        """Write over the version of `over`, unless another was faster. After `until`, if given,
        nobody needs the document any more."""

    async def drop(self, before: datetime) -> None:
        """Delete the documents that nobody needs any more at this time."""

    async def close(self) -> None:
        """Let go of the connections."""


def following(over: Document, body: Body) -> Document:
    """The document that is written over another."""
    earlier = (over.version, *over.earlier)[:_REMEMBERED] if over.version != NONE else ()
    return Document(uuid.uuid4().hex, body, earlier)
