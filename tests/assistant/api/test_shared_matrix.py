"""The isolation matrix of shared spaces: every route × every way to name the space × who asks.

Ann owns a space, Ben says something in it, Cleo reads it. Dora was removed and Ed left, after each
had said something, and Eve never was a member. Who is no member learns nothing and changes nothing,
and is answered as if there were no such space; who reads changes nothing; who says something
changes nothing of others'. Nobody sees there what Ann told her own memory.
"""

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from calls import record
from served import served
from test_isolation_matrix import (
    CALLS,
    OF_EVERYBODY,
    SPACES,
    STRONG,
    VARIANTS,
    Call,
    Ids,
    Matrix,
    Naming,
)

from assistant import Settings, create_app
from assistant.access.keys import KeyFile, KeyScope, new_key

# No part of them may be in a random hexadecimal id by chance.
OWN = "2718-mh"
SAID = {"ann": "4711-mh", "ben": "0815-mh", "dora": "3141-mh", "ed": "5772-mh"}
FORMER, STRANGER = ("dora", "ed"), "eve"
NO_SPACE = "shared-0000000000000000"
TAKING_AWAY = (
    "DELETE /v1/users/{user_id}/memories",
    "DELETE /v1/spaces/{space}/members/{member_id}",
)
"""Routes by which people end a membership of their own, or take away what they said."""


def _in_metadata(call: Call, space: str) -> None:
    assert call.asked is not None
    call.asked.setdefault("metadata", {}).update(space=space)


NAMED: Mapping[str, Naming] = SPACES | {"space in metadata": _in_metadata}
_OF_CHATS = ("POST /v1/chat/completions", "POST /v1/responses")


def places(route: str, call: Call) -> Iterator[tuple[str, Naming]]:
    """Where this call can name a space; elsewhere it would be about the caller's own memory."""
    for place, name in NAMED.items():
        if "metadata" in place and route not in _OF_CHATS:
            continue
        if "body" in place and (call.body is None or call.asked is not call.body):
            continue
        yield place, name


@dataclass
class Shared:
    """A server with a shared space, and everybody's way in."""

    people: Mapping[str, httpx.Client]
    operator: httpx.Client
    space: str
    ids: Mapping[str, Ids]
    """Whose session and round is whose."""
    keyed: bool
    tried: int = 0

    def send(
        self, who: str, route: str, call: Call, ids: Ids, space: str, path: str
    ) -> httpx.Response:
        """A request of one of them that names a session and a round in every place there is."""
        self.tried += 1
        way_in = Matrix(self.people[who], self.operator, ids, self.keyed, space)
        return way_in.send(route, call, ids, path)

    def state(self, said_by: str | None = None) -> Any:
        """All that is in the space, or what one member said, and who is a member; and all that Ann
        has beside it."""
        named = {"user_id": "ann", "space": self.space}
        exported = self.operator.get("/v1/users/ann/export", params=named)
        assert exported.status_code == 200, exported.text
        lines = [json.loads(line) for line in exported.text.splitlines()]
        said = [one for one in lines if said_by is None or one.get("user_name") == said_by]
        members = self.operator.get(f"/v1/spaces/{self.space}", params={"user_id": "ann"}).json()
        own = self.operator.get("/v1/users/ann/export").text
        return said, members["members"], own


def calls(route: str, who: str) -> Iterator[tuple[str, Call]]:
    """The calls of a route by one of them, before they name a space."""
    for variant, call in {"": CALLS[route], **VARIANTS.get(route, {})}.items():
        if "all_users" in (call.body or {}):
            continue
        own = deepcopy(call)
        for name in STRONG.values():
            name(own, who)
        yield variant, own


