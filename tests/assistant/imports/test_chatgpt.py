"""A ChatGPT data export, read as sessions and brought in over HTTP."""

import io
import json
import zipfile
from collections.abc import Sequence
from typing import Any

import httpx
import pytest
from calls import assert_error, sessions

from assistant.errors import InvalidRequest
from assistant.imports.conversations import ImportedSession
from assistant.imports.reading import read_export

MAY = 1684576800.0  # 2023-05-20T10:00:00Z


def node(
    id: str, parent: str | None, role: str = "user", text: str = "", **changed: Any
) -> dict[str, Any]:
    message = {
        "id": f"m-{id}",
        "author": {"role": role},
        "create_time": MAY + len(id),
        "content": {"content_type": "text", "parts": [text]},
        "metadata": {},
        "recipient": "all",
    }
    return {"id": id, "parent": parent, "children": [], "message": message | changed}


def conversation(*nodes: dict[str, Any], **changed: Any) -> dict[str, Any]:
    mapping = {one["id"]: one for one in nodes}
    for one in nodes:
        if one["parent"]:
            mapping[one["parent"]]["children"].append(one["id"])
    return {
        "conversation_id": "c1",
        "title": "Running",
        "create_time": MAY,
        "mapping": mapping,
        "current_node": nodes[-1]["id"],
    } | changed


def sessions_of(export: bytes) -> Sequence[ImportedSession]:
    """The sessions of an export that can be read whole."""
    found = read_export(export)
    assert found.unreadable == []
    return found.sessions


ROOT = {"id": "root", "parent": None, "children": [], "message": None}


def a_conversation(**changed: Any) -> dict[str, Any]:
    """Two rounds; the first answer was made again, and much happened that nobody saw."""
    hidden = {"is_visually_hidden_from_conversation": True}
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-1"}
    spoken = {"content_type": "audio_transcription", "text": "Where was it?"}
    thoughts = {"content_type": "thoughts", "parts": ["Hm."]}
    mixed = {"content_type": "multimodal_text", "parts": [picture, spoken]}
    return conversation(
        dict(ROOT, children=[]),
        node("a", "root", "system", "Be kind."),
        node("b", "a", "user", "My name is Ann.", metadata=hidden),
        node("c", "b", "user", "I ran in Ghent."),
        node("d1", "c", "assistant", "An answer that was made again."),
        node("d2", "c", "assistant", "", content=thoughts),
        node("e", "d2", "assistant", "search('Ghent')", recipient="browser"),
        node("f", "e", "tool", "Ghent is a city."),
        node("g", "f", "assistant", "Well done!", create_time=None),
        node("h", "g", "user", "", content=mixed),
        node("i", "h", "assistant", "In Ghent."),
        **changed,
    )


def export(*conversations: Any) -> bytes:
    return json.dumps(conversations).encode()


