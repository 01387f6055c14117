"""What was forgotten, or brought in, and how much that is."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import memory_store
from assistant.api.replies import Reply
from assistant.api.replies.memories import BRUGES_ID


class Forgotten(Reply):
    """How much went; with `dry_run` nothing did, and this is how much would."""

    object: str
    dry_run: bool
    rounds: int
    facts: int
    sessions: int
    answers: int

    @classmethod
    def of(cls, forgotten: memory_store.Forgotten, *, dry_run: bool, **named: Any) -> Self:
        """What went, under its name."""
        return cls(
            dry_run=dry_run,
            rounds=forgotten.rounds,
            facts=forgotten.facts,
            sessions=forgotten.sessions,
            answers=forgotten.answers,
            **named,
        )


class ForgottenMemory(Forgotten):
    """A round that went."""

    object: Literal["memory.deleted"]
    id: str
    deleted: bool
    example: ClassVar[Mapping[str, Any]] = {
        "object": "memory.deleted",
        "id": BRUGES_ID,
        "deleted": False,
        "dry_run": True,
        "rounds": 1,
        "facts": 1,
        "sessions": 0,
        "answers": 0,
    }


class ForgottenSession(Forgotten):
    """A session that went."""

    object: Literal["session.deleted"]
    id: str
    deleted: bool
    example: ClassVar[Mapping[str, Any]] = {
        **ForgottenMemory.example,
        "object": "session.deleted",
        "id": "spring",
        "rounds": 2,
        "facts": 2,
        "sessions": 1,
    }


class ForgottenUser(Forgotten):
    """Everything of a user that went; `deleted` counts the rounds, none in a dry run."""

    object: Literal["user.memories.deleted"]
    user_id: str
    deleted: int
    example: ClassVar[Mapping[str, Any]] = {
        "object": "user.memories.deleted",
        "user_id": "ann",
        "deleted": 0,
        "dry_run": True,
        "rounds": 2,
        "facts": 2,
        "sessions": 1,
        "answers": 0,
    }


class ImportedMemories(Reply):
    """How many rounds were new, how many were there, and what could not be read."""

    object: Literal["user.memories.imported"]
    user_id: str
    imported: int
    known: int
    unreadable: list[str]
    example: ClassVar[Mapping[str, Any]] = {
        "object": "user.memories.imported",
        "user_id": "ann",
        "imported": 0,
        "known": 2,
        "unreadable": [],
    }
