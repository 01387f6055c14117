"""How far rounds may go (their reach), by their words, their labels, the rules, and the rounds that
they repeat."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from memory_store._labels import Labels
from memory_store._owners import whose
from memory_store._points import records_in, scroll_in_parts
from memory_store._reach import Reach, ReachRule, closest
from memory_store._types import Record, Round
from memory_store.engines._engine import Engine, UserScope
from memory_store.engines._layout import REACH
from memory_store.language import wished_reach
from memory_store.scheduler import aside

# How many characters are searched for words in the time in which rules read one.
_SEARCHED_FAST = 4


class Reaches:
    """Says how far rounds may go. If several things limit a round, the strictest counts."""

    def __init__(self, engine: Engine, rules: Sequence[ReachRule] = ()) -> None:
        self._engine = engine
        self._rules = rules

    @property
    def go_by_labels(self) -> bool:
        """Whether the reach of a round depends on its labels."""
        return any(rule.labels for rule in self._rules)

    def of(self, round: Round) -> Reach:
        """The reach of the round: its own, narrowed by a wish in its words and by the rules."""
        texts, space = (round.user_text, round.assistant_text), whose(round.user_id).space
        return closest([round.reach, self.of_words(texts, round.labels, space)])

    def of_words(
        self, texts: Sequence[str], labels: Labels | None = None, space: str | None = None
    ) -> Reach:
        """The reach of a memory with these texts, the first of which is the user's."""
        rules = [one.reach for one in self._rules if one.is_for(texts, labels or {}, space)]
        return closest([wished_reach(texts[0]), *rules])

    async def placed(self, round: Round) -> Round:
        """The round with its reach, which is no wider than that of what its answer repeats."""
        own = await aside(round.size // _SEARCHED_FAST, self.of, round)
        reach = closest([own, await self.closest_of(round.user_id, round.repeats)])
        return replace(round, reach=reach)

    async def closest_of(self, user_id: str, ids: Sequence[str]) -> Reach:
        """The narrowest reach among these rounds of a user."""
        if not ids:
            return Reach.ANYWHERE
        scope = UserScope(user_id, ids=tuple(ids), beyond=Reach.ANYWHERE)
        kept = await scroll_in_parts(self._engine, scope, [REACH])
        return closest(Reach(one.payload[REACH]) for one in kept)

    async def beyond(self, user_id: str, reach: Reach) -> list[Record]:
        """The records of a user that a reader who sees up to this reach may not see."""
        return await records_in(self._engine, UserScope(user_id, beyond=reach))

    async def changed(
        self, records: Sequence[Record], repeating: Sequence[Record], reach: Reach
    ) -> list[Record]:
        """Set the reach of `records` of one user, and keep `repeating`, whose answers repeat them,
        from going farther. Return those of both that change."""
        ids = {record.id for record in records}
        wanted = [(one, closest([one.round.reach, reach])) for one in repeating]
        for one in records:
            # A record may go no farther than the rounds that it repeats itself.
            repeats = sorted({*one.round.repeats} - ids)
            kept = await self.closest_of(one.round.user_id, repeats)
            wanted.append((one, closest([reach, kept])))
        return [
            replace(one, round=replace(one.round, reach=to))
            for one, to in wanted
            if one.round.reach is not to
        ]

    def closer(self, records: Sequence[Record]) -> Iterator[tuple[Reach, list[str]]]:
        """For each reach, the ids of the records that should have it and do not have it yet."""
        wanted = {record.id: self.of(record.round) for record in records}
        for reach in Reach:
            ids = [
                one.id
                for one in records
                if wanted[one.id] is reach and one.round.reach is not reach
            ]
            yield reach, ids
