"""MemoryBank: what was said and a summary of each day, forgotten along Ebbinghaus's curve.

Zhong et al., "MemoryBank: Enhancing Large Language Models with Long-Term Memory" (AAAI 2024).

A memory is retained by exp(-t / S): t are the days since it was last recalled, and its strength S
begins at 1 and grows by 1 with each recall. The paper counts the recalls of a running service. A
view keeps nothing of its own, so the user's later messages recall here: each recalls the memory
that it is nearest to, as it would have when it was sent. What is hardly retained is found last, and
not deleted. The paper's portrait of the user's personality and its summary of all events are left
out.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from assistant.designs.control_points import Choices, ValueKind, fading, with_values
from assistant.designs.design import Design, FlatView, embedded
from assistant.designs.value import Value, View, ViewQuestion, by_day, of_round, of_summary
from memory_store import Record, windows
from memory_store.language import Rarity

# A message recalls a memory from this cosine on.
_RECALLS = 0.5
# A memory keeps this share of its nearness however long ago it was.
_KEPT = 0.5
# The days in which a memory of strength 1 falls to a third. The paper's is one day, that of the
# authors' code five, for chats of ten days; memories here reach over months.
_DAYS = 30.0


class MemoryBank(Design):
    """Rounds and daily summaries, weighed by how well they are retained."""

    name = "memorybank"
    paper = "Zhong et al. 2024, arXiv:2305.10250"
    choices = Choices()

    def described(self) -> dict[str, Any]:
        """Summaries of days are read beside the values, and time makes both fade."""
        value = with_values(self.chosen.value, ValueKind.SUMMARY)
        return super().described() | {"value": value, "time": fading(self.chosen.time)}

    async def index(
        self, records: Sequence[Record], values: Sequence[Value], rarity: Rarity
    ) -> View:
        retention = await self.retention(records)
        return await FlatView.of(self, values, rarity, retention.weigh)

    async def values(self, records: Sequence[Record], rarity: Rarity) -> list[Value]:
        """The values chosen, and a summary of each day."""
        days = [
            of_summary(await self.tools.summariser.of_rounds(said, rarity), said, number)
            for number, said in enumerate(by_day(records), start=1)
        ]
        return [*await super().values(records, rarity), *days]

    async def retention(self, records: Sequence[Record]) -> "Retention":
        """Retention of each memory after the user's messages recalled some, one after the other."""
        said = [(record, of_round(record).said) for record in records]
        rounds = [(record, windows(text)[0]) for record, text in said if text.strip()]
        rows = await embedded(self, [text for _, text in rounds])
        recalls: Counter[str] = Counter()
        last: dict[str, date] = {}
        for at in range(1, len(rounds)):
            cosines = rows[:at] @ rows[at]
            nearest = int(np.argmax(cosines))
            earlier, later = rounds[nearest][0], rounds[at][0]
            is_elsewhere = earlier.round.session_id != later.round.session_id
            if is_elsewhere and cosines[nearest] >= _RECALLS:
                recalls[earlier.id] += 1
                last[earlier.id] = later.round.session_date.date()
        return Retention(recalls, last)


@dataclass(frozen=True, slots=True)
class Retention:
    """How often each round was recalled, and when last, by its id."""

    recalls: Mapping[str, int]
    last: Mapping[str, date]

    def weigh(self, value: Value, similarity: float, asked: ViewQuestion) -> float:
        """The similarity, lowered the less the value is retained on the day of the question."""
        if asked.on is None:
            return similarity
        return similarity * (_KEPT + (1 - _KEPT) * self.of(value, asked.on))

    def of(self, value: Value, on: date) -> float:
        """How well a value is retained on a day, 0 to 1: as the best of its rounds is."""
        return max(self._of_round(record, on) for record in value.sources)

    def _of_round(self, record: Record, on: date) -> float:
        last = self.last.get(record.id, record.round.session_date.date())
        strength = 1 + self.recalls.get(record.id, 0)
        return math.exp(-max(0, (on - last).days) / (_DAYS * strength))
