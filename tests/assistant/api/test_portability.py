"""A user's memory taken out and brought in again."""

import json

import httpx
import pytest
from calls import assert_error, record, sessions

HEADER = '{"format":"aide-memoire/records","version":3}'
EMPTY = f'{HEADER}\n{{"records":0}}\n'
# Two statements of one slot: the later one replaces the earlier one.
TOLD = ("I live in Ghent.", "I live in Oslo now. I ran on May 3rd.", "Is 好 “good”?")


@pytest.fixture
def told(http: httpx.Client, ann: str) -> str:
    """A user with three sessions on three days."""
    for day, text in enumerate(TOLD, start=10):
        at = f"2023-05-{day}T10:00:00Z"
        record(http, ann, f"s{day}", text, "Noted.", timestamp=at)
    return ann


def export(http: httpx.Client, user_id: str) -> str:
    reply = http.get(f"/v1/users/{user_id}/export")
    assert reply.status_code == 200, reply.text
    assert reply.headers["content-type"].startswith("application/x-ndjson")
    return reply.text


def bring_in(http: httpx.Client, user_id: str, text: str | bytes) -> httpx.Response:
    return http.post(f"/v1/users/{user_id}/import", content=text)


def changed(text: str, number: int, **fields: object) -> str:
    """The export with other fields in one of its lines, in the version without checksums."""
    lines = text.replace('"version":3', '"version":2').splitlines()
    lines[number] = json.dumps(json.loads(lines[number]) | fields)
    return "\n".join(lines)


def test_what_an_export_holds(http: httpx.Client, told: str) -> None:
    header, *lines, end = export(http, told).splitlines()
    assert (header, end) == (HEADER, '{"records":3}')
    records = [json.loads(line) for line in lines]
    assert [r["user_text"] for r in records] == list(TOLD)
    assert records[0]["facts"][0]["superseded_by"]["text"] == "I live in Oslo now."


def test_nothing_kept_is_an_export_of_nothing(http: httpx.Client, ann: str) -> None:
    assert export(http, ann) == EMPTY


def test_a_round_trip_changes_nothing(http: httpx.Client, told: str) -> None:
    before = export(http, told)
    http.delete(f"/v1/users/{told}/memories")
    assert export(http, told) == EMPTY
    assert bring_in(http, told, before).json() == {
        "object": "user.memories.imported",
        "space": None,
        "user_id": told,
        "imported": 3,
        "known": 0,
        "unreadable": [],
        "left_out": {},
        "formats": ["records"],
        "dry_run": False,
    }
    assert export(http, told) == before
    again = bring_in(http, told, before).json()
    assert (again["imported"], again["known"]) == (0, 3)
    assert export(http, told) == before


def test_in_pieces_it_is_the_same(http: httpx.Client, told: str) -> None:
    before = export(http, told)
    http.delete(f"/v1/users/{told}/memories")
    for line in before.splitlines()[1:-1]:
        piece = f'{HEADER}\n{line}\n{{"records": 1}}\n'
        assert bring_in(http, told, piece).json()["imported"] == 1
    assert export(http, told) == before


def test_what_is_cut_off_is_refused_whole(http: httpx.Client, told: str) -> None:
    eve = f"eve and {told}"
    lines = export(http, told).splitlines()
    for cut in (lines[:1], lines[:2], lines[:-1], [*lines[:2], lines[-1]], [*lines, lines[1]]):
        reply = bring_in(http, eve, "\n".join(cut))
        assert_error(reply, 400, "invalid_request_error", "invalid_value")
    assert "truncated" in bring_in(http, eve, "\n".join(lines[:-1])).text
    assert sessions(http, eve) == {}


def test_an_export_of_the_first_version_has_no_end(http: httpx.Client, told: str) -> None:
    eve = f"eve and {told}"
    header, *lines, _ = export(http, told).splitlines()
    first = header.replace('"version":3', '"version":1')
    assert bring_in(http, eve, "\n".join([first, *lines])).json()["imported"] == 3


def test_a_damaged_line_is_refused_with_all_others(http: httpx.Client, told: str) -> None:
    damaged = export(http, told).replace("I live in Ghent.", "I live in Ghenu.", 1)
    reply = bring_in(http, f"eve and {told}", damaged)
    error = assert_error(reply, 400, "invalid_request_error", "invalid_value")
    assert error["message"].startswith(
        "line 2 cannot be read: checksum mismatch: the line was altered"
    )
    assert sessions(http, f"eve and {told}") == {}