def zipped(**files: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


SAID = ["I ran in Ghent.", "Well done!", "Where was it?", "In Ghent."]


def test_what_was_seen_in_order_with_its_times() -> None:
    (session,) = sessions_of(export(a_conversation()))
    assert session.session_id == "chatgpt-c1"
    assert [turn.text for turn in session.turns] == SAID
    assert [turn.role for turn in session.turns] == ["user", "assistant"] * 2
    assert [turn.timestamp.timestamp() - MAY for turn in session.turns] == [1, 1, 1, 1]
    assert session.turns[0].caller_id == "m-c"


@pytest.mark.parametrize("current", [None, "nowhere"])
def test_without_a_current_node_the_newest_leaf_counts(current: str | None) -> None:
    (session,) = sessions_of(export(a_conversation(current_node=current)))
    assert session.turns[-1].text == "An answer that was made again."


def test_a_branch_that_was_torn_off_is_read_from_there_on() -> None:
    torn = a_conversation()
    del torn["mapping"]["d2"]
    (session,) = sessions_of(export(torn))
    assert [turn.text for turn in session.turns] == SAID[1:]


def test_a_leaf_is_what_nothing_follows_that_is_there() -> None:
    torn = a_conversation(current_node="i")
    del torn["mapping"]["i"]
    del torn["mapping"]["d1"]
    (session,) = sessions_of(export(torn))
    assert [turn.text for turn in session.turns] == SAID[:3]


def test_an_emoji_cut_in_two_is_marked() -> None:
    (session,) = sessions_of(export(conversation(node("a", None, text="Tea \ud83d"))))
    assert session.turns[0].text == "Tea \ufffd"


def test_conversations_by_date_and_empty_ones_left_out() -> None:
    later = a_conversation(conversation_id="c0") | {"create_time": MAY + 9}
    for one in later["mapping"].values():
        if one["message"]:
            one["message"]["create_time"] = None
    nothing = conversation(dict(ROOT, children=[]), conversation_id="c3")
    found = sessions_of(export(later, a_conversation(), nothing))
    assert [session.session_id for session in found] == ["chatgpt-c1", "chatgpt-c0"]


def test_out_of_the_zip_file_whole_or_in_pieces() -> None:
    one, two = export(a_conversation()), export(a_conversation(conversation_id="c2"))
    packed = zipped(**{"chat.html": b"<p>", "export/conversations.json": one})
    assert len(sessions_of(packed)) == 1
    assert (
        len(sessions_of(zipped(**{"conversations-000.json": one, "conversations-001.json": two})))
        == 2
    )


@pytest.mark.parametrize(
    "wrong",
    [
        b"",
        b"{}",
        b"[" * 100_000,
        b"[5]",
        b"PK nonsense",
        zipped(**{"other.json": b"[]"}),
        export({"mapping": {}}),
        export({"id": "c", "mapping": {"a": {"parent": "a", "children": ["a"]}}}),
        export(conversation(node("a", None, text="hi", create_time="noon"))),
        export(conversation(node("a", None, text="hi", create_time=1e30))),
        export(conversation(node("a", None, text="hi", create_time=None), create_time=None)),
        export(
            conversation(
                dict(node("a", None), parent="a"), current_node="a", mapping={"a": {"parent": "a"}}
            )
        ),
    ],
)
def test_what_is_no_export(wrong: bytes) -> None:
    with pytest.raises(InvalidRequest):
        read_export(wrong)


def test_a_damaged_zip_file_is_refused_wherever_the_damage_is() -> None:
    packed = zipped(**{"conversations.json": export(a_conversation())})
    refused = 0
    for place in range(len(packed)):
        for changed in (packed[place] ^ 1, packed[place] ^ 0x80, 0, 255):
            damaged = packed[:place] + bytes([changed]) + packed[place + 1 :]
            try:
                read_export(damaged)
            except InvalidRequest:
                refused += 1
        with pytest.raises(InvalidRequest):
            read_export(packed[:place])
    assert refused > len(packed)


def test_a_zip_file_of_something_else_says_what_is_in_it() -> None:
    packed = zipped(**{f"photo{number}.jpg": b"" for number in range(5)})
    with pytest.raises(
        InvalidRequest, match=r"holds photo0.jpg, photo1.jpg, photo2.jpg and 2 more"
    ):
        read_export(packed)


def test_a_zip_file_that_holds_too_much() -> None:
    packed = zipped(**{"conversations.json": b" " * 100_000})
    with pytest.raises(InvalidRequest, match="more than"):
        read_export(packed, most_bytes=10_000)


def bring_in(http: httpx.Client, user_id: str, body: bytes) -> httpx.Response:
    return http.post(f"/v1/users/{user_id}/import", params={"format": "chatgpt"}, content=body)


def test_over_http_once_however_often_it_is_sent(http: httpx.Client, ann: str) -> None:
    body = zipped(**{"conversations.json": export(a_conversation())})
    expected: dict[str, Any] = {
        "object": "user.memories.imported",
        "user_id": ann,
        "space": None,
        "imported": 2,
        "known": 0,
    }
    expected |= {"unreadable": [], "formats": ["ChatGPT"], "dry_run": False}
    expected["left_out"] = {
        "hidden messages": 1,
        "messages of abandoned branches (edited or regenerated)": 1,
        "messages of systems and tools": 2,
        "thoughts and tool calls": 2,
    }
    done = bring_in(http, ann, body).json()
    not_read = expected["fields_not_read"] = done["fields_not_read"]
    assert not_read["mapping.*.message.content.parts.asset_pointer"] == 1
    assert done == expected
    assert sessions(http, ann) == {"chatgpt-c1": [tuple(SAID[:2]), tuple(SAID[2:])]}
    assert bring_in(http, ann, body).json() == expected | {"imported": 0, "known": 2}
    assert sessions(http, ann) == {"chatgpt-c1": [tuple(SAID[:2]), tuple(SAID[2:])]}
    listed = http.get("/v1/memories", params={"user_id": ann, "order": "oldest"}).json()
    assert listed["data"][0]["session_date"] == "2023-05-20T10:00:01Z"


def test_what_cannot_be_read_is_named_and_the_rest_brought_in(http: httpx.Client, ann: str) -> None:
    broken = a_conversation(title="My trip to Rome", mapping={"a": 5}, current_node="a")
    nameless = a_conversation(conversation_id="c\n3")
    done = bring_in(http, ann, export(5, broken, a_conversation(), nameless)).json()
    assert (done["imported"], done["known"]) == (2, 0)
    no_form = "it is no conversation of a known form: it is no object but int"
    other = "something in it is of another kind than in such exports"
    assert done["unreadable"] == [
        f"entry 1 cannot be read: {no_form}",
        f"entry 2 (“My trip to Rome”) cannot be read: {other}",
        "entry 4 (“Running”) cannot be read: its id must not hold control characters",
    ]
    assert list(sessions(http, ann)) == ["chatgpt-c1"]


def test_where_nothing_can_be_read_nothing_is_stored(http: httpx.Client, ann: str) -> None:
    reply = bring_in(http, ann, export(5, 6))
    error = assert_error(reply, 400, "invalid_request_error", "invalid_value")
    assert "entry 1 cannot be read: it is no conversation" in error["message"]
    assert sessions(http, ann) == {}


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("Running", "Running"),
        ("New chat", ""),
        (None, ""),
        (" A\n b ", "A b"),
        ("x" * 300, "x" * 200),
    ],
)
def test_conversations_keep_their_titles(given: str | None, kept: str) -> None:
    (session,) = sessions_of(export(a_conversation(title=given)))
    assert session.title == kept


def test_a_title_is_listed_and_another_one_stays(http: httpx.Client, ann: str) -> None:
    def title() -> str | None:
        (listed,) = http.get("/v1/sessions", params={"user_id": ann}).json()["data"]
        found: str | None = listed["title"]
        return found

    body = export(a_conversation())
    bring_in(http, ann, body)
    assert title() == "Running"
    named = {"user_id": ann, "title": "Ghent"}
    assert http.patch("/v1/sessions/chatgpt-c1", json=named).json()["title"] == "Ghent"
    bring_in(http, ann, body)
    assert title() == "Ghent"
