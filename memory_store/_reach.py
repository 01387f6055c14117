"""Reach: where a memory may go, and the rules by which a memory is kept closer.

A reader sees memories up to a reach. Memories that are kept closer are held back from the reader,
by `UserScope`: the user's own view sees all of them, a reader on this computer all but those that
are never in answers, and a reader elsewhere only those that may go anywhere.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from memory_store._labels import LabelValue, terms_of


class Reach(StrEnum):
    """Where a memory may go, from the widest to the closest."""

    ANYWHERE = "anywhere"
    THIS_COMPUTER = "this_computer"
    """It never goes to a model or an embedder that is not local."""
    NEVER_IN_ANSWERS = "never_in_answers"
    """It goes to nobody but the user who looks it up."""

    @property
    def closer(self) -> tuple["Reach", ...]:
        """The reaches that are held back from a reader who sees up to this one."""
        every = tuple(Reach)
        return every[every.index(self) + 1 :]

    def includes(self, other: "Reach") -> bool:
        """Whether a reader who sees up to this sees a memory of the other reach."""
        return other not in self.closer


def closest(reaches: Iterable[Reach]) -> Reach:
    """The strictest of these reaches; `ANYWHERE` if there are none."""
    return max(reaches, key=list(Reach).index, default=Reach.ANYWHERE)


@dataclass(frozen=True)
class ReachRule:
    """A rule that limits the reach of a memory with one of these words on either side, with one of
    these labels, or in one of these spaces."""

    reach: Reach
    words: tuple[str, ...] = ()
    labels: Mapping[str, LabelValue] = field(default_factory=dict)
    spaces: frozenset[str] = frozenset()

    def is_for(
        self, texts: Sequence[str], labels: Mapping[str, LabelValue], space: str | None
    ) -> bool:
        """Whether the rule is for a memory with these texts and labels, in this space."""
        if space in self.spaces or not set(terms_of(self.labels)).isdisjoint(terms_of(labels)):
            return True
        return any(self._words.search(text) for text in texts)

    @cached_property
    def _words(self) -> re.Pattern[str]:
        spelled = "|".join(map(re.escape, self.words))
        # Without words it is a pattern that nothing matches.
        return re.compile(rf"(?<!\w)(?:{spelled})(?!\w)" if spelled else r"(?!)", re.I)
