"""The one way into memory: recorded turns and live rounds both pass here, in order, once.

Keeps the rounds of the sessions in use, so that a turn needs no reading of its session. Another
assistant may use the same store: each write names what it goes on from, and where that has changed,
the session is read again and the write decided anew (docs/decisions/0007).
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from datetime import date
from typing import TypeVar

from assistant.chat.members import check_begun_by, member_of, members_of
from assistant.chat.turns import (
    Arriving,
    Recorded,
    Turn,
    add_turn,
    said_again,
    same_round,
    with_rounds,
)
from assistant.chat.writers import Writer, Writers
from assistant.observing.gen_ai import Operation, memory_operation
from assistant.worker_messages import ERASED, Notices
from memory_store import (
    Correction,
    EnrichmentState,
    Extraction,
    FactLink,
    Forgotten,
    Labels,
    MemoryStore,
    Reach,
    Record,
    RetentionRule,
    Round,
    is_shared,
    owner_of,
    roster_of,
    shared_owner,
    whose,
)
from memory_store.errors import RoundTaken
from memory_store.scheduler import aside

Watcher = Callable[[str, str], None]
# Whenever one writer has to try again, another one has succeeded.
_TRIES = 30
_LONGEST_WAIT = 0.05
# For `aside`: rules read this many characters while one turn is placed.
_TURN = 4
# For `aside`: this many characters are searched for words while rules read one.
_WORDS = 64
_Result = TypeVar("_Result")


def _rounds(gone: Forgotten) -> int:
    return gone.rounds


class Recorder:
    """Writes turns to the store and forgets them; a user's writes never overtake each other."""

    def __init__(
        self,
        store: MemoryStore,
        *,
        enriched_later: bool = False,
        forget_replies: Callable[[], None] | None = None,
        forgotten: Callable[[], None] = lambda: None,
        notices: Notices | None = None,
    ) -> None:
        """`enriched_later` marks new rounds as waiting for enrichment; `forget_replies` is called
        when something was forgotten that replies of language models may repeat, and `forgotten`
        after it. `notices` are those of all assistants on this store, where there may be
        others."""
        self._store = store
        self._state = EnrichmentState.PENDING if enriched_later else EnrichmentState.DONE
        self._writers = Writers(store, notices)
        self._forget_replies = forget_replies
        self._tell_forgotten = forgotten
        self._notices = notices
        self._watcher: Watcher | None = None
        self.rounds_stored = 0
        """How many rounds were written, those brought in among them."""

    def watch(self, watcher: Watcher) -> None:
        """Tell this watcher in which session something was recorded."""
        self._watcher = watcher

    @memory_operation(Operation.UPSERT, lambda done: len(done.rounds))
    async def record(
        self,
        user_id: str,
        session_id: str,
        turns: Sequence[Turn],
        title: str = "",
        person: str | None = None,
    ) -> Recorded:
        """Add turns that already happened; durable on return. Known turns change nothing. `title`
        is that of the session, should these turns begin it; `person` the member of a shared space
        whose they are."""
        arriving = Arriving(user_id, session_id, turns, title)

        async def attempt(rounds: list[Round]) -> Recorded:
            await self._check_says(user_id, person, rounds)
            planned = await aside(_TURN * len(turns), arriving.plan, rounds)
            changed = [_said_by(person, round) for round in planned]
            await self._write(writer, session_id, rounds, changed)
            return arriving.recorded()

        async with self._writers.writing(user_id) as writer:
            return await self._settled(writer, user_id, session_id, attempt)

    @memory_operation(Operation.UPSERT, lambda record: 1)
    async def record_round(
        self,
        user_id: str,
        session_id: str,
        said: Turn,
        answer: Turn,
        before: Sequence[str] = (),
        repeats: Sequence[str] = (),
        tools: Sequence[str] = (),
        person: str | None = None,
    ) -> Record:
        """Store a live round: what the user said, after the messages `before`, and the answer,
        which repeats words of the rounds named by `repeats` and was found with these tools. Return
        its record, with what its facts replace. `person` is the member of a space who said it.

        A retry or a regenerated answer (see `same_round`) overwrites the round it repeats.
        """

        async def attempt(rounds: list[Round]) -> Record:
            await self._check_says(user_id, person, rounds)
            opened = add_turn(rounds, said, user_id=user_id, session_id=session_id)
            size = len(rounds) + len(before)
            if repeated := await aside(size, same_round, rounds, said, before):
                opened = said_again(opened, repeated)
            round = add_turn([opened], answer, user_id=user_id, session_id=session_id)
            round = replace(round, repeats=tuple(repeats), tools=tuple(tools))
            round = _said_by(person, round)
            (record,) = await self._write(writer, session_id, rounds, [round])
            return record

        async with self._writers.writing(user_id) as writer:
            return await self._settled(writer, user_id, session_id, attempt)

    async def _check_says(self, user_id: str, person: str | None, rounds: Sequence[Round]) -> None:
        """In a shared space, raise `NotFound` for a person who is not a member (any more), and
        `Forbidden` in another member's session."""
        if is_shared(user_id):
            await member_of(self._store, whose(user_id).space or "", person or "")
            check_begun_by(person, rounds)

    async def _settled(
        self,
        writer: Writer,
        user_id: str,
        session_id: str,
        attempt: Callable[[list[Round]], Awaitable[_Result]],
    ) -> _Result:
        """Repeat the attempt on the session's rounds until no other writer came between."""
        for _ in range(_TRIES):
            try:
                return await attempt(await self._writers.rounds(writer, user_id, session_id))
            except RoundTaken:
                writer.sessions.pop(session_id, None)
                await asyncio.sleep(random.uniform(0, _LONGEST_WAIT))
        return await attempt(await self._writers.rounds(writer, user_id, session_id))

    async def _write(
        self, writer: Writer, session_id: str, rounds: list[Round], changed: Sequence[Round]
    ) -> list[Record]:
        """Write the rounds that changed, and return their records. Raises `RoundTaken` if another
        writer changed the session."""
        before = {round.round_index: round.turn_ids for round in rounds}
        over = {r.id: before[r.round_index] for r in changed if r.round_index in before}
        written: list[Record] = []
        if changed:
            written = await self._store.remember(changed, enrichment=self._state, over=over)
            self.rounds_stored += len(changed)
        writer.keep(session_id, with_rounds(rounds, changed))
        if changed and self._watcher:
            self._watcher(changed[0].user_id, session_id)
        return written

    @memory_operation(Operation.UPDATE, lambda done: 1)
    async def enrich(self, round: Round, extraction: Extraction) -> None:
        """Add what was extracted from a round, unless it has changed meanwhile."""
        async with self._writers.writing(round.user_id):
            await self._store.enrich(round, extraction)

    async def enrichment_failed(
        self, round: Round, extractor: str, reason: str, *, most_attempts: int
    ) -> None:
        """Say in the record why nothing was extracted."""
        async with self._writers.writing(round.user_id):
            await self._store.enrichment_failed(
                round, extractor, reason, most_attempts=most_attempts
            )

    @memory_operation(Operation.UPDATE, bool)
    async def let_supersede(self, user_id: str, round_id: str, allowed: bool) -> Record | None:
        """Undo what the facts of a round replaced, or let the rules link them again."""
        async with self._writers.writing(user_id):
            return await self._store.let_supersede(user_id, round_id, allowed)

    @memory_operation(Operation.CREATE, len)
    async def bring_in(self, user_id: str, records: Sequence[Record]) -> list[Record]:
        """Store records that were exported somewhere, and return those that were new."""
        async with self._writers.writing(user_id) as writer:
            writer.sessions.clear()
            new = await self._store.bring_in(user_id, records)
            self.rounds_stored += len(new)
            return new

    @memory_operation(Operation.UPDATE, len)
    async def name_session(
        self, user_id: str, session_id: str, title: str | None, labels: Labels | None = None
    ) -> list[Record]:
        """Name a session, or label its rounds. Return its records; none where there is no such
        session."""
        async with self._writers.writing(user_id) as writer:
            writer.sessions.pop(session_id, None)
            records = await self._store.name_session(user_id, session_id, title, labels)
            if self._notices:  # others may hold its rounds under the title that it had
                await self._notices.tell(ERASED)
            return records

    @memory_operation(Operation.UPDATE, bool)
    async def pin(self, user_id: str, round_id: str, pinned: bool) -> Record | None:
        """Pin or unpin a round. Return its record; None where this user has no such round."""
        async with self._writers.writing(user_id) as writer:
            writer.sessions.clear()
            record = await self._store.pin(user_id, round_id, pinned)
            if self._notices:  # as with titles
                await self._notices.tell(ERASED)
            return record

    async def reach_of(self, round: Round, *, is_labelled: bool) -> Reach:
        """Where this next round of its session may go; if it is not labelled, it takes the labels
        of the session's last round."""
        if not is_labelled and self._store.reaches.go_by_labels:
            async with self._writers.writing(round.user_id) as writer:
                rounds = await self._writers.rounds(writer, round.user_id, round.session_id)
            round = replace(round, labels=rounds[-1].labels if rounds else {})
        return await aside(round.size // _WORDS, self._store.reaches.of, round)

    def reach_of_text(self, user_id: str, text: str) -> Reach:
        """Where what a user says in these words may go."""
        return self._store.reaches.of_words([text], space=whose(user_id).space)

    async def closest_of(self, user_id: str, ids: Sequence[str]) -> Reach:
        """The reach of the round that is kept closest among these."""
        return await self._store.reaches.closest_of(user_id, ids)

    async def kept_closer(self, user_id: str, reach: Reach) -> list[Record]:
        """The user's records that are held back from a reader who sees up to this reach."""
        return await self._store.reaches.beyond(user_id, reach)

    @memory_operation(Operation.UPDATE, len)
    async def set_reach(self, user_id: str, ids: Sequence[str], reach: Reach) -> list[Record]:
        """Say where rounds may go. Return those that changed, also rounds that repeat these."""
        async with self._writers.writing(user_id) as writer:
            writer.sessions.clear()
            changed = await self._store.set_reach(user_id, ids, reach)
            await self._forgotten()
        return changed

    async def everything(self, user_id: str) -> list[Record]:
        """All that is kept of a user, oldest first, as it was at one moment."""
        async with self._writers.writing(user_id):
            return await self._store.records(user_id)

    async def ask_again(self, user_id: str, today: date) -> list[FactLink]:
        """The facts of which the user is to be asked today if they still hold; each comes once."""
        async with self._writers.writing(user_id):
            return await self._store.ask_again(user_id, today)

    @memory_operation(Operation.UPDATE, bool)
    async def correct(self, user_id: str, round_id: str, correction: Correction) -> Record | None:
        """Correct what a round says. Return its record; None when this user has no such round."""
        async with self._writers.writing(user_id) as writer:
            writer.sessions.clear()
            done = await self._store.correct(user_id, round_id, correction, enrichment=self._state)
            if done is None:
                return None
            await self._forgotten()
        sessions = done.changed_sessions
        if done.record.enrichment is EnrichmentState.PENDING:
            sessions |= {done.record.round.session_id}
        self._tell_of_changed(user_id, sessions)
        return done.record

    @memory_operation(Operation.DELETE, _rounds)
    async def forget(
        self,
        user_id: str,
        *,
        session_id: str | None = None,
        round_id: str | None = None,
        rule: RetentionRule | None = None,
        person: str | None = None,
        dry_run: bool = False,
    ) -> Forgotten:
        """Forget a session, a round, what a rule names, what one member said in a shared space, or,
        where none is given, everything of a user. Return how much that is; with `dry_run` only
        count it."""
        store, state = self._store, self._state
        async with self._writers.writing(user_id) as writer:
            writer.sessions.clear()
            if session_id is not None:
                gone = await store.forget_session(
                    user_id, session_id, dry_run=dry_run, enrichment=state
                )
            elif round_id is not None:
                gone = await store.forget_round(
                    user_id, round_id, dry_run=dry_run, enrichment=state
                )
            elif rule is not None:
                gone = await store.forget_by_rule(user_id, rule, dry_run=dry_run, enrichment=state)
            else:
                gone = await store.forget_user(
                    user_id, person=person, dry_run=dry_run, enrichment=state
                )
            if not dry_run:
                await self._forgotten()
        if not dry_run:
            self._tell_of_changed(user_id, gone.changed_sessions)
        return gone

    async def forget_memory(self, owner: str, *, dry_run: bool = False) -> Forgotten:
        """Forget everything of a user, with all spaces, and what they said in shared ones, which
        they leave; or one space, where the owner is one."""
        gone = await self.forget(owner, dry_run=dry_run)
        for space in await self._store.spaces(owner):
            gone += await self.forget(owner_of(owner, space), dry_run=dry_run)
        for space in await self._store.shared_spaces(owner):
            gone += await self.part(space, owner, forgets=True, dry_run=dry_run)
        return gone

    async def part(
        self, space: str, person: str, *, forgets: bool, dry_run: bool = False
    ) -> Forgotten:
        """End somebody's membership; with `forgets` what they said is forgotten. The space ends
        with its last member. If this is interrupted, another call completes it."""
        owner, roster = shared_owner(space), roster_of(space)
        members = [one.user_id for one in await members_of(self._store, space)]
        if members == [person]:
            # Their membership goes last: without it nobody could complete an interrupted call.
            gone = await self.forget(owner, dry_run=dry_run)
            await self.forget(roster, dry_run=dry_run)
            return gone if dry_run else gone + await self.forget(owner)
        if not dry_run:
            # Under this lock, what they are just saying is stored before, or refused.
            async with self._writers.writing(owner):
                await self.forget(roster, session_id=person)
        return await self.forget(owner, person=person, dry_run=dry_run) if forgets else Forgotten()

    async def end_space(self, space: str, person: str) -> Forgotten:
        """Forget a shared space with all memberships, that of this member last."""
        gone = await self.forget(shared_owner(space))
        for one in await members_of(self._store, space):
            if one.user_id != person:
                await self.part(space, one.user_id, forgets=False)
        return gone + await self.part(space, person, forgets=True)

    def _tell_of_changed(self, user_id: str, sessions: Iterable[str]) -> None:
        """Tell the watcher of sessions with rounds that say something else now, or whose answers
        are withdrawn: an extractor, where there is one, reads them again."""
        if self._watcher and self._state is EnrichmentState.PENDING:
            for session_id in sessions:
                self._watcher(user_id, session_id)

    async def forget_replies(self) -> None:
        """Keep no reply of a language model that may repeat what is not kept."""
        if self._forget_replies:
            await asyncio.to_thread(self._forget_replies)

    async def _forgotten(self) -> None:
        """Let go of copies of what was forgotten, also where nothing was left to forget: an earlier
        call may have ended before this."""
        await self.forget_replies()
        if self._notices:
            await self._notices.tell(ERASED)
        self._tell_forgotten()

    async def erased_elsewhere(self) -> None:
        """Let go of what another assistant may have forgotten."""
        self._writers.let_go()
        await self.forget_replies()


def _said_by(person: str | None, round: Round) -> Round:
    """The round under the name of its member: in a shared space nobody chooses another name."""
    return round if person is None else replace(round, user_name=person, assistant_name=None)
