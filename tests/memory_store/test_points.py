"""A record in the engine: what of its payload is read to make it again."""

from datetime import UTC, date, datetime

from memory_store import Days, EnrichmentState, Fact, FactLink, Record, Round, Speaker
from memory_store.points import RECORD, from_payload, to_plain, to_point


def test_a_record_is_whole_from_the_fields_that_are_read() -> None:
    in_may = Days(date(2023, 5, 1), date(2023, 5, 31))
    said = datetime(2023, 6, 1, tzinfo=UTC)
    record = Record(
        Round("ann", "s", 2, said, "I ran.", "Well done.", turn_ids=("t1", "t2")),
        facts=(
            Fact("I ran.", Speaker.USER, "rule", (in_may,), slot="sport"),
            Fact(
                "I won.",
                Speaker.QUOTED,
                "rule",
                slot="sport",
                in_doubt=True,
                contradicts=(FactLink("an id", "I lost.", said),),
            ),
        ),
        enrichment=EnrichmentState.FAILED,
        attempts=2,
        failure="model_timeout",
        keyphrases=("running",),
        summary="A run.",
    )
    payload = to_point(record, []).payload
    assert set(RECORD) == set(to_plain(record))
    assert set(payload) - set(RECORD) == {
        *("event_days", "slots", "conflicts", "word_count", "fact_count", "schema_version")
    }
    assert from_payload({name: payload[name] for name in RECORD}) == record


def test_what_was_stored_as_anothers_is_quoted() -> None:
    record = Record(
        Round("ann", "s", 0, datetime(2023, 6, 1, tzinfo=UTC), "Tom wrote: I ran."),
        facts=(Fact("I ran.", Speaker.QUOTED),),
    )
    plain = dict(to_plain(record))
    plain["facts"] = [{**plain["facts"][0], "speaker": "other"}]
    assert from_payload(plain) == record
