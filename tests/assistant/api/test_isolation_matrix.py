"""The isolation matrix: every route × every way to name a user or what is another's.

Ann told a secret. Eve names Ann, or Ann's session and round, wherever a request can name anything.
She must learn nothing, change nothing, and be answered as if Ann's ids were nobody's.
"""

import json
import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from calls import answer, chat, record, sessions
from pydantic import SecretStr
from scripted_model import ScriptedModel
from served import served

from assistant import Settings, create_app
from assistant.access.keys import KeyFile, KeyScope, new_key

# No part of it may be in a random hexadecimal id by chance.
SECRET = "4711-mh"
QUESTION = "Which number opens my safe?"
SESSION = "ann's diary"
SPACE, OTHER_SPACE = "agent:butler", "agent:gardener"
IN_SPACE = "0815-mh"


@dataclass(frozen=True)
class Ids:
    """Whose session and round a request names."""

    session: str
    memory: str


@dataclass
class Call:
    """A request of one route, before anything in it names anybody."""

    body: dict[str, Any] | None = None
    lines: str | None = None
    params: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def asked(self) -> dict[str, Any] | None:
        """Where the body says what is asked: in a call of a tool, its arguments."""
        if self.body is None or "jsonrpc" not in self.body:
            return self.body
        arguments: dict[str, Any] | None = self.body.get("params", {}).get("arguments")
        return arguments


def tool(name: str, **arguments: Any) -> Call:
    """A call of a tool of the Model Context Protocol."""
    params = {"name": name, "arguments": arguments}
    return Call(body={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})


