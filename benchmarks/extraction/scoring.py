"""Compares the facts that were found in one person's rounds with annotations made by hand.

A fact is matched by its words: it matches an annotation if it was found in the same round and
contains every word of `has`, or one of the words between slashes (`840/eight-forty`). A word is
found if a word of the text begins with it, in any case; a number must be there whole. A sentence
that states several things matches each of them.

An annotation has `days` if the fact is about some (`2026-05-02`, `2026-05-02/2026-05-08`), null
where they are a matter of taste. `of` names whoever said it, if this is not the user. `replaces`
has the `id` of an earlier annotation that no longer holds.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self


@dataclass(frozen=True, slots=True)
class AnnotatedFact:
    """A fact as it was annotated; `days` are None where they are not judged."""

    round: int
    has: str
    is_own: bool
    days: frozenset[str] | None
    replaces: frozenset[str]
    id: str

    @classmethod
    def of(cls, given: Mapping[str, Any], round: int) -> Self:
        """Read from a file."""
        days = given.get("days", [])
        return cls(
            round,
            given["has"],
            "of" not in given,
            None if days is None else frozenset(days),
            frozenset(given.get("replaces", ())),
            given.get("id", ""),
        )

    def is_in(self, text: str) -> bool:
        """Whether a text contains all of its words."""
        return all(
            any(_begins(word, text) for word in words.split("/")) for words in self.has.split()
        )


def _begins(word: str, text: str) -> bool:
    end = r"(?!\w)" if word[-1].isdigit() else ""
    return re.search(rf"(?<!\w){re.escape(word)}{end}", text, re.I) is not None


class FoundFact(NamedTuple):
    """A fact as it was found. `is_own`: it was taken for the user's. `in_doubt`: it may replace
    nothing. `replaced_in` is the round that replaced it. `contradicts` are the rounds whose facts
    it would replace if it were surely the user's. Where a model is measured, no fact of the rules
    `counts`, but its replacement does."""

    round: int
    text: str
    is_own: bool
    in_doubt: bool
    days: frozenset[str]
    replaced_in: int | None
    contradicts: frozenset[int]
    counts: bool = True


@dataclass
class Score:
    """How often each outcome happened, and the cases with an unwanted outcome."""

    counts: Counter[str] = field(default_factory=Counter)
    shown: list[str] = field(default_factory=list)

    def add(self, stated: Sequence[AnnotatedFact], found: Sequence[FoundFact]) -> None:
        """Count everything of one person."""
        counted = [one for one in found if one.counts]
        for one in counted:
            self._find(one, [each for each in stated if _match(each, one)])
        for each in stated:
            if each.is_own:
                matching = [one for one in counted if _match(each, one)]
                self._state(each, matching, stated)
        for each, old in _links(stated):
            self._link(each, old, found)
        self._replaced(stated, found)

    def _find(self, one: FoundFact, matching: Sequence[AnnotatedFact]) -> None:
        """Count a fact that was found as the user's own."""
        if not one.is_own:
            return
        self.counts["extracted"] += 1
        if any(each.is_own for each in matching):
            self.counts["right"] += 1
        else:
            self._count("another's" if matching else "not stated", one.text)

    def _state(
        self, each: AnnotatedFact, matching: Sequence[FoundFact], stated: Sequence[AnnotatedFact]
    ) -> None:
        """Count a fact that the user stated."""
        self.counts["stated"] += 1
        own = [one for one in matching if one.is_own]
        if not own:
            self._count("held another's" if matching else "missed", each.has)
            return
        self.counts["found"] += 1
        if all(one.in_doubt for one in own):
            self._count("in doubt", each.has)
        if each.days is not None:
            self.counts["days judged"] += 1
            if any(_has_days(one, each, stated) for one in own):
                self.counts["days right"] += 1
            else:
                days = [sorted(one.days) for one in own]
                self._count("days wrong", f"{each.has}: {sorted(each.days)}, found {days}")

    def _link(self, new: AnnotatedFact, old: AnnotatedFact, found: Sequence[FoundFact]) -> None:
        self.counts["replaced"] += 1
        olds = [one for one in found if _match(old, one)]
        if any(one.replaced_in == new.round for one in olds):
            self.counts["links right"] += 1
        elif any(_match(new, one) and old.round in one.contradicts for one in found):
            self._count("links in doubt", f"{old.has} by {new.has}")
        else:
            self._count("links missed", f"{old.has} by {new.has}")

    def _replaced(self, stated: Sequence[AnnotatedFact], found: Sequence[FoundFact]) -> None:
        """Count the facts that were replaced although they still hold by the annotations."""
        over = {(old.round, old.has): new.round for new, old in _links(stated)}
        for one in found:
            matching = [each for each in stated if _match(each, one)]
            ends = {over.get((each.round, each.has)) for each in matching}
            if one.replaced_in is not None and one.replaced_in not in ends:
                self._count("links wrong", one.text)

    def _count(self, name: str, what: str) -> None:
        self.counts[name] += 1
        self.shown.append(f"[{name}] {what}")

    @property
    def precision(self) -> float:
        """The share of the facts found as the user's that the user stated."""
        return _share(self.counts["right"], self.counts["extracted"])

    @property
    def recall(self) -> float:
        """The share of the user's stated facts that were found as the user's."""
        return _share(self.counts["found"], self.counts["stated"])


def _match(each: AnnotatedFact, one: FoundFact) -> bool:
    return each.round == one.round and each.is_in(one.text)


def _has_days(one: FoundFact, each: AnnotatedFact, stated: Sequence[AnnotatedFact]) -> bool:
    """Whether a found fact has the days of an annotation, and no other days but those of other
    annotations that it matches."""
    beside = [other.days for other in stated if _match(other, one)]
    known = [days for days in beside if days is not None]
    is_more = len(known) == len(beside) and not one.days <= frozenset().union(*known)
    return (each.days or frozenset()) <= one.days and not is_more


def _links(stated: Sequence[AnnotatedFact]) -> Iterator[tuple[AnnotatedFact, AnnotatedFact]]:
    """Each annotation that replaces an earlier one, with the earlier one."""
    by_id = {each.id: each for each in stated if each.id}
    for each in stated:
        for name in sorted(each.replaces):
            yield each, by_id[name]


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
