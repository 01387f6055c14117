"""Receipts as they are given out and sent back, and what their verification says."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

import assistant.receipts
from assistant.api.replies import Instant, Reply, one_of

ActionWord = Annotated[assistant.receipts.Action, one_of(assistant.receipts.Action)]
"""What a receipt is of."""


class GivenReceipt(Reply):
    """What was kept or removed; to be sent back as it is, and nowhere stored."""

    id: str
    action: ActionWord
    user_id: str
    space: str | None
    session_id: str | None
    memory_id: str | None
    rounds: int
    at: Instant
    expires_at: Instant
    nonce: str
    marks: str
    signature: str
    example: ClassVar[Mapping[str, Any]] = {
        "id": "receipt-e568e80159280119",
        "action": "kept",
        "user_id": "ann",
        "space": None,
        "session_id": "spring",
        "memory_id": None,
        "rounds": 2,
        "at": "2023-06-10T09:00:00Z",
        "expires_at": "2024-06-10T09:00:00Z",
        "nonce": "AUAJh-yZqR9WkawRHwK9gZEHPEen6X8atZpfTu56aGo",
        "marks": ("998BdboUwXADrjzsBT4zI3t0VJxxnMUOp4PL_MUYshUsDmZe4iEEAUkFGdZXZB9u"),
        "signature": "b3b0f6e4c1984c17c156921b62226bf88f15585c9351bc222fc0d5b39bd1ba9d",
    }


class Receipted(Reply):
    """A reply with a receipt, where one was asked for."""

    receipt: GivenReceipt | None = Field(default=None, exclude_if=lambda given: given is None)


class FilesSearched(Reply):
    """How many files of an embedded memory were searched, and in how many each word stood."""

    files: int
    found: dict[str, int]


class VerifiedReceipt(Reply):
    """What became of the rounds of a receipt; `holds` says whether it still says the truth."""

    object: Literal["receipt.verified"]
    id: str
    action: ActionWord
    user_id: str
    space: str | None
    at: Instant
    rounds: int
    holds: bool
    there: int
    changed: int
    gone: int
    again: int
    disk: FilesSearched | None
    example: ClassVar[Mapping[str, Any]] = {
        "object": "receipt.verified",
        "id": GivenReceipt.example["id"],
        "action": "kept",
        "user_id": "ann",
        "space": None,
        "at": "2023-06-10T09:00:00Z",
        "rounds": 2,
        "holds": True,
        "there": 2,
        "changed": 0,
        "gone": 0,
        "again": 0,
        "disk": None,
    }
