"""The values that were recalled last, read once where nobody else can write them."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence

from memory_store.engines.engine import Engine, Scope
from memory_store.engines.parts import records_in
from memory_store.types import Record

# Of text; a record takes some three times as many bytes.
_MOST_CHARACTERS = 16_000_000


class Values:
    """Records by id, of an engine that is slow to read them.

    An engine that this process alone writes to says what was written, and the records are kept
    until then; from any other they are read each time.
    """

    def __init__(self, engine: Engine, most_characters: int = _MOST_CHARACTERS) -> None:
        self._engine = engine
        self._most_characters = most_characters
        self._known: OrderedDict[str, Record] = OrderedDict()
        self._characters = 0
        self._writes = 0
        self._kept = engine.watch(self)

    async def of(self, user_id: str, ids: Sequence[str]) -> dict[str, Record]:
        """The records of a user with these ids; none of what is gone or another's."""
        found = {id: self._known[id] for id in ids if self._is_known(user_id, id)}
        for id in found:
            self._known.move_to_end(id)
        missing = tuple(id for id in ids if id not in found)
        if missing:
            writes = self._writes
            records = await records_in(self._engine, Scope(user_id, ids=missing))
            read = {record.id: record for record in records}
            if self._kept and writes == self._writes:
                self._keep(read)
            found |= read
        return found

    def _is_known(self, user_id: str, id: str) -> bool:
        return id in self._known and self._known[id].round.user_id == user_id

    def _keep(self, read: dict[str, Record]) -> None:
        for id, record in read.items():
            self._known[id] = record
            self._characters += record.round.size
        while self._characters > self._most_characters:
            _, oldest = self._known.popitem(last=False)
            self._characters -= oldest.round.size

    def written(self, user_id: str, ids: Sequence[str] | None) -> None:
        """Let go of these records of a user, or of all of them."""
        self._writes += 1
        if ids is None:
            ids = [id for id in self._known if self._is_known(user_id, id)]
        for id in ids:
            if record := self._known.pop(id, None):
                self._characters -= record.round.size

    def found(self, user_id: str, versions: Mapping[int, int]) -> None:
        """Nothing is kept where others write."""
