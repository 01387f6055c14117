"""Receipts over HTTP: given where a request asks for one, and verified by reading memory back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from fastapi import APIRouter, Request

from assistant.access.keys import KeyScope
from assistant.api import front_ends
from assistant.api import request_context as context
from assistant.api.description import READING, failures
from assistant.api.replies.receipts import FilesSearched, GivenReceipt, VerifiedReceipt
from assistant.api.requests.receipts import ReceiptToVerify
from assistant.api.route import JsonRoute, Parts
from assistant.chat.call import ChatCall, ChatDone
from assistant.chat.members import MemberRole
from assistant.errors import InvalidRequest
from assistant.receipts import Action, Receipt, Receipts, Standing
from memory_store import Forgotten, Round, owner_of
from memory_store.scheduler import aside

router = APIRouter(prefix="/v1", tags=["memories"], route_class=JsonRoute)
_TRUE = ("1", "true", "yes", "on")
# Marking a round takes, beside its text, the time in which so many characters are read.
_ROUND = 100


@dataclass(frozen=True, slots=True)
class ReceiptsForRequest:
    """Gives the receipts of one request, where it asks for one; None where it does not."""

    receipts: Receipts | None
    clock: Callable[[], datetime]

    async def kept(self, owner: str, rounds: Sequence[Round], **where: str) -> GivenReceipt | None:
        """The receipt for what was written."""
        return await self._given(Action.KEPT, owner, rounds, where)

    async def removed(self, owner: str, gone: Forgotten, **where: str) -> GivenReceipt | None:
        """The receipt for what was forgotten."""
        return await self._given(Action.REMOVED, owner, gone.gone, where)

    def of_chat(self, call: ChatCall, done: ChatDone) -> GivenReceipt | None:
        """The receipt for what a message did: its round was kept, or others were forgotten."""
        kept = [done.record.round] if done.record else []
        rounds = kept or done.gone
        if not (self.receipts and rounds):
            return None
        action = Action.KEPT if kept else Action.REMOVED
        where = {"session_id": call.session_id} if kept else {}
        return GivenReceipt.of(
            self.receipts.of(action, call.user_id, rounds, self.clock(), **where)
        )

    async def _given(
        self, action: Action, owner: str, rounds: Sequence[Round], where: dict[str, str]
    ) -> GivenReceipt | None:
        if not (self.receipts and rounds):
            return None
        make = partial(self.receipts.of, action, owner, rounds, self.clock(), **where)
        return GivenReceipt.of(await aside(_size(rounds), make))


async def receipts_for(
    request: Request, asked: bool = False, *, dry_run: bool = False
) -> ReceiptsForRequest:
    """The receipts of a request. To be called before anything is done for the request: where no
    receipt can be given, it is refused then. Raises as `ReceiptOffice.open`."""
    header = front_ends.header_text(request.headers, "x-memory-receipt") or ""
    wanted = (asked or header.lower() in _TRUE) and not dry_run
    receipts = await context.services(request).receipts.open() if wanted else None
    return ReceiptsForRequest(receipts, request.app.state.clock)


@router.post("/receipts", summary="Verify a receipt", responses=failures(*READING, 413))
async def verify_receipt(request: Request, parts: Parts, body: ReceiptToVerify) -> VerifiedReceipt:
    """Whether a receipt is genuine, and what became since of what it is about, by reading memory
    back. `words` are searched for in the bytes of the files, which hold what everybody said: that
    is for the admin."""
    if body.words:
        context.caller_of(request).checked_scope(KeyScope.ADMIN)
    receipt = _read(body.receipt)
    # The receipt of a shared space names no user.
    person = await context.person_of(request, receipt.user_id or None)
    owner = await context.memory_named(request, person, receipt.space, MemberRole.READER)
    receipts = await parts.receipts.open()
    receipts.check(receipt, owner, context.time_of(request, body.now, param="now").at)
    memory = await _memory(parts, owner, receipt)
    standing: Standing = await aside(_size(memory), receipts.standing, receipt, memory)
    searched = await parts.store.traces(body.words) if body.words else None
    left = any(searched[1].values()) if searched else False
    is_kept = receipt.action is Action.KEPT
    holds = standing.there == receipt.rounds if is_kept else not (standing.there or left)
    return VerifiedReceipt.of(
        receipt,
        object="receipt.verified",
        holds=holds,
        **standing._asdict(),
        disk=FilesSearched(files=searched[0], found=searched[1]) if searched else None,
    )


def _read(given: Any) -> Receipt:
    try:
        return Receipt(**dict(GivenReceipt.model_validate(given)))
    except ValueError as error:
        raise InvalidRequest(
            "this is no receipt of ours: send it as it was given",
            code="receipt_refused",
            param="receipt",
        ) from error


async def _memory(parts: Parts, owner: str, receipt: Receipt) -> list[Round]:
    """All rounds of an owner, with those of the user's spaces where the receipt names neither a
    session nor a memory."""
    owners = [owner]
    if receipt.session_id is None and receipt.memory_id is None:
        owners += [owner_of(owner, space) for space in await parts.store.spaces(owner)]
    return [r.round for one in owners for r in await parts.recorder.everything(one)]


def _size(rounds: Sequence[Round]) -> int:
    return sum(round.size + _ROUND for round in rounds)
