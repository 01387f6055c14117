"""Which rounds a model reads together."""

from dataclasses import replace
from datetime import UTC, datetime

from assistant.enrichment.costs import batches
from memory_store import Reach, Round

AT = datetime(2023, 5, 20, 12, tzinfo=UTC)
ANYWHERE, HERE, _ = Reach


def said(index: int, text: str, reach: Reach = ANYWHERE) -> Round:
    return replace(Round("ann", "s", index, AT, text, "Noted."), reach=reach)


def test_short_rounds_go_together() -> None:
    rounds = [said(index, "I like tea.") for index in range(5)]
    assert batches(rounds) == [rounds]


def test_a_call_is_not_filled_beyond_its_limit() -> None:
    rounds = [said(index, "tea " * 4_000) for index in range(3)]
    assert [len(batch) for batch in batches(rounds)] == [1, 1, 1]


def test_what_goes_no_farther_is_read_apart() -> None:
    rounds = [said(0, "I like tea."), said(1, "My PIN is 4711.", HERE), said(2, "I ran.")]
    assert [[round.round_index for round in batch] for batch in batches(rounds)] == [[0], [1], [2]]