_SAID = {"messages": [{"role": "user", "content": QUESTION}]}
# Every route of the server. A new one gets a line here, with the body that it wants.
CALLS: Mapping[str, Call] = {
    "POST /v1/chat/completions": Call(body=_SAID | {"metadata": {"memory_debug": "1"}}),
    "POST /v1/responses": Call(body={"input": QUESTION, "metadata": {"memory_debug": "1"}}),
    "POST /v1/embeddings": Call(body={"input": QUESTION}),
    "GET /v1/models": Call(),
    "GET /v1/models/{name}": Call(),
    "POST /v1/sessions": Call(body={}),
    "GET /v1/sessions": Call(),
    "GET /v1/spaces": Call(),
    "POST /v1/spaces": Call(body={"name": "Ours"}),
    "GET /v1/spaces/{space}": Call(),
    "DELETE /v1/spaces/{space}": Call(),
    "PUT /v1/spaces/{space}/members/{member_id}": Call(body={"role": "owner"}),
    "DELETE /v1/spaces/{space}/members/{member_id}": Call(params={"forget": True}),
    "POST /v1/sessions/{session_id}/messages": Call(body=_SAID),
    "GET /v1/sessions/{session_id}": Call(),
    "PATCH /v1/sessions/{session_id}": Call(body={"title": "Mine"}),
    "DELETE /v1/sessions/{session_id}": Call(),
    "POST /v1/memories/search": Call(body={"query": QUESTION}),
    "GET /v1/memories": Call(params={"text": "safe"}),
    "POST /v1/memories/reach": Call(body={"reach": "never_in_answers", "text": "safe"}),
    "GET /v1/memories/conflicts": Call(),
    "GET /v1/memories/health": Call(),
    "GET /v1/memories/{memory_id}": Call(),
    "PATCH /v1/memories/{memory_id}": Call(body={"user_text": "My safe is open."}),
    "DELETE /v1/memories/{memory_id}": Call(),
    "PUT /v1/memories/{memory_id}/updates": Call(),
    "PUT /v1/memories/{memory_id}/pin": Call(),
    "DELETE /v1/memories/{memory_id}/pin": Call(),
    "DELETE /v1/memories/{memory_id}/updates": Call(),
    "DELETE /v1/users/{user_id}/memories": Call(),
    "GET /v1/users/{user_id}/surroundings": Call(),
    "PUT /v1/users/{user_id}/surroundings": Call(body={"week_begins": "monday"}),
    "GET /v1/users/{user_id}/export": Call(),
    "POST /v1/users/{user_id}/import": Call(
        lines='{"format": "aide-memoire/records", "version": 1}'
    ),
    "POST /leaderboard/add": Call(body=_SAID | {"request_id": "one"}),
    "POST /leaderboard/search": Call(body={"query": QUESTION}),
    "GET /leaderboard/health": Call(),
    "GET /health": Call(),
    "GET /ready": Call(),
    "GET /metrics": Call(),
    "GET /v1/usage": Call(),
    "GET /v1/backup": Call(),
    "POST /v1/retention": Call(body={"older_than_days": 0, "now": "2099-01-01T00:00:00Z"}),
    "POST /v1/receipts": Call(body={"receipt": {}}),
    "POST /v1/scrub": Call(body={}),
    "POST /v1/reindex": Call(body={}),
    "GET /v1/reindex": Call(),
    "POST /mcp": tool("recall", query=QUESTION),
    "GET /.well-known/oauth-protected-resource": Call(),
    "GET /.well-known/oauth-protected-resource/mcp": Call(),
    "GET /version": Call(),
    "GET /": Call(),
}
OF_EVERYBODY = ("GET /v1/backup", "POST /v1/scrub", "POST /v1/reindex", "GET /v1/reindex")
"""Routes for the admin, who may do everything; without keys that is whoever is on the machine."""
# More of the same route: what is read back and how.
VARIANTS: Mapping[str, Mapping[str, Call]] = {
    "POST /v1/chat/completions": {
        "streamed": Call(body=_SAID | {"stream": True, "metadata": {"memory_debug": "1"}}),
        "written only": Call(body=_SAID | {"metadata": {"memory": "write_only"}}),
    },
    "POST /v1/responses": {"streamed": Call(body={"input": QUESTION, "stream": True})},
    "POST /v1/memories/search": {
        "sessions": Call(body={"query": QUESTION, "unit": "session"}),
        "labelled": Call(body={"query": QUESTION, "where": {"topic": "safes"}}),
    },
    "POST /v1/sessions/{session_id}/messages": {
        "labelled": Call(body=_SAID | {"labels": {"topic": "safes"}, "expires_in": 60}),
    },
    "PATCH /v1/sessions/{session_id}": {"labelled": Call(body={"labels": {"topic": "mine"}})},
    "GET /v1/sessions": {"labelled": Call(params={"where": '{"topic": "safes"}'})},
    "POST /v1/retention": {
        "expired": Call(body={"where": {"topic": "safes"}}),
        "dry run": Call(body={"older_than_days": 0, "dry_run": True}),
        "of everybody": Call(body={"older_than_days": 0, "all_users": True, "dry_run": True}),
    },
    "POST /v1/memories/reach": {
        "ids": Call(body={"reach": "this_computer", "ids": [], "session_id": ""}),
        "labelled": Call(body={"reach": "anywhere", "where": {"topic": "safes"}}),
    },
    "PATCH /v1/memories/{memory_id}": {
        "facts": Call(body={"facts": ["I have no safe."]}),
        "speakers": Call(body={"speakers": {f"My safe opens with {SECRET}.": "quoted"}}),
    },
    "GET /v1/memories/{memory_id}": {"as of": Call(params={"as_of": "2030-01-01"})},
    "DELETE /v1/memories/{memory_id}": {"dry run": Call(params={"dry_run": "true"})},
    "DELETE /v1/sessions/{session_id}": {"dry run": Call(params={"dry_run": "true"})},
    "DELETE /v1/users/{user_id}/memories": {"dry run": Call(params={"dry_run": "true"})},
    "GET /v1/memories": {
        "all": Call(params={"order": "oldest", "limit": 200}),
        "labelled": Call(params={"where": '{"topic": "safes"}'}),
    },
    "POST /mcp": {
        "tools": Call(body={"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
        "remember": tool("remember", text="My safe is open."),
        "recall as of": tool("recall", query=QUESTION, as_of="2030-01-01", limit=200),
        "facts": tool("facts"),
        "facts as of": tool("facts", about=QUESTION, as_of="2030-01-01"),
        "list": tool("list", text="safe"),
        "list all": tool("list", limit=200),
        "forget": tool("forget", id=""),
        "forget a session": tool("forget", session_id=""),
    },
}

Naming = Callable[[Call, str], None]


def _in_body(*names: str) -> Naming:
    def name(call: Call, user: str) -> None:
        if call.asked is not None:
            call.asked.update(dict.fromkeys(names, user))

    return name


def _in_metadata(call: Call, user: str) -> None:
    if call.asked is not None:
        call.asked.setdefault("metadata", {}).update(user_id=user)


def _in_query(call: Call, user: str) -> None:
    call.params.update(user_id=user, user=user)


def _in_header(name: str) -> Naming:
    return lambda call, user: call.headers.update({name: user})


WEAK: Mapping[str, Naming] = {
    header: _in_header(header)
    for header in (
        "X-Memory-User",
        "X-OpenWebUI-User-Id",
        "X-LiteLLM-End-User-Id",
        "X-LiteLLM-Customer-Id",
        "X-Forwarded-User",
    )
}
SPACES: Mapping[str, Naming] = {
    "space in header": lambda call, space: call.headers.update({"X-Memory-Space": space}),
    "space in query": lambda call, space: call.params.update(space=space),
    "space in body": lambda call, space: (
        None if call.body is None else _in_body("space")(call, space)
    ),
}
STRONG: Mapping[str, Naming] = {
    "query": _in_query,
    "body": _in_body("user_id"),
    "metadata": _in_metadata,
    "OpenAI's fields": _in_body("user", "safety_identifier", "prompt_cache_key"),
}


@dataclass
class Matrix:
    """A server with what Ann told, and Eve's way in."""

    eve: httpx.Client
    operator: httpx.Client
    """May name any user."""
    anns: Ids
    keyed: bool
    shared: str = "shared-0123456789abcdef"
    """The shared space that a path names."""
    at_first: Any = None
    """All that Ann had before anybody tried."""

    def send(self, route: str, call: Call, ids: Ids, user_in_path: str) -> httpx.Response:
        """Eve's request, naming a session and a round in every place there is for them."""
        call = deepcopy(call)
        method, path = route.split(" ")
        call.headers |= {"X-Memory-Session": ids.session, "X-OpenWebUI-Chat-Id": ids.session}
        call.params |= {"session_id": ids.session, "id": ids.memory, "memory_id": ids.memory}
        named = {"session_id": ids.session, "id": ids.memory, "conversation": ids.session}
        if call.body is not None and call.asked is not call.body:
            # The id of the message comes back; `forget` takes one of the two.
            call.headers["Mcp-Session-Id"] = ids.session
            for key in set(named) & set(call.asked or ()):
                call.asked[key] = named[key]
        elif call.body is not None:
            call.body |= named
            call.body["metadata"] = {"session_id": ids.session} | call.body.get("metadata", {})
        filled = path.format(
            session_id=ids.session,
            memory_id=ids.memory,
            user_id=user_in_path,
            name="aide-memoire",
            space=self.shared,
            member_id=user_in_path,
        )
        return self.eve.request(
            method,
            filled,
            params=call.params,
            headers=call.headers,
            content=call.lines,
            **({} if call.body is None else {"json": call.body}),
        )

    def forget_eve(self) -> None:
        assert self.operator.delete("/v1/users/eve/memories").status_code == 200

    def of_ann(self) -> Any:
        spaces = self.operator.get("/v1/spaces", params={"user_id": "ann"}).json()
        return sessions(self.operator, "ann"), spaces, self.exported(None), self.exported(SPACE)

    def exported(self, space: str | None) -> str:
        named = {} if space is None else {"space": space}
        return self.operator.get("/v1/users/ann/export", params=named).text


@pytest.fixture(scope="module", params=["with keys", "without keys"])
def matrix(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Matrix]:
    folder = tmp_path_factory.mktemp("matrix")
    keyed = request.param == "with keys"
    eves, operators = {}, {}
    if keyed:
        every = (KeyScope.ACT_AS, KeyScope.SET_TIME)
        for headers, user, scopes in (
            (eves, "eve", (KeyScope.SET_TIME,)),
            (operators, None, every),
        ):
            made = new_key("a key", user, scopes, created_at="now")
            KeyFile(folder / "keys.json").add(made.key)
            headers["Authorization"] = f"Bearer {made.token}"
    unlimited = {"requests_per_minute": 0}
    asked_often = Settings(
        embedder="hash",
        data_dir=folder,
        limits=unlimited,  # type: ignore[arg-type]
        leaderboard=True,
    )
    with (
        served(create_app(asked_often)) as url,
        httpx.Client(base_url=url, headers=eves, timeout=60) as eve,
        httpx.Client(base_url=url, headers=operators, timeout=60) as operator,
    ):
        record(operator, "ann", SESSION, f"My safe opens with {SECRET}.", f"{SECRET}, noted.")
        in_space = {"space": SPACE, "labels": {"topic": "safes"}}
        record(operator, "ann", SESSION, f"My other safe opens with {IN_SPACE}.", **in_space)
        record(operator, "ann", "her letters", "My phone number is 555-0101.", "Noted.")
        operator.put("/v1/users/ann/surroundings", json={"week_begins": "sunday"})
        pasted = f"Please proofread my uncle's letter:\n\nMy phone number is {SECRET}."
        record(operator, "ann", "her letters", pasted, "Fine.")
        listed = operator.get("/v1/memories/conflicts", params={"user_id": "ann"}).json()
        assert [SECRET in one["fact"] for one in listed["data"]] == [True]
        read = operator.get(f"/v1/sessions/{SESSION}", params={"user_id": "ann"})
        built = Matrix(eve, operator, Ids(SESSION, read.json()["data"][0]["id"]), keyed)
        built.at_first = built.of_ann()
        yield built


def cases(route: str) -> Mapping[str, Call]:
    return {"": CALLS[route], **VARIANTS.get(route, {})}


def as_eve(call: Call) -> Call:
    """The call in which every strong place names Eve herself, as one without a key must."""
    call = deepcopy(call)
    for name in STRONG.values():
        name(call, "eve")
    return call


def attempts(route: str, *, keyed: bool) -> Iterator[tuple[str, Call, str]]:
    """What Eve tries: how, the call, and the user in its path.

    Without keys whoever names Ann in the first place is Ann: there only the places behind it, and
    the ids of Ann's things, are tried.
    """
    for variant, call in cases(route).items():
        own = call if keyed else as_eve(call)
        yield f"{variant} ids only", own, "eve"
        for place, name in {**WEAK, **(STRONG if keyed else {})}.items():
            named = deepcopy(own)
            name(named, "ann")
            yield f"{variant} {place}", named, "eve"
        for place, name in SPACES.items():
            spaced = deepcopy(own)
            name(spaced, SPACE)
            yield f"{variant} {place}", spaced, "eve"
        if keyed:
            yield f"{variant} path", own, "ann"
            everywhere = deepcopy(own)
            for name in (*WEAK.values(), *STRONG.values()):
                name(everywhere, "ann")
            yield f"{variant} everywhere", everywhere, "ann"


def test_every_route_is_in_the_matrix(matrix: Matrix) -> None:
    paths = matrix.operator.get("/openapi.json").json()["paths"]
    served = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    assert served == set(CALLS), "give the new route a line in CALLS"
    assert set(VARIANTS) <= set(CALLS)


@pytest.mark.parametrize("route", CALLS)
def test_nothing_of_another_user_comes_out_or_changes(matrix: Matrix, route: str) -> None:
    if route in OF_EVERYBODY and not matrix.keyed:
        pytest.skip("without keys everybody on this machine is the admin")
    nobodys = Ids("nobody's diary", str(uuid.uuid4()))
    writes = not route.startswith("GET")
    tried = 0
    for how, call, user_in_path in attempts(route, keyed=matrix.keyed):
        reply = matrix.send(route, call, matrix.anns, user_in_path)
        assert reply.status_code in (200, 400, 403, 404), (how, reply.text)
        for shown in (reply.text, str(reply.headers)):
            assert SECRET not in shown, how
            assert IN_SPACE not in shown, how
        refused = reply.status_code != 200 or '"isError":true' in reply.text
        if not refused:
            assert matrix.anns.memory not in reply.text, how
        if writes and not refused:
            matrix.forget_eve()
        other = matrix.send(route, call, nobodys, user_in_path)
        assert reply.status_code == other.status_code, how
        if refused:
            assert _plain(reply, matrix.anns) == _plain(other, nobodys), how
        elif writes:
            matrix.forget_eve()
        tried += 1
    matrix.forget_eve()
    assert tried >= len(WEAK)
    assert matrix.of_ann() == matrix.at_first


ASKING = [route for route in CALLS if route not in OF_EVERYBODY]


@pytest.mark.parametrize("route", ASKING)
@pytest.mark.parametrize("space", [None, OTHER_SPACE])
def test_nothing_of_a_space_comes_out_elsewhere_or_changes(
    matrix: Matrix, route: str, space: str | None
) -> None:
    """Ann herself, in her own memory and in another space: what was said in a space stays there."""
    if route.startswith("DELETE /v1/users") and space is None:
        pytest.skip("forgetting a user forgets all spaces")
    if route.startswith("PUT /v1/users"):
        pytest.skip("surroundings are the user's in all spaces")
    as_ann = Matrix(matrix.operator, matrix.operator, matrix.anns, matrix.keyed)
    found = matrix.operator.get("/v1/memories", params={"user_id": "ann", "space": SPACE}).json()
    theirs = Ids(SESSION if space else "no session", found["data"][0]["id"])
    own, before = matrix.exported(None), matrix.exported(SPACE)
    assert IN_SPACE in before
    assert IN_SPACE not in own
    for variant, call in cases(route).items():
        asked = deepcopy(call)
        for name in STRONG.values():
            name(asked, "ann")
        if space is not None:
            SPACES["space in header"](asked, space)
        if asked.body is not None:
            asked.body.get("metadata", {}).setdefault("memory", "read_only")
        if space is None and not (route.startswith("GET") or "search" in route):
            continue  # what changes Ann's own memory is tried in her other space
        if "all_users" in (asked.body or {}):
            continue
        reply = as_ann.send(route, asked, theirs, "ann")
        assert IN_SPACE not in reply.text, variant
        if space is not None:
            assert SECRET not in reply.text, variant
    assert (matrix.exported(None), matrix.exported(SPACE)) == (own, before)
    forget = {"space": OTHER_SPACE}
    assert matrix.operator.delete("/v1/users/ann/memories", params=forget).status_code == 200


def _plain(reply: httpx.Response, ids: Ids) -> str:
    """A refusal without the ids that the request itself named."""
    text = json.dumps(reply.json(), ensure_ascii=False)
    for one in (ids.session, ids.memory):
        text = re.sub(re.escape(one), "…", text)
    return text


@pytest.mark.parametrize(
    "route",
    [
        "POST /v1/chat/completions",
        "POST /v1/memories/search",
        "POST /leaderboard/search",
        "POST /mcp",
        "GET /v1/memories",
        "GET /v1/memories/{memory_id}",
        "GET /v1/sessions",
        "GET /v1/sessions/{session_id}",
        "GET /v1/users/{user_id}/export",
    ],
)
def test_ann_herself_is_told(matrix: Matrix, route: str) -> None:
    """The same calls do give the secret away to whom it belongs."""
    call = deepcopy(CALLS[route])
    for name in STRONG.values():
        name(call, "ann")
    if call.body and "messages" in call.body:
        call.body["metadata"]["memory"] = "read_only"
    allowed = Matrix(matrix.operator, matrix.operator, matrix.anns, matrix.keyed)
    assert SECRET in allowed.send(route, call, matrix.anns, "ann").text


@pytest.mark.parametrize("place", STRONG)
def test_a_bound_key_is_its_user_whoever_is_named(matrix: Matrix, place: str) -> None:
    """What is read is Eve's, for another user that there is and for one that there is not."""
    if not matrix.keyed:
        pytest.skip("nobody is bound without keys")
    kept = record(matrix.operator, "eve", "eve's diary", "My safe opens with 1234.", "Noted.")
    eves = Ids("eve's diary", kept.json()["rounds"][0]["id"])
    route = "GET /v1/memories" if place == "query" else "POST /v1/memories/search"
    for user in ("ann", "nobody at all"):
        call = deepcopy(CALLS[route])
        STRONG[place](call, user)
        said = [one["user_text"] for one in matrix.send(route, call, eves, "eve").json()["data"]]
        assert said == ["My safe opens with 1234."]
    matrix.forget_eve()


def test_a_cached_reply_is_not_another_users(tmp_path: Path, model: ScriptedModel) -> None:
    """The same question, kept for one user: the other's is asked anew, without the memory."""
    model.on("chain_of_note").reply(f"ANSWER: It is {SECRET}.").reply("ANSWER: I do not know.")
    settings = Settings(
        embedder="hash",
        data_dir=tmp_path,
        chat_model="openai/fake",
        chat_model_base_url=model.url,
        chat_model_api_key=SecretStr("k"),
        models={"cache_dir": str(tmp_path / "replies")},  # type: ignore[arg-type]
    )
    when = {"timestamp": "2024-01-01T00:00:00Z", "memory": "read_only"}
    with served(create_app(settings)) as url, httpx.Client(base_url=url, timeout=60) as http:
        record(http, "ann", "s", f"My safe opens with {SECRET}.", "Noted.")
        record(http, "eve", "s", "My safe is green.", "Noted.")
        for _ in range(2):
            assert SECRET in answer(chat(http, "ann", QUESTION, metadata=when))
        assert SECRET not in answer(chat(http, "eve", QUESTION, metadata=when))
    of_ann, of_eve = model.requests("chain_of_note")
    assert SECRET in str(of_ann)
    assert SECRET not in str(of_eve)
