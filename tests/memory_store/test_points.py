"""A record in the engine: its payload makes it again, and what cannot be read is said."""

from datetime import UTC, date, datetime
from typing import Any

import pytest

from memory_store import (
    Days,
    EnrichmentState,
    Fact,
    FactLink,
    Record,
    Round,
    Speaker,
)
from memory_store._points import from_payload, from_plain, to_plain, to_point
from memory_store.errors import StoreDamaged

IN_MAY = Days(date(2023, 5, 1), date(2023, 5, 31))
RECORD = Record(
    Round(
        *("ann", "s", 2, datetime(2023, 6, 1, tzinfo=UTC)),
        *("I ran.", "Well done."),
        turn_ids=("t1", "t2"),
    ),
    facts=(
        Fact("I ran.", Speaker.USER, "rule", (IN_MAY,), slot="sport"),
        Fact(
            "I won.",
            Speaker.QUOTED,
            "rule",
            slot="sport",
            in_doubt=True,
            contradicts=(FactLink("an id", "I lost.", datetime(2023, 5, 1, tzinfo=UTC)),),
        ),
    ),
    enrichment=EnrichmentState.FAILED,
    attempts=2,
    failure="model_timeout",
    keyphrases=("running",),
    summary="A run.",
)


def test_a_record_is_whole_from_its_payload_and_from_plain_values() -> None:
    payload = to_point(RECORD, []).payload
    assert set(payload) - set(to_plain(RECORD)) == {
        *("event_days", "slots", "conflicts", "word_count", "schema_version"),
        "asks",
    }
    assert from_payload(payload) == from_plain(to_plain(RECORD)) == RECORD


@pytest.mark.parametrize(
    "altered",
    [
        {"session_date": "2023-06-0a"},
        {"enrichment": "dome"},
        {"facts": [{"tezt": "I ran."}]},
        {"round_index": None},
        {"user_id": ""},
    ],
)
def test_what_cannot_be_read_is_damaged(altered: dict[str, Any]) -> None:
    with pytest.raises(StoreDamaged, match="cannot be read"):
        from_payload({**to_point(RECORD, []).payload, **altered})


def test_what_was_stored_as_anothers_is_quoted() -> None:
    record = Record(
        Round("ann", "s", 0, datetime(2023, 6, 1, tzinfo=UTC), "Tom wrote: I ran."),
        facts=(Fact("I ran.", Speaker.QUOTED),),
    )
    plain = dict(to_plain(record))
    plain["facts"] = [{**plain["facts"][0], "speaker": "other"}]
    assert from_payload(plain) == record