def test_an_export_of_the_second_version_has_no_checksums(http: httpx.Client, told: str) -> None:
    edited = changed(export(http, told), 1, user_text="I live in Gent.")
    eve = f"eve and {told}"
    assert bring_in(http, eve, edited).json()["imported"] == 3
    assert "I live in Gent." in export(http, eve)


def test_an_export_that_an_editor_saved_is_the_same(http: httpx.Client, told: str) -> None:
    """With a mark at its beginning, and the line ends of another system."""
    before = export(http, told)
    saved = b"\xef\xbb\xbf" + before.replace("\n", "\r\n").encode()
    http.delete(f"/v1/users/{told}/memories")
    assert bring_in(http, told, saved).json()["imported"] == 3
    assert export(http, told) == before


def test_an_export_of_a_newer_version_is_said_to_be_one(http: httpx.Client, told: str) -> None:
    newer = export(http, told).replace('"version":3', '"version":4')
    error = assert_error(bring_in(http, told, newer), 400, "invalid_request_error", "invalid_value")
    assert "newer version" in error["message"]


def test_what_is_brought_in_is_the_callers_and_can_be_found(http: httpx.Client, told: str) -> None:
    eve = f"eve and {told}"
    assert bring_in(http, eve, export(http, told)).json()["imported"] == 3
    assert sessions(http, eve) == sessions(http, told)
    query = {"user_id": eve, "query": "Where do I live?"}
    found = http.post("/v1/memories/search", json=query).json()["data"]
    ids = {value["id"] for value in found}
    older = next(v for v in found if v["user_text"] == TOLD[0])["facts"][0]
    assert older["superseded_by"]["id"] in ids
    http.delete(f"/v1/users/{eve}/memories")
    assert len(sessions(http, told)) == 3


def test_a_session_that_came_in_goes_on(http: httpx.Client, told: str) -> None:
    eve = f"eve and {told}"
    record(http, eve, "s10", "Mine was here first.")
    imported = bring_in(http, eve, export(http, told)).json()
    assert (imported["imported"], imported["known"]) == (2, 1)
    record(http, eve, "s11", "And on.", timestamp="2023-05-12T10:00:00Z")
    assert sessions(http, eve)["s10"] == [("Mine was here first.", "")]
    assert sessions(http, eve)["s11"] == [(TOLD[1], "Noted."), ("And on.", "")]


@pytest.mark.parametrize(
    "fields",
    [
        {"user_text": 5},
        {"user_text": "half \ud800"},
        {"user_name": ["Ann"]},
        {"session_id": ""},
        {"session_id": "line\nend"},
        {"session_date": "2023-05-20"},
        {"session_date": None},
        {"session_date": "0001-01-01T00:00:00+14:00"},
        {"session_date": "9999-12-31T23:59:59-14:00"},
        {"round_index": float("inf")},
        {"attempts": float("inf")},
        {"round_index": -1},
        {"round_index": 10**30},
        {"turn_ids": [1]},
        {"turn_ids": None},
        {"facts": [{}]},
        {"facts": [{"text": 1, "speaker": "user", "source": "rule"}]},
        {"facts": [{"text": "x", "speaker": "nobody", "source": "rule"}]},
        {"enrichment": "maybe"},
        {"may_supersede": "no"},
        {"keyphrases": [None]},
    ],
)
def test_a_line_that_is_no_record(http: httpx.Client, told: str, fields: dict[str, object]) -> None:
    eve = f"eve and {told}"
    reply = bring_in(http, eve, changed(export(http, told), 2, **fields))
    assert_error(reply, 400, "invalid_request_error", "invalid_value")
    assert sessions(http, eve) == {}


@pytest.mark.parametrize(
    "text",
    [b"", b"\xff", b"{}", b"nonsense", b"[" * 100_000, b'{"format":"other","version":1}'],
)
def test_a_body_that_is_no_export(http: httpx.Client, ann: str, text: bytes) -> None:
    assert_error(bring_in(http, ann, text), 400, "invalid_request_error", "invalid_value")


def test_the_line_that_cannot_be_read_is_named(http: httpx.Client, told: str) -> None:
    reply = bring_in(http, told, export(http, told) + "{}\n")
    assert "line 6 " in reply.json()["error"]["message"]
