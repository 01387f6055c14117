"""Receipts for rounds that were kept or removed. No receipt is stored: each can be verified alone.

A receipt holds marks of its rounds: short digests of their places and of both sides' texts, keyed
by the server's key *and* by a nonce that is only in the receipt. So what was said can be guessed
neither from what the server keeps, nor from a receipt. The whole receipt is signed with the same
key, which is made with the first receipt.
"""

import base64
import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from assistant.errors import ConfigError, InvalidRequest
from memory_store import Document, Documents, Round, whose

_VALID = timedelta(days=366)
_DOCUMENT = "receipts"
_KEY_BYTES = 32
# Among a million rounds two marks agree by chance once in ten million receipts.
_MARK_BYTES = 8
_Mark = bytes


class Action(StrEnum):
    """Whether a receipt is for rounds that were kept, or that were removed."""

    KEPT = "kept"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was kept or removed, whose it was, and when. A session or a memory is named where the
    request was for it; else the request was for everything, or for what a rule names."""

    id: str
    action: Action
    user_id: str
    space: str | None
    session_id: str | None
    memory_id: str | None
    rounds: int
    at: datetime
    expires_at: datetime
    nonce: str
    marks: str
    """Three marks for each round, in base64: of its place, of the user's text, of the answer."""
    signature: str = field(default="", compare=False)

    def signed_text(self) -> bytes:
        """The bytes that are signed: all fields but the signature, always in the same form."""
        told = {one.name: getattr(self, one.name) for one in fields(self)}
        del told["signature"]
        told |= {"at": self.at.timestamp(), "expires_at": self.expires_at.timestamp()}
        return json.dumps(told, sort_keys=True).encode()


class Standing(NamedTuple):
    """What became of the rounds of a receipt."""

    there: int
    """Rounds that are in their place with the same words."""
    changed: int
    """Places that now hold a round with other words."""
    gone: int
    """Places that no longer hold a round."""
    again: int
    """Rounds elsewhere in memory with the same words on both sides."""


class Receipts:
    """Gives out receipts and verifies them."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def of(
        self,
        action: Action,
        owner: str,
        rounds: Iterable[Round],
        at: datetime,
        *,
        session_id: str | None = None,
        memory_id: str | None = None,
    ) -> Receipt:
        """The receipt for these rounds of an owner, or of an owner's spaces."""
        nonce = secrets.token_urlsafe(_KEY_BYTES)
        marking = _Marking(self._key, nonce)
        marks = list(map(marking.of, rounds))
        at = at.replace(microsecond=0)
        receipt = Receipt(
            f"receipt-{secrets.token_hex(8)}",
            action,
            **whose(owner)._asdict(),
            session_id=session_id,
            memory_id=memory_id,
            rounds=len(marks),
            at=at,
            expires_at=at + _VALID,
            nonce=nonce,
            marks=base64.urlsafe_b64encode(b"".join(map(b"".join, marks))).decode(),
        )
        return replace(receipt, signature=self._signature(receipt))

    def check(self, receipt: Receipt, owner: str, now: datetime) -> None:
        """Raise `InvalidRequest` for a receipt that this server did not give to this owner, or that
        has expired."""
        genuine = hmac.compare_digest(self._signature(receipt).encode(), receipt.signature.encode())
        if not genuine or whose(owner) != (receipt.user_id, receipt.space):
            raise InvalidRequest(
                "this is no receipt that this server gave to this user, or it was altered",
                code="receipt_refused",
                param="receipt",
            )
        if now > receipt.expires_at:
            raise InvalidRequest(
                f"the receipt expired at {receipt.expires_at.isoformat()}",
                code="receipt_expired",
                param="receipt",
            )

    def standing(self, receipt: Receipt, memory: Iterable[Round]) -> Standing:
        """Compare the rounds of a receipt with all rounds of a memory."""
        marking = _Marking(self._key, receipt.nonce)
        marked = {one.place: one for one in _marks_in(receipt)}
        said = {(one.user, one.assistant) for one in marked.values()}
        there = changed = again = 0
        for mark in map(marking.of, memory):
            if mark.place not in marked:
                again += (mark.user, mark.assistant) in said
            elif mark == marked[mark.place]:
                there += 1
            else:
                changed += 1
        return Standing(there, changed, receipt.rounds - there - changed, again)

    def _signature(self, receipt: Receipt) -> str:
        return hmac.digest(self._key, receipt.signed_text(), hashlib.sha256).hex()


class _Marks(NamedTuple):
    place: _Mark
    user: _Mark
    assistant: _Mark


class _Marking:
    """Makes the marks of one receipt."""

    def __init__(self, key: bytes, nonce: str) -> None:
        self._key = hmac.digest(key, nonce.encode("utf-8", "surrogatepass"), hashlib.sha256)

    def of(self, round: Round) -> _Marks:
        place = "\0".join((round.user_id, round.session_id, str(round.round_index)))
        return _Marks(
            self._mark(b"place", place),
            self._mark(b"user", round.user_text),
            self._mark(b"assistant", round.assistant_text),
        )

    def _mark(self, kind: bytes, text: str) -> _Mark:
        said = text.encode("utf-8", "surrogatepass")
        return hashlib.blake2b(said, digest_size=_MARK_BYTES, key=self._key, person=kind).digest()


def _marks_in(receipt: Receipt) -> Iterator[_Marks]:
    marks = base64.urlsafe_b64decode(receipt.marks)
    of_a_round = len(_Marks._fields) * _MARK_BYTES
    for start in range(0, len(marks), of_a_round):
        middle, last = start + _MARK_BYTES, start + 2 * _MARK_BYTES
        yield _Marks(marks[start:middle], marks[middle:last], marks[last : start + of_a_round])


class ReceiptOffice:
    """Gives access to the receipts; the key is read or made when somebody first asks for one."""

    def __init__(self, find_key: Callable[[], Awaitable[bytes]]) -> None:
        self._find_key = find_key
        self._receipts: Receipts | None = None

    async def open(self) -> Receipts:
        """The receipts of this server. Raises `ConfigError` and the store's errors where the key
        can neither be read nor made."""
        if self._receipts is None:
            try:
                self._receipts = Receipts(await self._find_key())
            except (OSError, ValueError, KeyError) as error:
                raise ConfigError(
                    f"cannot read or make the key of receipts: {error}", code="keys_unreadable"
                ) from error
        return self._receipts


async def key_in(folder: Path) -> bytes:
    """The key of an embedded memory, from a file that is made if there is none."""
    path = folder / "receipts.key"
    if not path.exists():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = path.with_name(f"{path.name}.new")
        new.unlink(missing_ok=True)
        with open(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
            file.write(secrets.token_hex(_KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    return bytes.fromhex(path.read_text())


async def key_among(documents: Documents) -> bytes:
    """The key that all assistants on a Qdrant server share. If two make one at once, the first
    counts."""
    there = await documents.read(_DOCUMENT)
    if not there.body:
        made = {"key": secrets.token_hex(_KEY_BYTES)}
        there = (await documents.write(_DOCUMENT, made, Document())).there
    return bytes.fromhex(there.body["key"])
