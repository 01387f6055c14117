"""The route that brings memories in: an export of ours, or of another assistant. What it will cost
is told before, and may be bounded."""

import codecs
import json
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Literal, NamedTuple, Protocol

from fastapi import APIRouter, Query, Request

from assistant.access.keys import KeyScope
from assistant.api.description import WRITING, failures, text_content
from assistant.api.parameters import UserInPath
from assistant.api.receipts import receipts_for
from assistant.api.replies.removal import LINES_EXAMPLE, ImportCosts, ImportedMemories
from assistant.api.request_context import caller_of, checked_id, member_in, user_in_path
from assistant.api.route import JsonRoute, Parts
from assistant.api.surroundings import checked_surroundings
from assistant.api.upkeep import NDJSON
from assistant.chat.turns import Arriving
from assistant.enrichment.costs import ExpectedCosts
from assistant.errors import InvalidRequest
from assistant.imports.pam_bundle import records_in
from assistant.imports.reading import Import, read_export, utf8_text
from assistant.imports.recognised import Export, recognised
from assistant.services import Services
from assistant.surroundings import NOWHERE, Surroundings
from memory_store import EnrichmentState, Record, Round, whose
from memory_store.scheduler import aside, in_slices
from memory_store.transfer import from_lines

router = APIRouter(prefix="/v1", route_class=JsonRoute)
Format = Annotated[
    Literal["records", "auto", "chatgpt"],
    Query(description="`records`: an export of this assistant. `auto`: found out by its content."),
]
DryRun = Annotated[bool, Query(description="Only count what would be stored.")]
MostTokens = Annotated[
    int | None, Query(ge=0, description="Store nothing if it is expected to take more tokens.")
]
MostDollars = Annotated[
    float | None, Query(ge=0, description="Store nothing if it is expected to cost more.")
]
# How many times as large as a request a zip file in it may be when it is unpacked.
_UNPACKED = 32
# What working out the costs of a round takes beside its text, in characters.
_ROUND = 500


@router.post(
    "/users/{user_id:path}/import",
    tags=["memories"],
    summary="Import memories",
    openapi_extra={
        "requestBody": {"content": text_content(NDJSON, LINES_EXAMPLE), "required": True}
    },
    responses=failures(*WRITING, 404, 413),
)
async def import_user(
    request: Request,
    parts: Parts,
    user_id: UserInPath,
    format: Format = "records",
    dry_run: DryRun = False,
    most_tokens: MostTokens = None,
    most_dollars: MostDollars = None,
) -> ImportedMemories:
    """Store the lines of an export as this user's; rounds that are there stay as they are. What is
    expected to cost more than it may is refused, and nothing of it stored.

    With `format=auto` the body is an export of this assistant or of another one, or a zip file of
    it; which one is found out by its content. `format=chatgpt` is the older name of that.
    """
    owner = await user_in_path(request, user_id)
    if member_in(request):
        raise InvalidRequest(
            "nothing can be imported into a shared space: it would be said under others' names",
            param="space",
        )
    # Records have dates of their own, so the caller must be allowed to set the time.
    caller_of(request).checked_scope(KeyScope.SET_TIME)
    receipts = await receipts_for(request, dry_run=dry_run)
    coming = await _coming(request, parts, format)
    costs = None
    if dry_run or (most_tokens, most_dollars) != (None, None):
        rounds, extracted = await coming.foreseen(owner)
        size = sum(round.size + _ROUND for round in extracted)
        costs = await aside(size, parts.costs.of, rounds, extracted)
        _check_costs(costs, most_tokens, most_dollars)
    if not dry_run:
        rounds = await coming.bring_in(owner)
    return ImportedMemories.of(
        coming.found,
        object="user.memories.imported",
        **whose(owner)._asdict(),
        imported=len(rounds),
        known=coming.found.rounds - len(rounds),
        dry_run=dry_run,
        receipt=await receipts.kept(owner, [] if dry_run else rounds),
        costs=None if costs is None else ImportCosts.of(costs),
    )


def _check_costs(costs: ExpectedCosts, tokens: int | None, dollars: float | None) -> None:
    """Raise `InvalidRequest` for what is expected to cost more than it may."""
    if tokens is not None and costs.tokens > tokens:
        raise _too_dear(f"{costs.tokens} tokens, and most_tokens is {tokens}")
    if dollars is not None and costs.dollars is None:
        raise _too_dear("an unknown price (set models.prices, or give most_tokens)")
    if dollars is not None and costs.dollars is not None and costs.dollars > dollars:
        raise _too_dear(f"${costs.dollars:.2f}, and most_dollars is {dollars:g}")


