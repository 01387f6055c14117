"""Portable AI Memory: written as its schema says, read back without a loss, and read of others."""

import io
import json
import zipfile
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from calls import record, sessions
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assistant.imports.pam_bundle import bundle, records_in
from assistant.imports.reading import read_export
from memory_store import Days, EnrichmentState, Fact, FactLink, Record, Round, Speaker, round_id

MAY = datetime(2023, 5, 1, tzinfo=UTC)
ANN = "ann"
MOST = 1 << 30
# What the schema of the format lets each object have; the names in front must be there.
STORE = (
    "schema schema_version owner memories",
    ("spec_uri export_id exported_by export_date relations conversations_index integrity"),
)
MEMORY = "id type content content_hash temporal provenance", "status metadata"
CONVERSATION = "schema schema_version id provider temporal messages", "title participants"
MESSAGE = (
    "id role created_at",
    "content parent_id children_ids tool_calls raw_metadata",
)
RELATION = "id from to type created_at", ""
INDEXED = "id platform temporal", "title message_count derived_memories storage"

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
said = texts.filter(str.strip)
moments = st.integers(0, 10**7).map(lambda seconds: MAY + timedelta(seconds=seconds))
labels = st.dictionaries(
    st.sampled_from(["topic", "stars"]),
    said | st.integers(-9, 9) | st.booleans() | st.floats(-9, 9).filter(bool),
    max_size=2,
)
days = st.dates(min_value=date(2000, 1, 1)).map(lambda day: Days(day, day))
ids = st.integers(0, 9).map(lambda index: round_id(ANN, "s", index))
links = st.builds(FactLink, ids, said, moments)
facts = st.builds(
    Fact,
    said,
    st.sampled_from(Speaker),
    st.sampled_from(["rule", "user", "a model"]),
    st.lists(days, max_size=2).map(tuple),
    st.none() | said,
    st.none() | links,
    st.lists(links, max_size=2).map(tuple),
    st.booleans(),
)
rounds = st.builds(
    Round,
    st.just(ANN),
    st.sampled_from(["s", "t/1", "ü ñ"]),
    st.integers(0, 5),
    moments,
    texts,
    texts,
    st.none() | said,
    st.none() | said,
    st.lists(said, max_size=3).map(tuple),
    st.none() | moments,
    st.lists(ids, max_size=2).map(tuple),
    st.lists(said, max_size=2).map(tuple),
    session_title=texts,
    labels=labels,
    expires_at=st.none() | moments,
    outcome=st.sampled_from(["", "kept"]),
)
records = st.builds(
    Record,
    rounds,
    st.lists(facts, max_size=3).map(tuple),
    st.sampled_from(EnrichmentState),
    st.integers(0, 3),
    texts,
    texts,
    st.lists(said, max_size=2).map(tuple),
    texts,
    st.booleans(),
)
memories = st.lists(records, min_size=1, max_size=3, unique_by=lambda one: one.id)

# A record has many parts, and a busy machine is slow to think of them.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def packed(*held: Record) -> bytes:
    return bundle(held, ANN, MAY, "0.1.0")


def files(export: bytes) -> dict[str, Any]:
    with zipfile.ZipFile(io.BytesIO(export)) as archive:
        return {name: json.loads(archive.read(name)) for name in archive.namelist()}


