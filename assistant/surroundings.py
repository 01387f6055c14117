"""The time zone of a user and the day on which their weeks begin, for requests that name none.

They are kept as a round beside the user's memory, in a place that no caller can name. So they are
durable, backed up, moved and taken off the disk like everything else that is kept.
"""

import json
from collections import OrderedDict
from dataclasses import asdict, dataclass

from assistant.chat.recorder import Recorder
from assistant.clock import wall_clock
from assistant.worker_messages import Notices
from memory_store import MemoryStore, Round, beside

_PLACE = "surroundings"
_NOTICE = "surroundings"
_USERS_HELD = 10_000


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is kept of a user; a field is None where nothing is kept."""

    timezone: str | None = None
    """By its name in the IANA's list."""
    week_begins: str | None = None
    """A weekday, such as `sunday`."""


NOWHERE = Surroundings()


class SurroundingsKept:
    """Reads and writes the surroundings of users. Every request asks for them, so they are held in
    memory."""

    def __init__(self, store: MemoryStore, recorder: Recorder, notices: Notices | None) -> None:
        self._store = store
        self._recorder = recorder
        self._notices = notices
        self._held: OrderedDict[str, Surroundings] = OrderedDict()
        self._changes = 0
        if notices:
            notices.watch(_NOTICE, self._changed)

    async def of(self, user_id: str) -> Surroundings:
        """The surroundings of a user, whatever space a request is about."""
        if user_id in self._held:
            self._held.move_to_end(user_id)
            return self._held[user_id]
        changes = self._changes
        found = await self._store.session(beside(user_id, _PLACE), _PLACE)
        kept = Surroundings(**json.loads(found[0].round.user_text)) if found else NOWHERE
        # What was read while somebody changed it may be old.
        if changes == self._changes:
            self._held[user_id] = kept
            if len(self._held) > _USERS_HELD:
                self._held.popitem(last=False)
        return kept

    async def keep(self, user_id: str, given: Surroundings) -> None:
        """Replace what is kept of a user; `NOWHERE` means that nothing is kept."""
        if given == NOWHERE:
            return await self.forget(user_id)
        text = json.dumps(asdict(given))
        place = beside(user_id, _PLACE)
        await self._store.remember([Round(place, _PLACE, 0, wall_clock(), user_text=text)])
        await self._tell()

    async def forget(self, user_id: str) -> None:
        """Forget the surroundings of a user without a trace."""
        if await self.of(user_id) != NOWHERE:
            await self._recorder.forget(beside(user_id, _PLACE))
            await self._tell()

    async def _tell(self) -> None:
        await self._changed()
        if self._notices:
            await self._notices.tell(_NOTICE)

    async def _changed(self) -> None:
        self._changes += 1
        self._held.clear()
