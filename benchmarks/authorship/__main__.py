"""`python -m benchmarks.authorship`: false replacements, missed updates, what each part does.

The cases are messages that are another's words or the user's own, each after an earlier statement.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.table import Table

import memory_store._facts
from memory_store import Extraction, Fact, FactLink, Record, Round, Speaker, rule_facts
from memory_store._changes.extraction import enriched
from memory_store._changes.links import linked
from memory_store.language.authorship import RULE, Authorship, AuthorshipRule, authorship

FOLDER = Path(__file__).parents[2] / "tests" / "memory_store" / "language" / "whose_words"
_BEGINS = re.compile(r"^@@@ ", re.M)
_LONG_AGO = datetime(2023, 1, 10, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ChangeOfMind:
    """What a user said of themselves, a later message, and what that says instead."""

    language: str
    style: str
    before: str
    says: str
    text: str

    @property
    def rounds(self) -> tuple[Round, Round]:
        """Both messages, a month apart."""
        later = _LONG_AGO + timedelta(days=30)
        return (
            Round("ann", "then", 0, _LONG_AGO, self.before),
            Round("ann", "now", 0, later, self.text),
        )


def cases(name: str) -> list[ChangeOfMind]:
    """The cases of a file: pasted or genuine, dev, held or fresh."""
    blocks = _BEGINS.split((FOLDER / f"{name}.txt").read_text("utf-8"))[1:]
    return list(map(_read, blocks))


def _read(block: str) -> ChangeOfMind:
    head, _, text = block.partition("\n")
    language, style, before, says = (part.strip() for part in head.split(" | "))
    return ChangeOfMind(language, style, before, says, text.strip())


def by_rules(case: ChangeOfMind) -> list[Record]:
    """Both rounds with what the rules find in them, linked."""
    records = [Record(round, rule_facts(round)) for round in case.rounds]
    slots = {fact.slot for record in records for fact in record.facts if fact.slot}
    return linked(records, slots)


def is_replaced_by_rules(case: ChangeOfMind) -> bool:
    """Whether the rules replace any earlier statement."""
    before, _ = by_rules(case)
    return any(fact.superseded_by for fact in before.facts)


def is_in_reach(case: ChangeOfMind) -> bool:
    """Whether the rules would replace the earlier statement if the whole message were surely the
    user's own."""
    records = [
        replace(record, facts=tuple(_surely_own(record.facts)))
        for record in (Record(round, rule_facts(round)) for round in case.rounds)
    ]
    slots = {fact.slot for record in records for fact in record.facts if fact.slot}
    return any(fact.superseded_by for fact in linked(records, slots)[0].facts)


def is_replaced_by_a_model(case: ChangeOfMind) -> bool:
    """Whether a model's claim that the statement is the user's own leads to a replacement."""
    before, now = case.rounds
    older = FactLink(before.id, case.before, before.session_date, "a model")
    fact = Fact(case.says, Speaker.USER, "a model", supersedes=(older,))
    record = enriched(Record(now), Extraction("a model", (fact,)))
    return any(fact.supersedes for fact in record.facts)


def speakers(case: ChangeOfMind) -> set[Speaker]:
    """The speakers that the rules give the message's statement; empty if they do not find it."""
    _, now = by_rules(case)
    said = case.says.lower()
    return {fact.speaker for fact in now.facts if said in " ".join(fact.text.lower().split())}


def _surely_own(facts: Sequence[Fact]) -> Iterator[Fact]:
    return (replace(fact, speaker=Speaker.USER, in_doubt=False) for fact in facts)


_T = TypeVar("_T")
PARTS = ("dev", "held", "fresh", "others")
_ANY = 2.0
_WITHOUT = {
    "the rule in use": RULE,
    "without the judgement": replace(
        RULE, sure=_ANY, sure_alone=_ANY, sure_elsewhere=_ANY, foreign=_ANY
    ),
    "without quotation marks": replace(RULE, marks=False),
    "several languages allowed": replace(RULE, one_language=False),
    "questions anywhere": replace(RULE, questions_last=False),
    "no surer elsewhere": replace(RULE, sure_elsewhere=RULE.sure),
    "one sentence as several": replace(RULE, sure_alone=RULE.sure),
    "sure up to 0.05": replace(RULE, sure=0.05, sure_elsewhere=0.025),
    "sure up to 0.4": replace(RULE, sure=0.4, sure_elsewhere=0.1),
}


def main() -> None:
    """Print the figures of each part of the set, and of all with a part of the rule left out."""
    console = Console(width=150)
    table = _table("the rule in use")
    for part in PARTS:
        table.add_row(part, *_figures(cases(f"pasted_{part}"), cases(f"genuine_{part}")))
    console.print(table)
    pasted = [case for part in PARTS for case in cases(f"pasted_{part}")]
    genuine = [case for part in PARTS for case in cases(f"genuine_{part}")]
    table = _table("ablation, all parts")
    for name, rule in _WITHOUT.items():
        with _in_use(rule):
            table.add_row(name, *_figures(pasted, genuine))
    console.print(table)


def _table(title: str) -> Table:
    table = Table(title=title)
    for heading in ("", "false, rules", "false, model", "told as quoted"):
        table.add_column(heading)
    for heading in ("missed, rules (English)", "of these no frame", "missed, model"):
        table.add_column(heading)
    return table


def _figures(pasted: Sequence[ChangeOfMind], genuine: Sequence[ChangeOfMind]) -> Iterator[str]:
    english = [case for case in genuine if case.language == "en"]
    found = [said for case in pasted if (said := speakers(case))]
    yield _share(is_replaced_by_rules, pasted)
    yield _share(is_replaced_by_a_model, pasted)
    yield _share(lambda said: said == {Speaker.QUOTED}, found)
    yield _share(lambda case: not is_replaced_by_rules(case), english)
    yield _share(lambda case: not is_in_reach(case), english)
    yield _share(lambda case: not is_replaced_by_a_model(case), genuine)


def _share(holds: Callable[[_T], bool], of: Sequence[_T]) -> str:
    count = sum(map(holds, of))
    return f"{count} of {len(of)} ({count / len(of):.1%})"


@contextmanager
def _in_use(rule: AuthorshipRule) -> Iterator[None]:
    """Use another rule wherever facts are made."""

    def by(text: str, _: AuthorshipRule = RULE) -> Authorship:
        return authorship(text, rule)

    setattr(memory_store._facts, "authorship", by)  # noqa: B010
    try:
        yield
    finally:
        setattr(memory_store._facts, "authorship", authorship)  # noqa: B010


if __name__ == "__main__":
    main()