@pytest.fixture(scope="module", params=["with keys", "without keys"])
def shared(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shared]:
    folder = tmp_path_factory.mktemp("shared")
    keyed = request.param == "with keys"
    headers: dict[str, dict[str, str]] = {
        who: {} for who in ("ann", "ben", "cleo", *FORMER, STRANGER, "")
    }
    if keyed:
        for who, given in headers.items():
            scopes = (KeyScope.SET_TIME,) if who else (KeyScope.ACT_AS, KeyScope.SET_TIME)
            made = new_key("a key", who or None, scopes, created_at="now")
            KeyFile(folder / "keys.json").add(made.key)
            given["Authorization"] = f"Bearer {made.token}"
    settings = Settings(
        embedder="hash",
        data_dir=folder,
        limits={"requests_per_minute": 0},  # type: ignore[arg-type]
        leaderboard=True,
    )
    with served(create_app(settings)) as url:
        ways = {
            who: httpx.Client(base_url=url, headers=given, timeout=60)
            for who, given in headers.items()
        }
        operator = ways.pop("")
        begun = operator.post("/v1/spaces", json={"user_id": "ann", "name": "Ours"}).json()
        space, ids = begun["space"], {}
        for who in ("ben", "cleo", *FORMER):
            body = {"user_id": "ann", "role": "reader" if who == "cleo" else "member"}
            operator.put(f"/v1/spaces/{space}/members/{who}", json=body)
        record(operator, "ann", "own", f"My other safe opens with {OWN}.", "Noted.")
        for who, number in SAID.items():
            text = f"My safe opens with {number}."
            named = {"space": space, "labels": {"topic": "safes"}}
            kept = record(operator, who, f"{who}'s diary", text, f"{number}, noted.", **named)
            ids[who] = Ids(f"{who}'s diary", kept.json()["rounds"][0]["id"])
        for by, who in (("ann", "dora"), ("ed", "ed")):
            path = f"/v1/spaces/{space}/members/{who}"
            assert operator.delete(path, params={"user_id": by}).status_code == 200
        yield Shared(ways, operator, space, ids, keyed)
        for way in (*ways.values(), operator):
            way.close()


ASKING = [route for route in CALLS if route not in OF_EVERYBODY]


@pytest.mark.parametrize("who", [*FORMER, STRANGER])
@pytest.mark.parametrize("route", ASKING)
def test_who_is_no_member_learns_and_changes_nothing(shared: Shared, route: str, who: str) -> None:
    before, tried = shared.state(), 0
    for variant, own in calls(route, who):
        for place, name in places(route, own):
            for whose in ("ann", who if who in FORMER else "ben"):
                if route in TAKING_AWAY and who in FORMER:
                    # They may take away what they said, and nothing else: see below.
                    continue
                replies = []
                for space in (shared.space, NO_SPACE):
                    call = deepcopy(own)
                    name(call, space)
                    replies.append(shared.send(who, route, call, shared.ids[whose], space, who))
                how = f"{variant} {place} {whose}"
                named, other = replies
                assert named.status_code in (200, 400, 403, 404), (how, named.text)
                assert named.status_code == other.status_code, (how, named.text, other.text)
                for shown in (named.text, str(named.headers)):
                    assert not [n for n in (OWN, *SAID.values()) if n in shown], (how, shown)
                if named.status_code != 200:
                    hidden = named.text.replace(shared.space, NO_SPACE)
                    assert hidden == other.text, how
                tried += 1
    assert tried or route in TAKING_AWAY
    assert shared.state() == before


def insiders(shared: Shared, route: str, who: str) -> Iterator[tuple[str, Call, str]]:
    """What a member tries: how, the call, and the user in its path."""
    # Without keys whoever is named in a path is who asks.
    paths = [who, "ann"] if shared.keyed else [who]
    if route in TAKING_AWAY:
        paths.remove(who)
    for variant, own in calls(route, who):
        for place, name in places(route, own):
            for path in paths:
                call = deepcopy(own)
                name(call, shared.space)
                yield f"{variant} {place} {path}", call, path


@pytest.mark.parametrize("route", ASKING)
def test_who_reads_changes_nothing(shared: Shared, route: str) -> None:
    before = shared.state()
    for how, call, path in insiders(shared, route, "cleo"):
        reply = shared.send("cleo", route, call, shared.ids["ben"], shared.space, path)
        assert OWN not in reply.text, how
    assert shared.state() == before


