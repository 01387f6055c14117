"""Enriches rounds that wait: facts are extracted from several at once, and stored round by round.

Several workers on one memory know of the same rounds. Whoever claims a round first, by a lease that
is stored with it, calls the model, and gives the claim back afterwards. If a process is killed, its
leases end, and others take its rounds.
"""

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from itertools import pairwise
from typing import NamedTuple

from assistant.chat.recorder import Recorder
from assistant.clock import Clock
from assistant.enrichment.costs import DailyCap, batches
from assistant.enrichment.extraction import ExtractionWanted, extraction_messages, extraction_shape
from assistant.errors import AssistantError, BadModelReply, PromptRefused, ReplyUnfinished
from assistant.models.gateway import Gateway
from memory_store import (
    EnrichmentState,
    Extraction,
    MemoryStore,
    Reach,
    Record,
    Round,
)
from memory_store.engines import Claim
from memory_store.errors import MemoryStoreError
from memory_store.language import Language
from memory_store.scheduler import aside

_log = logging.getLogger(__name__)
# How often a lease is renewed while it lasts.
_RENEWALS = 3


class Claims:
    """The claims of one process."""

    def __init__(self, store: MemoryStore, clock: Clock, *, lease_seconds: float) -> None:
        self._store = store
        self._clock = clock
        self._lease = timedelta(seconds=lease_seconds)
        self._by = uuid.uuid4().hex

    @asynccontextmanager
    async def on(self, rounds: Sequence[Round]) -> AsyncIterator[list[Round]]:
        """Claim rounds of one user within this context; yields those that nobody else enriches."""
        ours = await self._claim(rounds, self._lease)
        if not ours:
            yield ours
            return
        renewing = asyncio.create_task(self._renew(ours))
        try:
            yield ours
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
            # Gives the claims back; a round that was enriched meanwhile is not claimed again.
            with suppress(MemoryStoreError):
                await self._claim(ours, timedelta(0))

    async def _renew(self, rounds: Sequence[Round]) -> None:
        while True:
            await asyncio.sleep(self._lease.total_seconds() / _RENEWALS)
            try:
                await self._claim(rounds, self._lease)
            except MemoryStoreError as error:
                _log.warning("could not renew the lease on rounds being extracted: %s", error)

    async def _claim(self, rounds: Sequence[Round], lasting: timedelta) -> list[Round]:
        now = self._clock()
        return await self._store.claim(rounds, Claim(self._by, now + lasting), now)


# Characters of a message that earlier facts are looked for by: about what an encoder reads.
_LOOKED_FOR = 1000
# Earlier facts shown to the model: a first number, more for each statement, and the most. A fact
# that is replaced is near what replaces it; other facts only make each call longer.
_KNOWN_FACTS = 20
_KNOWN_FACTS_EACH = 2
_MOST_KNOWN_FACTS = 80


class Left(NamedTuple):
    """How many rounds of a session still wait, and how many another process is working on."""

    waiting: int
    elsewhere: int = 0


class Enricher:
    """Extracts the rounds of a session that wait, in one call where they fit into one."""

    def __init__(
        self,
        store: MemoryStore,
        reach: Reach,
        recorder: Recorder,
        claims: Claims,
        model: Gateway,
        wanted: ExtractionWanted,
        *,
        attempts: int,
        cap: DailyCap,
    ) -> None:
        """`reach` is the reach up to which the model may read."""
        self.extractor = wanted.extractor
        self._store = store
        self._seen = store.seen_up_to(reach)
        self._recorder = recorder
        self._claims = claims
        self._model = model
        self._wanted = wanted
        self._attempts = attempts
        self.cap = cap

    async def enrich(self, user_id: str, session_id: str) -> Left:
        """Try every waiting round of the session once, unless another process has claimed it. If no
        more may be spent today, no more is tried, and no round is reported as waiting."""
        await self._leave_held_back(user_id, session_id)
        every = await self._seen.session(user_id, session_id)
        records = [record for record in every if _waits(record)]
        before = {after.id: one.round.user_text for one, after in pairwise(every)}
        elsewhere = 0
        for batch in batches([record.round for record in records]):
            if self.cap.is_reached():
                return Left(0)
            async with self._claims.on(batch) as ours:
                elsewhere += len(batch) - len(ours)
                if ours:
                    await self._enrich(ours, before)
        if not records:
            return Left(0)
        return Left(len(await self._waiting(user_id, session_id)), elsewhere)

    async def _leave_held_back(self, user_id: str, session_id: str) -> None:
        """Mark waiting rounds that the model may not read as done, with nothing extracted."""
        for record in await self._waiting(user_id, session_id):
            if not self._seen.reach.includes(record.round.reach):
                await self._recorder.enrich(record.round, Extraction(self.extractor))

    async def _waiting(self, user_id: str, session_id: str) -> list[Record]:
        return [one for one in await self._store.session(user_id, session_id) if _waits(one)]

    async def _enrich(self, rounds: Sequence[Round], before: Mapping[str, str]) -> None:
        """Make one call for all rounds. Where the model cannot make use of them together, each half
        is tried alone, so that a round which no model can read fails alone. `before` has what the
        user said before each round, by its id."""
        try:
            found = await self._extract(rounds, before)
        except (BadModelReply, PromptRefused, ReplyUnfinished) as error:
            if len(rounds) == 1:
                await self._failed(rounds, error)
                return
            half = len(rounds) // 2
            await self._enrich(rounds[:half], before)
            await self._enrich(rounds[half:], before)
        except AssistantError as error:
            await self._failed(rounds, error)
        else:
            for round, extraction in zip(rounds, found, strict=True):
                await self._recorder.enrich(round, extraction)

    async def _extract(
        self, rounds: Sequence[Round], before: Mapping[str, str]
    ) -> list[Extraction]:
        if not any(round.user_text.strip() or round.assistant_text.strip() for round in rounds):
            return [Extraction(self.extractor) for _ in rounds]
        language = self._store.language
        statements = await aside(
            sum(round.size for round in rounds), _statements, rounds, before, language
        )
        most = min(_MOST_KNOWN_FACTS, _KNOWN_FACTS + _KNOWN_FACTS_EACH * len(statements))
        # Earlier facts come from other rounds, which go as far: what is found may repeat the facts.
        known = self._store.seen_up_to(rounds[0].reach)
        earlier = await known.known_facts(
            rounds[0].user_id, statements, most, [round.id for round in rounds]
        )
        messages = extraction_messages(rounds, earlier, self._wanted)
        self.cap.send(messages)
        return await self._model.ask(
            messages,
            extraction_shape(rounds, earlier, self._wanted, language),
            {"temperature": 0.0},
        )

    async def _failed(self, rounds: Sequence[Round], error: AssistantError) -> None:
        for round in rounds:
            await self._recorder.enrichment_failed(
                round,
                self.extractor,
                f"{error.code}: {error.message}",
                most_attempts=self._attempts,
            )


def _waits(record: Record) -> bool:
    return record.enrichment is EnrichmentState.PENDING


def _statements(
    rounds: Sequence[Round], before: Mapping[str, str], language: Language
) -> list[str]:
    """The texts by which to look for earlier facts: each message, also with the one before it, as
    "it's on the 24th now" names nothing; and each of its sentences that is no question."""
    found: dict[str, None] = {}
    for round in rounds:
        said = round.user_text[:_LOOKED_FOR]
        whole = f"{before.get(round.id, '')[-_LOOKED_FOR:]}\n{said}"
        apart = [one for one in language.sentences(said) if not language.is_question(one)]
        found |= dict.fromkeys(text for text in (said, whole.strip(), *apart) if text.strip())
    return list(found)
