"""Replies about memories: values with their facts, pages of them, and conflicts."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AliasChoices, Field

import memory_store
from assistant.api.replies import Day, Instant, Reply, one_of
from assistant.api.replies.receipts import Receipted
from memory_store import Finding, Record, Speaker, Told

SpeakerWord = Annotated[Speaker, one_of(Speaker)]
"""Who said something; `quoted` is somebody whom the user quotes or whose text they paste."""
StateWord = Annotated[memory_store.EnrichmentState, one_of(memory_store.EnrichmentState)]
"""How far the background work on a round is."""

ReachWord = Annotated[memory_store.Reach, one_of(memory_store.Reach)]
"""Where a round may go: `this_computer` to no model or embedder that is not local, and
`never_in_answers` to its user alone."""

GHENT_ID = "0157570d-e94a-5df1-bdf4-1e758aab5951"
BRUGES_ID = "9e30fe08-285a-5010-9f14-df2aebb7e3ff"


class DayRange(Reply):
    """Days, both inclusive; an open end is null."""

    first: Day | None
    last: Day | None


class LinkedFact(Reply):
    """The fact on the other side of a link."""

    id: str = Field(validation_alias=AliasChoices("id", "round_id"))
    text: str
    said_at: Instant
    by: str
    example: ClassVar[Mapping[str, Any]] = {
        "id": BRUGES_ID,
        "text": "I moved to Bruges yesterday.",
        "said_at": "2023-05-27T10:00:00Z",
        "by": "rule",
    }


_OLDER = {
    "id": GHENT_ID,
    "text": "I live in Ghent.",
    "said_at": "2023-05-20T10:00:00Z",
    "by": "rule",
}


class FactCondition(Reply):
    """Up to when a fact holds: a day, or while the user gives a slot this value; neither where they
    will say so, or are to be asked."""

    text: str
    until: Day | None
    slot: str | None
    value: str
    example: ClassVar[Mapping[str, Any]] = {
        "text": "until 1 May",
        "until": "2024-05-01",
        "slot": None,
        "value": "",
    }


class KeptFact(Reply):
    """A fact of a round."""

    text: str
    speaker: SpeakerWord
    source: str
    event_dates: list[DayRange]
    superseded_by: LinkedFact | None
    supersedes: list[LinkedFact]
    in_doubt: bool
    contradicts: list[LinkedFact]
    condition: FactCondition | None
    confirmed_at: Instant | None
    ask_on: Day | None
    example: ClassVar[Mapping[str, Any]] = {
        "text": "I moved to Bruges yesterday.",
        "speaker": "user",
        "source": "rule",
        "event_dates": [{"first": "2023-05-26", "last": "2023-05-26"}],
        "superseded_by": None,
        "supersedes": [_OLDER],
        "in_doubt": False,
        "contradicts": [],
        "condition": None,
        "confirmed_at": None,
        "ask_on": None,
    }


class HistoryStep(Reply):
    """One statement in the history of a fact."""

    id: str
    text: str
    said_at: Instant
    source: str
    until: LinkedFact | None

    @classmethod
    def of(cls, held: memory_store.Step, **more: Any) -> Self:
        """A statement, and the one that took its place."""
        said = held.said
        return super().of(said, id=said.round_id, source=said.by, until=held.until)


class ToldFact(KeptFact):
    """A fact with everything that was said of the matter, oldest first."""

    history: list[HistoryStep]
    example: ClassVar[Mapping[str, Any]] = {
        **KeptFact.example,
        "history": [
            {
                "id": GHENT_ID,
                "text": "I live in Ghent.",
                "said_at": "2023-05-20T10:00:00Z",
                "source": "rule",
                "until": LinkedFact.example,
            },
            {
                "id": BRUGES_ID,
                "text": "I moved to Bruges yesterday.",
                "said_at": "2023-05-27T10:00:00Z",
                "source": "rule",
                "until": None,
            },
        ],
    }

    @classmethod
    def all_of(cls, told: Told) -> Iterator[Self]:
        for fact, history in zip(told.record.facts, told.histories, strict=True):
            yield cls.of(fact, history=[HistoryStep.of(step) for step in history])


class EnrichmentState(Reply):
    """How far the background work on a round is."""

    state: StateWord
    attempts: int
    extractor: str | None
    failure: str | None


class MemoryBase(Reply):
    """A round, apart from the form that its facts have."""

    object: Literal["memory"]
    id: str
    session_id: str
    round_index: int
    session_date: Instant
    user_text: str
    assistant_text: str
    said_by: str | None
    """The name under which the user's side was said: in a shared space, of which member it is."""
    answer_withdrawn: bool
    tools: list[str]
    enrichment: EnrichmentState
    corrected_at: Instant | None
    labels: dict[str, str | int | float | bool]
    expires_at: Instant | None
    pinned: bool
    reach: ReachWord

    @classmethod
    def of(cls, held: Record, **more: Any) -> Self:
        """A stored round with its facts, or what is told of them in their place."""
        enrichment = EnrichmentState.of(
            held,
            state=held.enrichment,
            extractor=held.extractor or None,
            failure=held.failure or None,
        )
        told = {
            "object": "memory",
            "id": held.id,
            "said_by": held.round.user_name,
            "facts": held.facts,
            "enrichment": enrichment,
        }
        return super().of(held.round, **told | more)


