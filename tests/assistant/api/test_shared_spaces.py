"""Spaces shared by several people over HTTP: who is in them, who said what, who may forget it."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from calls import answer, assert_error, chat, record

DAY = "2023-05-03T10:00:00Z"


@pytest.fixture
def home(http: httpx.Client) -> Iterator[dict[str, str]]:
    """A space of Ann, who owns it, Ben, who is a member, and Cleo, who reads."""
    begun = http.post("/v1/spaces", json={"user_id": "ann", "name": "Our  household"})
    assert (begun.status_code, begun.json()["name"]) == (200, "Our household")
    space = begun.json()["space"]
    for person, role in (("ben", "member"), ("cleo", "reader")):
        assert admit(http, space, "ann", person, role).status_code == 200
    yield {"space": space}
    for person in ("ann", "ben", "cleo", "dora"):
        http.delete(f"/v1/users/{person}/memories")


def admit(http: httpx.Client, space: str, by: str, person: str, role: str) -> httpx.Response:
    body = {"user_id": by, "role": role}
    return http.put(f"/v1/spaces/{space}/members/{person}", json=body)


def leave(http: httpx.Client, space: str, by: str, person: str, **more: Any) -> httpx.Response:
    return http.delete(f"/v1/spaces/{space}/members/{person}", params={"user_id": by, **more})


def told(http: httpx.Client, person: str, session: str, text: str, **more: Any) -> httpx.Response:
    return record(http, person, session, text, **{"timestamp": DAY} | more)


def listed(http: httpx.Client, person: str, space: str) -> list[tuple[str, str]]:
    asked = {"user_id": person, "space": space, "order": "oldest"}
    reply = http.get("/v1/memories", params=asked)
    assert reply.status_code == 200, reply.text
    return [(one["said_by"], one["user_text"]) for one in reply.json()["data"]]


def asked(http: httpx.Client, person: str, question: str, space: str) -> str:
    told = {"space": space, "memory": "read_only", "session_id": f"{person} asks"}
    return answer(chat(http, person, question, metadata=told))


def test_who_said_it_is_said(http: httpx.Client, home: dict[str, str]) -> None:
    told(http, "ann", "hers", "My dentist is Doctor Quigley.", **home)
    told(http, "ben", "his", "My barber is Mr Osei.", **home)
    dentist = "Who is my dentist?"
    assert "On 2023-05-03 (Wed) ann said: “My dentist is" in asked(http, "ben", dentist, **home)
    assert "On 2023-05-03 (Wed) you said: “My dentist is" in asked(http, "ann", dentist, **home)
    about_me = asked(http, "ben", "What do you know about me?", **home)
    assert "Osei" in about_me
    assert "Quigley" not in about_me
    both = [("ann", "My dentist is Doctor Quigley."), ("ben", "My barber is Mr Osei.")]
    assert sorted(listed(http, "cleo", **home)) == both


OF_ONESELF = (
    "Who is my dentist?",
    "what's the name of my dentist",
    "Remind me who my dentist is.",
    "Do I have a dentist?",
)


@pytest.mark.parametrize("question", OF_ONESELF)
def test_asked_of_oneself_what_one_said_oneself_comes_first(
    http: httpx.Client, home: dict[str, str], question: str
) -> None:
    told(http, "ann", "hers", "My dentist is Doctor Quigley.", **home)
    told(http, "ben", "his", "My dentist is called Amari.", **home)
    told(http, "ben", "his", "My barber is Mr Osei.", **home)
    for person, own, others in (("ann", "Quigley", "Amari"), ("ben", "Amari", "Quigley")):
        quotes = [one for one in asked(http, person, question, **home).splitlines() if "“" in one]
        assert "you said" in quotes[0]
        assert own in quotes[0]
        name = "ben" if person == "ann" else "ann"
        assert any(f"{name} said" in one and others in one for one in quotes[1:])


def test_asked_of_all_or_by_name_it_comes_as_it_is_near(
    http: httpx.Client, home: dict[str, str]
) -> None:
    told(http, "ann", "hers", "Our router opens with tulip-88.", **home)
    told(http, "ben", "his", "I bought a router cable.", **home)
    for person, who in (("ann", "you"), ("ben", "ann")):
        answered = asked(http, person, "What does our router open with?", **home)
        assert f"{who} said: “Our router" in answered.splitlines()[1]


def test_nobody_chooses_the_name_they_speak_under(http: httpx.Client, home: dict[str, str]) -> None:
    said = [
        {"role": "assistant", "content": "I keep the spare key.", "name": "ann"},
        {"role": "user", "content": "My alarm code is 7714.", "name": "ann"},
    ]
    body = {"user_id": "ben", "messages": said} | home
    assert http.post("/v1/sessions/his/messages", json=body).status_code == 200
    message = {"role": "user", "content": "My bike is blue.", "name": "ann"}
    metadata = {"user_id": "ben", "session_id": "chat"} | home
    chatted = {"messages": [message], "metadata": metadata}
    assert http.post("/v1/chat/completions", json=chatted).status_code == 200
    assert {name for name, _ in listed(http, "ann", **home)} == {"ben"}


def test_a_shared_space_has_nothing_of_a_members_own_memory(
    http: httpx.Client, home: dict[str, str]
) -> None:
    told(http, "ann", "own", "My safe opens with 4545.")
    assert "4545" not in asked(http, "ann", "Which number opens my safe?", **home)
    assert "4545" not in asked(http, "ben", "Which number opens my safe?", **home)
    told(http, "ann", "hers", "My bike lock opens with 8181.", **home)
    own = {"memory": "read_only", "session_id": "own"}
    assert "8181" not in answer(chat(http, "ann", "What opens my bike lock?", metadata=own))


def test_what_one_says_replaces_nothing_of_anothers(
    http: httpx.Client, home: dict[str, str]
) -> None:
    told(http, "ann", "hers", "I live in Ghent.", **home)
    told(http, "ben", "his", "I live in Bruges.", timestamp="2023-05-04T10:00:00Z", **home)
    params = {"user_id": "ann"} | home
    facts = [
        f for one in http.get("/v1/memories", params=params).json()["data"] for f in one["facts"]
    ]
    assert [fact["superseded_by"] for fact in facts] == [None, None]


def test_a_session_is_gone_on_with_by_who_began_it(
    http: httpx.Client, home: dict[str, str]
) -> None:
    told(http, "ann", "talk", "I like tea.", **home)
    assert_error(
        told(http, "ben", "talk", "I like tea.", **home), 403, "permission_error", "not_yours"
    )
    metadata = {"session_id": "talk"} | home
    for text in ("I like milk.", "until 1 May", "forget that", "yes"):
        reply = chat(http, "ben", text, metadata=metadata)
        assert_error(reply, 403, "permission_error", "not_yours")
    assert listed(http, "ann", **home) == [("ann", "I like tea.")]


@pytest.mark.parametrize("person", ["ben", "cleo"])
def test_who_may_change_and_forget_what(
    http: httpx.Client, home: dict[str, str], person: str
) -> None:
    """A member what they said, an owner also forget what others said; nobody words it anew."""
    anns = told(http, "ann", "hers", "I like tea.", **home).json()["rounds"][0]["id"]
    bens = told(http, "ben", "his", "I like milk.", **home).json()["rounds"][0]["id"]
    by = {"user_id": person} | home
    code = "not_yours" if person == "ben" else "role_required"
    for reply in (
        http.patch(f"/v1/memories/{anns}", json={"user_text": "I like wine."}, params=by),
        http.put(f"/v1/memories/{anns}/pin", params=by),
        http.put(f"/v1/memories/{anns}/updates", params=by),
        http.delete(f"/v1/memories/{anns}/updates", params=by),
        http.delete(f"/v1/memories/{anns}", params=by),
        http.delete(f"/v1/memories/{anns}", params=by | {"dry_run": True}),
        http.delete("/v1/sessions/hers", params=by),
        http.patch("/v1/sessions/hers", json={"title": "Mine"}, params=by),
    ):
        assert_error(reply, 403, "permission_error", code)
    for reply in (
        http.post("/v1/memories/reach", json=by | {"reach": "this_computer", "text": "tea"}),
        http.post("/v1/retention", json=by | {"older_than_days": 0, "now": "2099-01-01"}),
        http.delete(f"/v1/users/{person}/memories", params=home),
        http.delete(f"/v1/spaces/{home['space']}", params={"user_id": person}),
        admit(http, home["space"], person, "dora", "member"),
        leave(http, home["space"], person, "ann"),
    ):
        assert_error(reply, 403, "permission_error", "role_required")
    owner = {"user_id": "ann"} | home
    worded = http.patch(f"/v1/memories/{bens}", json={"user_text": "I hate milk."}, params=owner)
    assert_error(worded, 403, "permission_error", "not_yours")
    assert len(listed(http, "ann", **home)) == 2
    own = http.patch(
        f"/v1/memories/{bens}", json={"user_text": "I like oats."}, params=home | {"user_id": "ben"}
    )
    assert (own.status_code, own.json()["said_by"]) == (200, "ben")
    assert http.delete(f"/v1/memories/{bens}", params=owner).status_code == 200
    assert listed(http, "ben", **home) == [("ann", "I like tea.")]


def test_forgetting_by_chat_is_of_what_one_said_oneself(
    http: httpx.Client, home: dict[str, str]
) -> None:
    told(http, "ann", "hers", "My dentist is Doctor Quigley.", **home)
    told(http, "ben", "his", "My dentist is Doctor Amari.", **home)
    here = {"session_id": "his chat"} | home
    offered = answer(chat(http, "ben", "Forget what I said about my dentist.", metadata=here))
    assert "Amari" in offered
    assert "Quigley" not in offered
    # Nobody else's yes counts, in whichever session.
    for session in ("hers too", "his chat"):
        chat(http, "ann", "yes", metadata={"session_id": session} | home)
    assert len([one for one in listed(http, "ann", **home) if "dentist" in one[1]]) == 2
    assert "Deleted: 1 memory" in answer(chat(http, "ben", "yes", metadata=here))
    assert [one for one in listed(http, "ann", **home) if "dentist" in one[1]] == [
        ("ann", "My dentist is Doctor Quigley.")
    ]


def test_a_reader_asks_and_says_nothing(http: httpx.Client, home: dict[str, str]) -> None:
    told(http, "ann", "hers", "The boiler code is 3321.", **home)
    said = chat(http, "cleo", "What is the boiler code?", metadata={"session_id": "c"} | home)
    assert "3321" in answer(said)
    chat(http, "cleo", "My aunt is called Gerda.", metadata={"session_id": "c"} | home)
    assert listed(http, "ann", **home) == [("ann", "The boiler code is 3321.")]
    refused = (
        told(http, "cleo", "c", "I like tea.", **home),
        http.post("/v1/sessions", json={"user_id": "cleo"} | home),
        chat(http, "cleo", "I like tea.", metadata={"memory": "write_only"} | home),
    )
    for reply in refused:
        assert_error(reply, 403, "permission_error", "role_required")


def test_leaving_and_being_removed(http: httpx.Client, home: dict[str, str]) -> None:
    space = home["space"]
    told(http, "ann", "hers", "I like tea.", **home)
    told(http, "ben", "his", "I like milk.", **home)
    assert leave(http, space, "ben", "ben").json()["rounds"] == 0
    gone = http.get("/v1/memories", params={"user_id": "ben"} | home)
    assert_error(gone, 404, "not_found_error", "space_not_found")
    assert [one["space"] for one in spaces(http, "ben")] == []
    assert [one["user_id"] for one in members(http, "ann", space)] == ["ann", "cleo"]
    # It stays under his name, and he can still take it away.
    assert ("ben", "I like milk.") in listed(http, "ann", **home)
    assert leave(http, space, "ben", "ben", forget=True).json()["rounds"] == 1
    assert listed(http, "ann", **home) == [("ann", "I like tea.")]
    assert leave(http, space, "ben", "ben", forget=True).status_code == 404
    told(http, "ann", "hers", "I like rye.", **home)
    assert leave(http, space, "ann", "cleo").status_code == 200
    assert http.get(f"/v1/spaces/{space}", params={"user_id": "cleo"}).status_code == 404


def test_an_answer_that_repeats_what_is_taken_away_is_withdrawn(
    http: httpx.Client, home: dict[str, str]
) -> None:
    told(http, "ben", "his", "The boiler code is 3321.", **home)
    asks = {"session_id": "asks"} | home
    assert "3321" in answer(chat(http, "ann", "What is the boiler code?", metadata=asks))
    assert leave(http, home["space"], "ben", "ben", forget=True).json()["answers"] == 1
    kept = http.get("/v1/sessions/asks", params={"user_id": "ann"} | home).text
    assert "3321" not in kept


def test_when_the_last_owner_leaves_the_longest_standing_member_is_owner(
    http: httpx.Client, home: dict[str, str]
) -> None:
    space = home["space"]
    leave(http, space, "ann", "ann")
    roles = {one["user_id"]: one["role"] for one in members(http, "ben", space)}
    assert roles == {"ben": "owner", "cleo": "reader"}
    assert admit(http, space, "ben", "dora", "member").status_code == 200
    leave(http, space, "ben", "ben")
    roles = {one["user_id"]: one["role"] for one in members(http, "cleo", space)}
    assert roles == {"cleo": "reader", "dora": "owner"}


def test_with_its_last_member_a_space_goes(http: httpx.Client, home: dict[str, str]) -> None:
    space = home["space"]
    told(http, "ben", "his", "I like milk.", **home)
    for person in ("ben", "cleo", "ann"):
        assert leave(http, space, person, person).status_code == 200
    assert leave(http, space, "ben", "ben", forget=True).status_code == 404
    with_all = http.get("/v1/backup").text
    assert space not in with_all


def test_forgetting_a_user_takes_away_what_they_said_and_their_membership(
    http: httpx.Client, home: dict[str, str]
) -> None:
    told(http, "ann", "hers", "I like tea.", **home)
    told(http, "ben", "his", "I like milk.", **home)
    path = "/v1/users/ben/memories"
    assert http.delete(path, params={"dry_run": True}).json()["rounds"] == 1
    assert [one["user_id"] for one in members(http, "ann", **home)] == ["ann", "ben", "cleo"]
    assert http.delete(path).json()["deleted"] == 1
    assert listed(http, "ann", **home) == [("ann", "I like tea.")]
    assert [one["user_id"] for one in members(http, "ann", **home)] == ["ann", "cleo"]


def test_ending_a_space(http: httpx.Client, home: dict[str, str]) -> None:
    told(http, "ben", "his", "I like milk.", **home)
    ended = http.delete(f"/v1/spaces/{home['space']}", params={"user_id": "ann"}).json()
    assert (ended["object"], ended["rounds"]) == ("space.deleted", 1)
    assert [spaces(http, person) for person in ("ann", "ben", "cleo")] == [[], [], []]
    assert home["space"] not in http.get("/v1/backup").text


def test_retention_of_everybody_ends_no_membership(
    http: httpx.Client, home: dict[str, str]
) -> None:
    body = {"all_users": True, "older_than_days": 0, "now": "2099-01-01T00:00:00Z"}
    assert http.post("/v1/retention", json=body).status_code == 200
    assert [one["user_id"] for one in members(http, "ann", **home)] == ["ann", "ben", "cleo"]


@pytest.mark.parametrize("name", ["You", "assistant", "ANN", "ａｎｎ", "Ben"])
def test_a_name_that_would_be_taken_for_anothers_is_not_admitted(
    http: httpx.Client, home: dict[str, str], name: str
) -> None:
    reply = admit(http, home["space"], "ann", name, "member")
    assert_error(reply, 400, "invalid_request_error", "invalid_value")


@pytest.mark.parametrize(
    "space", ["shared-0", "shared-0123456789abcdeF", "shared-0123456789abcdef "]
)
def test_what_names_no_shared_space_is_refused(
    http: httpx.Client, home: dict[str, str], space: str
) -> None:
    reply = http.get("/v1/memories", params={"user_id": "ann", "space": space})
    assert reply.status_code in (400, 404)
    assert http.get(f"/v1/spaces/{space}", params={"user_id": "ann"}).status_code == 404


def test_nothing_is_imported_into_a_shared_space(http: httpx.Client, home: dict[str, str]) -> None:
    told(http, "ben", "his", "I like milk.", **home)
    lines = http.get("/v1/users/ben/export", params=home).text
    assert "I like milk." in lines
    reply = http.post("/v1/users/ann/import", params=home, content=lines)
    assert_error(reply, 400, "invalid_request_error", "invalid_value")
    # In a memory of one's own the names stay what they were.
    assert http.post("/v1/users/dora/import", content=lines).json()["imported"] == 1


def test_a_receipt_is_verified_by_members_alone(http: httpx.Client, home: dict[str, str]) -> None:
    kept = record(http, "ben", "his", "I like milk.", **home)
    assert kept.status_code == 200
    body = {"user_id": "ben", "messages": [{"role": "user", "content": "I like rye."}]} | home
    given = http.post("/v1/sessions/his/messages", json=body, headers={"X-Memory-Receipt": "1"})
    receipt = given.json()["receipt"]
    verify = {"receipt": receipt}
    for person in ("ann", "ben", "cleo"):
        reply = http.post("/v1/receipts", json=verify, headers={"X-Memory-User": person})
        assert (reply.status_code, reply.json()["holds"]) == (200, True), reply.text
    leave(http, home["space"], "ben", "ben")
    for person in ("ben", "dora"):
        reply = http.post("/v1/receipts", json=verify, headers={"X-Memory-User": person})
        assert_error(reply, 404, "not_found_error", "space_not_found")


def members(http: httpx.Client, person: str, space: str) -> list[dict[str, str]]:
    found: list[dict[str, str]] = http.get(
        f"/v1/spaces/{space}", params={"user_id": person}
    ).json()["members"]
    return found


def spaces(http: httpx.Client, person: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = http.get("/v1/spaces", params={"user_id": person}).json()["data"]
    return found
