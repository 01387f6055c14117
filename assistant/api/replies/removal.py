"""What was forgotten, exported or imported, and how much that is."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from assistant.api.replies import Instant, Reply
from assistant.api.replies.memories import BRUGES_ID, GHENT_ID
from assistant.api.replies.receipts import Receipted


class Forgotten(Receipted):
    """How much went; with `dry_run` nothing did, and this is how much would."""

    object: str
    dry_run: bool
    rounds: int
    facts: int
    sessions: int
    answers: int


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
    space: str | None
    deleted: int
    example: ClassVar[Mapping[str, Any]] = {
        "object": "user.memories.deleted",
        "user_id": "ann",
        "space": None,
        "deleted": 0,
        "dry_run": True,
        "rounds": 2,
        "facts": 2,
        "sessions": 1,
        "answers": 0,
    }


class Retained(Forgotten):
    """What went by rule, of how many users."""

    object: Literal["retention"]
    users: int
    """Of how many users something went, or would."""
    now: Instant
    example: ClassVar[Mapping[str, Any]] = {
        "object": "retention",
        "dry_run": True,
        "rounds": 0,
        "facts": 0,
        "sessions": 0,
        "answers": 0,
        "users": 0,
        "now": "2023-06-10T09:00:00Z",
    }


class ImportCosts(Reply):
    """What an import is expected to cost: calls of language models and their tokens, `dollars`
    (null where a price is not known), and minutes."""

    rounds: int
    calls: int
    tokens: int
    dollars: float | None
    minutes: float


class ImportedMemories(Receipted):
    """How many rounds were new, how many were there, what could not be read, and how much was left
    out for what reason. Of a dry run: what would be."""

    object: Literal["user.memories.imported"]
    user_id: str
    space: str | None
    imported: int
    known: int
    unreadable: list[str]
    left_out: dict[str, int]
    formats: list[str]
    dry_run: bool
    costs: ImportCosts | None = Field(default=None, exclude_if=lambda held: held is None)
    """Of a dry run, or of an import with a cap."""
    fields_not_read: dict[str, int] = Field(default_factory=dict, exclude_if=lambda held: not held)
    """How often other exports have something in a field that is not read, by its path."""
    example: ClassVar[Mapping[str, Any]] = {
        "object": "user.memories.imported",
        "user_id": "ann",
        "space": None,
        "imported": 0,
        "known": 2,
        "unreadable": [],
        "left_out": {},
        "formats": ["records"],
        "dry_run": False,
    }


LINES_EXAMPLE = (
    '{"format":"aide-memoire/records","version":3}\n'
    '{"assistant_name":null,"assistant_text":"A fine city.","attempts":0,'
    '"checksum":"e0afdcd3043849da","corrected_at":null,'
    '"enrichment":"done","extractor":"","facts":[{"event_dates":[],"slot":"live in",'
    '"source":"rule","speaker":"user","superseded_by":{"by":"rule",'
    f'"round_id":"{BRUGES_ID}","said_at":"2023-05-27T10:00:00+00:00",'
    '"text":"I moved to Bruges yesterday."},"text":"I live in Ghent."}],"failure":"",'
    '"keyphrases":[],"may_supersede":true,"repeats":[],"round_index":0,'
    '"session_date":"2023-05-20T10:00:00+00:00","session_id":"spring","session_title":"",'
    '"summary":"",'
    '"turn_ids":["b334c451d1f027b2e49e","edc1f3dc2be3226a4a63"],"user_id":"ann",'
    '"user_name":null,"user_text":"I live in Ghent."}\n'
    '{"assistant_name":null,"assistant_text":"Enjoy the canals.","attempts":0,'
    '"checksum":"1d7d09d2eeca42d0","corrected_at":null,'
    '"enrichment":"done","extractor":"","facts":[{"event_dates":[["2023-05-26","2023-05-26"]],'
    '"slot":"live in","source":"rule","speaker":"user","supersedes":[{"by":"rule",'
    f'"round_id":"{GHENT_ID}","said_at":"2023-05-20T10:00:00+00:00",'
    '"text":"I live in Ghent."}],"text":"I moved to Bruges yesterday."}],"failure":"",'
    '"keyphrases":[],"may_supersede":true,"repeats":[],"round_index":1,'
    '"session_date":"2023-05-27T10:00:00+00:00","session_id":"spring","session_title":"",'
    '"summary":"",'
    '"turn_ids":["d35afbc1237933caa894","4644b339210b3c450911"],"user_id":"ann",'
    '"user_name":null,"user_text":"I moved to Bruges yesterday."}\n'
    '{"records":2}\n'
)
"""An export, as lines."""