class Memory(MemoryBase):
    """A round as a value."""

    facts: list[KeptFact]
    example: ClassVar[Mapping[str, Any]] = {
        "object": "memory",
        "id": BRUGES_ID,
        "session_id": "spring",
        "round_index": 1,
        "session_date": "2023-05-27T10:00:00Z",
        "user_text": "I moved to Bruges yesterday.",
        "assistant_text": "Enjoy the canals.",
        "said_by": None,
        "answer_withdrawn": False,
        "tools": [],
        "facts": [KeptFact.example],
        "enrichment": {"state": "done", "attempts": 0, "extractor": None, "failure": None},
        "corrected_at": None,
        "labels": {},
        "expires_at": None,
        "pinned": False,
        "reach": "anywhere",
    }


class CorrectedValue(Memory, Receipted):
    """A round that was put right."""


GHENT = {
    **Memory.example,
    "id": GHENT_ID,
    "round_index": 0,
    "session_date": "2023-05-20T10:00:00Z",
    "user_text": "I live in Ghent.",
    "assistant_text": "A fine city.",
    "facts": [
        {
            **KeptFact.example,
            "text": "I live in Ghent.",
            "event_dates": [],
            "superseded_by": LinkedFact.example,
            "supersedes": [],
        }
    ],
}
"""The round that the example replaces."""


class ToldMemory(MemoryBase):
    """A round, each of its facts with its history."""

    facts: list[ToldFact]
    example: ClassVar[Mapping[str, Any]] = {**Memory.example, "facts": [ToldFact.example]}


class MemoryPage(Reply):
    """A page of values; `next` is null on the last one."""

    object: Literal["list"]
    total: int
    next: str | None
    data: list[Memory]
    example: ClassVar[Mapping[str, Any]] = {
        "object": "list",
        "total": 1,
        "next": None,
        "data": [Memory.example],
    }


FindingWord = Annotated[Finding, one_of(Finding)]
"""What there is to say of a fact."""


class HealthRow(Reply):
    """What there is to say of a fact: `others` are those that it is about, such as what replaced
    it; `used` counts the answers that repeated its round."""

    object: Literal["memory.health"]
    finding: FindingWord
    id: str
    session_id: str
    session_date: Instant
    fact: KeptFact
    used: int
    others: list[LinkedFact]

    @classmethod
    def of(cls, held: memory_store.FactHealth, **more: Any) -> Self:
        """A finding about a fact of a round."""
        round = held.record.round
        return super().of(
            held,
            object="memory.health",
            id=round.id,
            session_id=round.session_id,
            session_date=round.session_date,
            **more,
        )


class MemoryHealth(Reply):
    """A page of findings; `counts` has all of them by name, `next` is null on the last page."""

    object: Literal["list"]
    counts: dict[FindingWord, int]
    total: int
    next: str | None
    data: list[HealthRow]
    example: ClassVar[Mapping[str, Any]] = {
        "object": "list",
        "counts": {one: int(one in (Finding.REPLACED, Finding.UNUSED)) for one in Finding},
        "total": 1,
        "next": None,
        "data": [
            {
                "object": "memory.health",
                "finding": "replaced",
                "id": GHENT_ID,
                "session_id": "spring",
                "session_date": "2023-05-20T10:00:00Z",
                "fact": GHENT["facts"][0],
                "used": 0,
                "others": [LinkedFact.example],
            }
        ],
    }


class ReachSet(Reply):
    """What became of a request to say where memories may go. `changed` counts those of the
    `matched` that it changed, and others whose answers repeat them."""

    object: Literal["memories.reach"]
    reach: ReachWord
    dry_run: bool
    matched: int
    changed: int
    example: ClassVar[Mapping[str, Any]] = {
        "object": "memories.reach",
        "reach": "this_computer",
        "dry_run": False,
        "matched": 2,
        "changed": 3,
    }


class Conflict(Reply):
    """A statement that may be another's, and the user's own that it would replace."""

    object: Literal["conflict"]
    id: str
    session_id: str
    round_index: int
    fact: str
    speaker: SpeakerWord
    source: str
    said_at: Instant
    contradicts: list[LinkedFact]

    @classmethod
    def of(cls, held: memory_store.Conflict, **more: Any) -> Self:
        """A conflict that nobody has settled."""
        round, fact = held.record.round, held.fact
        return super().of(
            round,
            object="conflict",
            id=round.id,
            fact=fact.text,
            speaker=fact.speaker,
            source=fact.source,
            said_at=round.session_date,
            contradicts=held.held,
        )


class Conflicts(Reply):
    """The newest conflicts; `total` counts all."""

    object: Literal["list"]
    total: int
    data: list[Conflict]
    example: ClassVar[Mapping[str, Any]] = {
        "object": "list",
        "total": 1,
        "data": [
            {
                "object": "conflict",
                "id": "0d0e3b52-8f0e-5f0c-9a55-3f1c5d0f4e11",
                "session_id": "a letter",
                "round_index": 0,
                "fact": "I moved to Oslo in May.",
                "speaker": "quoted",
                "source": "rule",
                "said_at": "2023-06-01T10:00:00Z",
                "contradicts": [LinkedFact.example],
            }
        ],
    }
