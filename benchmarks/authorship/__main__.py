"""`python -m benchmarks.authorship`: false replacements, missed updates, what each part does."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

from rich.console import Console
from rich.table import Table

import memory_store._facts
from benchmarks.authorship.cases import (
    ChangeOfMind,
    cases,
    is_in_reach,
    is_replaced_by_a_model,
    is_replaced_by_rules,
    speakers,
)
from memory_store import Speaker
from memory_store.language.authorship import RULE, Authorship, AuthorshipRule, authorship

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
    """Another rule wherever facts are made."""

    def by(text: str, _: AuthorshipRule = RULE) -> Authorship:
        return authorship(text, rule)

    setattr(memory_store._facts, "authorship", by)  # noqa: B010
    try:
        yield
    finally:
        setattr(memory_store._facts, "authorship", authorship)  # noqa: B010


main()