@pytest.mark.parametrize("route", ASKING)
def test_who_says_something_changes_nothing_of_others(shared: Shared, route: str) -> None:
    before = shared.state("ann"), shared.state("dora")
    for how, call, path in insiders(shared, route, "ben"):
        for whose in ("ann", "dora"):
            sent = deepcopy(call)
            reply = shared.send("ben", route, sent, shared.ids[whose], shared.space, path)
            assert OWN not in reply.text, how
    assert (shared.state("ann"), shared.state("dora")) == before


def forged(space: str) -> list[str]:
    """Names that a lenient reader would take for the space, or for its list of members."""
    digits = space.removeprefix("shared-")
    return [
        f"\x1f{space}",
        f"\x1f{space}\x1fmembers",
        f"{space}\x1fmembers",
        f"ann\x1f{space}",
        f"{space}\x00",
        f"{space}\n",
        f" {space}",
        f"{space}\u200d",
        space.upper(),
        f"ſhared-{digits}",
        f"ѕhared-{digits}",
        f"shared‐{digits}",
        "shared-" + "".join(chr(ord(c) + 0xFEE0) for c in digits),
        f"%1f{space}",
        f"shared:{digits}",
        f"agent:\x1f{space}",
        f"../{space}",
    ]


@pytest.mark.parametrize("who", [*FORMER, STRANGER])
def test_no_forged_name_leads_there(shared: Shared, who: str) -> None:
    """As a space and as a user, in query, body and path."""
    before = shared.state()
    for name in forged(shared.space):
        for route in (
            "GET /v1/memories",
            "GET /v1/memories/{memory_id}",
            "GET /v1/sessions/{session_id}",
            "POST /v1/memories/search",
            "POST /v1/chat/completions",
            "POST /v1/sessions/{session_id}/messages",
            "GET /v1/users/{user_id}/export",
            "GET /v1/spaces",
            "GET /v1/spaces/{space}",
            "PUT /v1/spaces/{space}/members/{member_id}",
            "POST /mcp",
        ):
            for as_user in (False, True):
                call = deepcopy(CALLS[route])
                for place, naming in STRONG.items():
                    naming(call, name if as_user and place == "query" else who)
                if as_user:
                    _as_user(call, name)
                else:
                    for place, naming in places(route, call):
                        if "header" not in place:
                            naming(call, name)
                path = name if as_user and shared.keyed else who
                reply = shared.send(who, route, call, shared.ids["ann"], _path(name), _path(path))
                for shown in (reply.text, str(reply.headers)):
                    assert not [n for n in (OWN, *SAID.values()) if n in shown], (name, route)
    assert shared.state() == before


def _as_user(call: Call, name: str) -> None:
    if call.asked is not None:
        call.asked["user_id"] = name
        call.asked.setdefault("metadata", {})["user_id"] = name


def _path(name: str) -> str:
    """A name as it can stand in a path."""
    return "".join(f"%{byte:02x}" for byte in name.encode())


def test_members_are_told(shared: Shared) -> None:
    """The same calls do give it away to whom it belongs, by each name of the space."""
    for who in ("ann", "ben", "cleo"):
        for route in (
            "GET /v1/memories",
            "POST /v1/memories/search",
            "GET /v1/sessions/{session_id}",
        ):
            for place in ("space in header", "space in query"):
                call = dict(calls(route, who))[""]
                NAMED[place](call, shared.space)
                reply = shared.send(who, route, call, shared.ids["ann"], shared.space, who)
                assert SAID["ann"] in reply.text, (who, route, place)


def test_how_much_was_tried(shared: Shared) -> None:
    assert shared.tried > 3000


@pytest.mark.parametrize("who", FORMER)
def test_who_left_can_take_away_what_they_said_and_nothing_else(shared: Shared, who: str) -> None:
    path = f"/v1/spaces/{shared.space}/members/{who}"
    way = shared.people[who]
    others = shared.state("ann"), shared.state("ben")
    refused = way.delete(f"/v1/spaces/{shared.space}/members/ben", params={"user_id": who})
    assert refused.status_code == 404
    reply = way.delete(path, params={"user_id": who, "forget": True})
    assert (reply.status_code, reply.json()["rounds"]) == (200, 1)
    assert (shared.state("ann"), shared.state("ben")) == others
    assert shared.state(who)[0] == []
    assert way.delete(path, params={"user_id": who, "forget": True}).status_code == 404