def _too_dear(why: str) -> InvalidRequest:
    return InvalidRequest(
        f"nothing was stored: the import is expected to cost {why}", code="costs_too_much"
    )


class _Found(NamedTuple):
    """How many rounds an export has, and what is not brought in."""

    rounds: int
    unreadable: Sequence[str] = ()
    left_out: Mapping[str, int] = MappingProxyType({})
    formats: Sequence[str] = ()
    fields_not_read: Mapping[str, int] = MappingProxyType({})


class _Coming(Protocol):
    """An export on its way into a memory."""

    found: _Found

    async def foreseen(self, owner: str) -> tuple[list[Round], list[Round]]:
        """The rounds that would be new, and those of them that would be extracted."""

    async def bring_in(self, owner: str) -> list[Round]:
        """Store the export. Return the rounds that were new."""


class _OurRecords:
    def __init__(
        self, parts: Services, records: Sequence[Record], surroundings: Surroundings
    ) -> None:
        self._parts = parts
        self._records = records
        self._surroundings = surroundings
        self.found = _Found(len(records), formats=[Export.RECORDS])

    async def foreseen(self, owner: str) -> tuple[list[Round], list[Round]]:
        there = {_place(record) for record in await self._parts.store.records(owner)}
        new = {_place(one): one for one in self._records if _place(one) not in there}
        waiting = [r.round for r in new.values() if r.enrichment is EnrichmentState.PENDING]
        return [record.round for record in new.values()], waiting

    async def bring_in(self, owner: str) -> list[Round]:
        new = await self._parts.recorder.bring_in(owner, self._records)
        kept = self._parts.surroundings
        # Surroundings that are kept of the user already stay.
        is_own = whose(owner).space is None
        if self._surroundings != NOWHERE and is_own and await kept.of(owner) == NOWHERE:
            await kept.keep(owner, self._surroundings)
        return [record.round for record in new]


def _place(record: Record) -> tuple[str, int]:
    return record.round.session_id, record.round.round_index


class _OthersSessions:
    def __init__(self, parts: Services, read: Import) -> None:
        self._parts = parts
        self._sessions = read.sessions
        self.found = _Found(
            read.count_rounds(),
            read.unreadable,
            read.left_out,
            read.formats,
            read.fields_not_read,
        )

    async def foreseen(self, owner: str) -> tuple[list[Round], list[Round]]:
        new: list[Round] = []
        for session in self._sessions:
            there = await self._parts.store.session(owner, session.session_id)
            arriving = Arriving(owner, session.session_id, session.turns)
            held = [record.round for record in there]
            new += await aside(len(session.turns), arriving.plan, held)
        return new, new

    async def bring_in(self, owner: str) -> list[Round]:
        new: list[Round] = []
        for one in self._sessions:
            recorded = await self._parts.recorder.record(
                owner, one.session_id, one.turns, one.title
            )
            new += recorded.rounds
        return new


async def _coming(request: Request, parts: Services, format: str) -> _Coming:
    """What the body holds. Raises `InvalidRequest`, `InvalidRecord`."""
    body = await request.body()
    most_bytes = parts.settings.max_body_bytes * _UNPACKED
    given: Iterable[Record] | None
    surroundings = NOWHERE
    if format == "records" or recognised(body) is Export.RECORDS:
        lines = _lines(body)
        given = from_lines(lines)
        surroundings = _surroundings_in(lines)
    else:
        given = await aside(len(body), records_in, body, most_bytes)
    if given is None:
        read = await aside(len(body), read_export, body, most_bytes=most_bytes)
        return _OthersSessions(parts, read)
    records = []
    async for record in in_slices(given):
        checked_id(record.round.session_id, "session_id")
        records.append(record)
    return _OurRecords(parts, records, surroundings)


def _surroundings_in(lines: Iterable[str]) -> Surroundings:
    """The surroundings of the user in the first line of an export. What is wrong with the line is
    reported by the code that reads the rest."""
    first = next((line for line in lines if line.strip()), "")
    try:
        told = json.loads(first)["surroundings"]
    except (ValueError, KeyError, TypeError):
        return NOWHERE
    told = told if isinstance(told, dict) else {}
    return checked_surroundings(told.get("timezone"), told.get("week_begins"))


def _lines(body: bytes) -> list[str]:
    if recognised(body) is Export.OTHERS:
        raise InvalidRequest(
            "this is not an export of ours: another assistant's is sent with format=auto"
        )
    return utf8_text(body.removeprefix(codecs.BOM_UTF8)).split("\n")