def zipped(held: dict[str, Any]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in held.items():
            archive.writestr(name, json.dumps(content))
    return made.getvalue()


def has_fields(held: dict[str, Any], fields: tuple[str, str]) -> None:
    needed, allowed = (set(names.split()) for names in fields)
    assert needed <= set(held) <= needed | allowed


@unhurried
@given(memories)
def test_a_round_trip_loses_nothing(held: list[Record]) -> None:
    found = records_in(packed(*held), MOST)
    assert found is not None
    assert {one.id: (one, one.round.labels, one.round.session_title) for one in found} == {
        one.id: (one, one.round.labels, one.round.session_title) for one in held
    }
    assert [one.round.expires_at for one in sorted(found, key=lambda one: one.id)] == [
        one.round.expires_at for one in sorted(held, key=lambda one: one.id)
    ]


@unhurried
@given(memories)
def test_it_is_of_the_form_that_the_schema_wants(held: list[Record]) -> None:
    found = files(packed(*held))
    store = found.pop("memory-store.json")
    report = found.pop("loss-report.json")
    assert report["rounds"] == len(held)
    has_fields(store, STORE)
    for memory in store["memories"]:
        has_fields(memory, MEMORY)
        assert memory["content"]
    ids = [memory["id"] for memory in store["memories"]]
    assert ids == sorted(set(ids))
    assert store["integrity"]["total_memories"] == len(ids)
    for relation in store["relations"]:
        has_fields(relation, RELATION)
        assert {relation["from"], relation["to"]} <= set(ids)
    index = {one["storage"]["ref"]: one for one in store["conversations_index"]}
    assert set(index) == set(found)
    for name, conversation in found.items():
        has_fields(index[name], INDEXED)
        has_fields(conversation, CONVERSATION)
        assert index[name]["id"] == conversation["id"]
        assert index[name]["message_count"] == len(conversation["messages"])
        for message in conversation["messages"]:
            has_fields(message, MESSAGE)


def test_hashes_are_those_of_the_format() -> None:
    """Made by hand with sha256sum."""
    fact = Fact("  I  like RYE. ")
    (memory,) = files(packed(Record(Round(ANN, "s", 0, MAY, "I like rye."), (fact,))))[
        "memory-store.json"
    ]["memories"]
    assert memory["content_hash"] == (
        "sha256:77b2c1044fb3a4b6a1d773a203fa89882a134560d151243316fbe53a9b0e2d3c"
    )


def test_what_only_we_read_is_told() -> None:
    held = Round(ANN, "s", 0, MAY, "I row.", "Fine.", labels={"topic": "home"}, expires_at=MAY)
    quoted = Fact("I swim.", Speaker.QUOTED)
    report = files(packed(Record(held, (quoted,))))["loss-report.json"]
    assert report["without_a_place"] == {
        "labels": 1,
        "expires_at": 1,
        "facts not said by the user": 1,
    }


def test_what_was_edited_elsewhere_is_read_as_anothers() -> None:
    export = packed(Record(Round(ANN, "s", 0, MAY, "I row.", "Fine."), (Fact("I row."),)))
    held = files(export)
    held["conversations/00001.json"]["messages"][0]["content"]["text"] = "I run."
    edited = zipped(held)
    assert records_in(edited, MOST) is None
    found = read_export(edited)
    (session,) = found.sessions
    assert (session.session_id, [turn.text for turn in session.turns]) == ("s", ["I run.", "Fine."])
    assert found.left_out["memories found in conversations that come along"] == 1
    assert found.fields_not_read["messages.raw_metadata"] == 1


@pytest.fixture
def told(http: httpx.Client, ann: str) -> str:
    record(http, ann, f"{ann} s", "I live in Ghent.", "A fine city.")
    more = {"timestamp": "2023-05-21T10:00:00Z", "labels": {"topic": "home"}, "expires_in": 99}
    record(http, ann, f"{ann} s", "I moved to Oslo yesterday.", **more)
    record(http, ann, f"{ann} t", "Please proofread:\n\nI live in Rome.", "Done.")
    return ann


def test_over_http_a_memory_moves_without_a_loss(http: httpx.Client, told: str) -> None:
    lines = http.get(f"/v1/users/{told}/export").text
    reply = http.get(f"/v1/users/{told}/export", params={"format": "pam"})
    assert reply.headers["content-type"] == "application/zip"
    http.delete(f"/v1/users/{told}/memories")
    params = {"format": "auto"}
    path = f"/v1/users/{told}/import"
    counted = http.post(path, content=reply.content, params={**params, "dry_run": "true"}).json()
    assert (counted["imported"], counted["known"], counted["formats"]) == (3, 0, ["records"])
    done = http.post(path, content=reply.content, params=params).json()
    assert (done["imported"], done["left_out"], done["unreadable"]) == (3, {}, [])
    assert http.get(f"/v1/users/{told}/export").text == lines
    again = http.post(path, content=reply.content, params=params).json()
    assert (again["imported"], again["known"]) == (0, 3)


EXPORTS = Path(__file__).parent / "exports"


def test_of_others_what_is_not_read_is_named(http: httpx.Client, ann: str) -> None:
    body = (EXPORTS / "pam.json").read_bytes()
    reply = http.post(f"/v1/users/{ann}/import", content=body, params={"format": "auto"}).json()
    assert (reply["imported"], reply["formats"]) == (1, ["Portable AI Memory"])
    assert reply["left_out"] == {"memories that are marked as no longer true": 1}
    assert reply["fields_not_read"]["memories.mood"] == 1
    assert reply["fields_not_read"]["memories.tags"] == 1
    assert sessions(http, ann) == {"gemini-2025-03-04": [("Prefers rye bread.", "")]}


def test_fields_of_the_open_memory_protocol_that_are_not_read() -> None:
    found = read_export((EXPORTS / "omp.json").read_bytes())
    assert found.fields_not_read == {"created_at": 1, "tags": 1}
