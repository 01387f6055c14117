"""The leak matrix: reaches × ways to say so × routes × models, embedders, tools and exports.

Ann told the same kind of secret in every way in which a memory can be kept close. Then everything
is asked that can be asked, by her and by the clients of models. What was kept on this computer may
reach no model and no embedder elsewhere; what is never in answers may reach no answer either.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from calls import answer, chat, record
from extractions import extracting, fact
from fastapi import FastAPI
from pydantic import SecretStr
from scripted_model import PLAIN, Reply, ScriptedModel, Sent
from served import served
from test_isolation_matrix import CALLS, VARIANTS, Call
from tool_calling import looks

from assistant import Settings, create_app
from memory_store.embedding import HashEncoder, TextKind

HERE, NEVER = "this_computer", "never_in_answers"
ASKED = "Which number opens my safe?"
OPEN = "9000-zz"
"""What may go anywhere."""
# Every way in which a memory gets its reach; each memory has a number of its own.
WAYS = (
    "metadata of a chat",
    "words of a chat",
    "recorded",
    "words recorded",
    "rule of words",
    "rule of labels",
    "labelled later",
    "in bulk",
    "by id",
)


def secret(reach: str, way: str) -> str:
    """The number of the safe that was told in this way."""
    return f"47{WAYS.index(way):02}-{'h' if reach == HERE else 'n'}q"


@dataclass
class Listener:
    """An embedder behind a server, and all that it was given."""

    url: str = ""
    heard: list[str] = field(default_factory=list)

    def app(self) -> FastAPI:
        app, encoder = FastAPI(), HashEncoder()

        @app.post("/v1/embeddings")
        async def embeddings(body: dict[str, Any]) -> Any:
            self.heard.extend(body["input"])
            rows = encoder.encode(body["input"], TextKind.DOCUMENT)
            return {"data": [{"index": n, "embedding": row.tolist()} for n, row in enumerate(rows)]}

        return app


def is_last(sent: Sent) -> bool:
    return sent.body["messages"][-1]["role"] != "tool"


def answering(sent: Sent) -> Reply:
    """A model that looks again, and tells all it has read."""
    if sent.body.get("tools") and is_last(sent):
        names = [one["function"]["name"] for one in sent.body["tools"]]
        given: dict[str, dict[str, Any]] = {
            "search_memory": {"query": "safe"},
            "find_words": {"text": "safe"},
            "list_sessions": {},
            "read_session": {"session": "this_computer recorded"},
            "history_of": {"fact": "the number of my safe"},
        }
        wanted = [(name, given[name]) for name in names if name in given]
        if wanted:
            return Reply(chunks=looks(*wanted))
    return Reply((f"ANSWER: I have read {json.dumps(sent.body['messages'])[-20_000:]}",))


@dataclass
class World:
    """An assistant, its models and its embedder, and what Ann told."""

    http: httpx.Client
    model: ScriptedModel
    embedder: Listener | None
    has_model: bool
    is_trusted: bool
    """Whether models and embedder count as this computer."""
    told: dict[tuple[str, str], str] = field(default_factory=dict)
    """Ids of the memories, by reach and way."""
    written: list[str] = field(default_factory=list)
    """What the models were sent, as text: each request is written once."""

    def everything_sent(self) -> str:
        # An embedder here reads what is never in answers: it makes none.
        heard = self.embedder.heard if self.embedder and not self.is_trusted else []
        new = self.model.sent[len(self.written) :]
        self.written += [json.dumps(one.body, ensure_ascii=False) for one in new]
        return "\n".join([*self.written, *heard])

    def leaks(self, text: str, *reaches: str) -> list[tuple[str, str]]:
        return [key for key in self.told if key[0] in reaches and secret(*key) in text]


RULES = {
    HERE: {"words": ["strongroom"], "labels": {"topic": "vault"}},
    NEVER: {"words": ["coffer"], "labels": {"topic": "grave"}},
}


@contextmanager
def world(folder: Path, *, hosted_embedder: bool, trusted: bool, model: bool) -> Iterator[World]:
    scripted, listener = ScriptedModel(), Listener() if hosted_embedder else None
    with ExitStack() as opened:
        scripted.url = opened.enter_context(served(scripted.app())) + "/v1"
        given: dict[str, Any] = {"embedder": "hash"}
        if listener:
            listener.url = opened.enter_context(served(listener.app())) + "/v1"
            given = {"embedder": "e", "embedder_server": {"base_url": listener.url}}
        if model:
            how = {"name": "openai/fake", "base_url": scripted.url, "api_key": SecretStr("k")}
            given |= {"chat_model": how, "extract_model": how, "query_model": how}
            for task in ("chain_of_note", "direct", "memory_beside", PLAIN):
                scripted.on(task).always(answering)
            facts = extracting(lambda one, _: [fact(one["user"])] if "user" in one else [])
            scripted.on("extract_facts").always(facts)
            asked = json.dumps({"first": None, "last": None, "queries": ["safe", "number"]})
            scripted.on("understand_question").always(lambda _: Reply((asked,)))
        settings = Settings(
            data_dir=folder / "data",
            reach={"loopback": trusted} | RULES,  # type: ignore[arg-type]
            understanding={"sub_queries": 2},  # type: ignore[arg-type]
            reading={"look_again": "on"},  # type: ignore[arg-type]
            limits={"requests_per_minute": 0},  # type: ignore[arg-type]
            **given,
        )
        url = opened.enter_context(served(create_app(settings)))
        http = opened.enter_context(httpx.Client(base_url=url, timeout=120))
        built = World(http, scripted, listener, model, trusted)
        tell(built)
        yield built


def say(world: World, kept: str, way: str, text: str, **more: Any) -> None:
    """Record what Ann told in one way, with its number."""
    said = (text.format(secret(kept, way)), "Noted.")
    done = record(world.http, "ann", f"{kept} {way}", *said, close=True, **more)
    assert done.status_code == 200, done.text
    world.told[kept, way] = done.json()["rounds"][0]["id"]


def tell(world: World) -> None:
    http, told = world.http, world.told
    record(http, "ann", "open", f"My safe opens with {OPEN}.", "Noted.")
    for reach, others in ((HERE, "strongroom"), (NEVER, "coffer")):
        wish = "Keep this local" if reach == HERE else "Never use this in answers"
        labels = RULES[reach]["labels"]

        safe = "My safe number opens with {}."
        say(world, reach, "recorded", safe, reach=reach)
        say(world, reach, "words recorded", f"{wish}: {safe}")
        say(world, reach, "rule of words", f"My {others} safe opens with {{}}.")
        say(world, reach, "rule of labels", safe, labels=labels)
        for way in ("metadata of a chat", "words of a chat"):
            text = f"My safe number opens with {secret(reach, way)}."
            given = {"reach": reach} if way.startswith("metadata") else {}
            lead = "" if given else f"{wish}: "
            session = f"{reach} {way}"
            said = chat(http, "ann", lead + text, metadata={"session_id": session} | given)
            assert said.status_code == 200, said.text
            read = http.get(f"/v1/sessions/{session}", params={"user_id": "ann"}).json()
            told[reach, way] = read["data"][0]["id"]
    if not world.is_trusted:
        assert not world.leaks(world.everything_sent(), HERE, NEVER)
    # What follows was said as if it might go anywhere, and it went; from now on it goes no farther.
    for reach in (HERE, NEVER):
        for way in ("labelled later", "in bulk", "by id"):
            text = f"My safe number opens with {secret(reach, way)}."
            done = record(http, "ann", f"{reach} {way}", text, "Noted.", close=True)
            told[reach, way] = done.json()["rounds"][0]["id"]
        named = {"user_id": "ann", "labels": RULES[reach]["labels"]}
        assert http.patch(f"/v1/sessions/{reach} labelled later", json=named).status_code == 200
        for filter_ in ({"text": secret(reach, "in bulk")}, {"ids": [told[reach, "by id"]]}):
            body = {"user_id": "ann", "reach": reach} | filter_
            done = http.post("/v1/memories/reach", json=body)
            assert (done.status_code, done.json()["changed"]) == (200, 1), done.text
    world.model.sent.clear()
    world.written.clear()
    if world.embedder:
        world.embedder.heard.clear()


WORLDS = {
    "models elsewhere": {"hosted_embedder": False, "trusted": False, "model": True},
    "embedder and models elsewhere": {"hosted_embedder": True, "trusted": False, "model": True},
    "embedder elsewhere, no model": {"hosted_embedder": True, "trusted": False, "model": False},
    "all of it here": {"hosted_embedder": True, "trusted": True, "model": True},
    "no model": {"hosted_embedder": False, "trusted": False, "model": False},
}


@pytest.fixture(scope="module", params=WORLDS)
def ann(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    with world(tmp_path_factory.mktemp("reach"), **WORLDS[request.param]) as built:
        yield built


def test_each_memory_has_its_reach(ann: World) -> None:
    for (reach, way), id in ann.told.items():
        read = ann.http.get(f"/v1/memories/{id}", params={"user_id": "ann"}).json()
        assert (read["reach"], secret(reach, way) in read["user_text"]) == (reach, True), way


def conversation(ann: World) -> list[dict[str, str]]:
    """All of it, as a client would send it back."""
    said = [
        {"role": role, "content": text}
        for id in ann.told.values()
        for one in [ann.http.get(f"/v1/memories/{id}", params={"user_id": "ann"}).json()]
        for role, text in (
            ("user", one["user_text"]),
            ("assistant", f"Kept: “{one['user_text']}”"),
        )
    ]
    return [*said, {"role": "assistant", "content": "Anything else?"}]


def asked(ann: World) -> Iterator[tuple[str, Callable[[], httpx.Response]]]:
    """Whatever is answered from memory, by a model or without."""
    http, read_only = ann.http, {"memory": "read_only", "memory_debug": "1"}
    said = conversation(ann)
    for question in (
        ASKED,
        "What do you know about me?",
        "How many safes do I have?",
        "What did I say about my strongroom and my coffer?",
        *(f"What about {secret(*key)[:4]}?" for key in list(ann.told)[:2]),
    ):
        for way, more in (
            ("plain", {}),
            ("streamed", {"stream": True}),
            ("with all that was said", {"earlier": said}),
            ("with tools", {"tools": [TOOL]} if ann.has_model else {}),
        ):
            yield (
                f"chat {way}: {question}",
                lambda question=question, more=more: chat(  # type: ignore[misc]
                    http, "ann", question, metadata=read_only, **deepcopy(more)
                ),
            )
        body = {"input": question, "metadata": {"user_id": "ann"} | read_only}
        yield f"responses: {question}", lambda body=body: http.post("/v1/responses", json=body)  # type: ignore[misc]
    history = "\n".join(f"{one['role'].upper()}: {one['content']}" for one in said)
    title = f"### Task:\nGenerate a concise title.\n### Chat History:\n{history}"
    front_end = {"X-OpenWebUI-Task": "title_generation"}
    body = {"messages": [{"role": "user", "content": title}], "metadata": {"user_id": "ann"}}
    yield "title", lambda: http.post("/v1/chat/completions", json=body, headers=front_end)


TOOL = {
    "type": "function",
    "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}},
}


def test_no_answer_and_no_model_is_given_what_is_held_back(ann: World) -> None:
    tried = 0
    for how, ask in asked(ann):
        reply = ask()
        is_refused = '"code":"kept_here"' in reply.text and "with tools" in how
        assert reply.status_code == (400 if is_refused else 200), (how, reply.text)
        kept = HERE if not ann.is_trusted else NEVER
        assert not ann.leaks(ann.everything_sent(), kept, NEVER), how
        if "with all" not in how and how != "title":
            assert not ann.leaks(reply.text, NEVER), how
        tried += 1
    assert tried > 20
    if ann.has_model:
        assert OPEN in ann.everything_sent()
    if ann.is_trusted:
        assert ann.leaks(ann.everything_sent(), HERE)


def of_mcp() -> Iterator[tuple[str, Call]]:
    for variant, call in {"recall": CALLS["POST /mcp"], **VARIANTS["POST /mcp"]}.items():
        if "remember" not in variant:
            yield variant, call


@pytest.mark.parametrize("text", ["safe", "safe number", "strongroom", "coffer"])
def test_no_tool_of_mcp_gives_it_away(ann: World, text: str) -> None:
    for variant, call in of_mcp():
        sent = deepcopy(call)
        arguments = sent.asked or {}
        for name in ("query", "about", "text"):
            if name in arguments:
                arguments[name] = text
        named = {"X-Memory-User": "ann"} | sent.headers
        reply = ann.http.post("/mcp", json=sent.body, headers=named)
        assert reply.status_code == 200, reply.text
        assert not ann.leaks(reply.text, HERE, NEVER), variant


def test_a_caller_may_see_less(ann: World) -> None:
    """Every route that shows memories, to who wants to see only what may go anywhere."""
    id = next(iter(ann.told.values()))
    for path in (
        "/v1/memories",
        "/v1/memories/conflicts",
        f"/v1/memories/{id}",
        "/v1/sessions",
        f"/v1/sessions/{HERE} recorded",
    ):
        for seen in ("anywhere", "mcp"):
            held = ann.http.get(
                path, params={"user_id": "ann", "limit": 200}, headers={"X-Memory-Reach": seen}
            )
            assert not ann.leaks(held.text, HERE, NEVER), (path, seen)
    body = {"user_id": "ann", "query": ASKED, "top_k": 200}
    searched = ann.http.post("/v1/memories/search", json=body, headers={"X-Memory-Reach": HERE})
    assert not ann.leaks(searched.text, NEVER)
    wrong = ann.http.get("/v1/sessions", headers={"X-Memory-Reach": "everywhere"})
    assert wrong.status_code == 400


def test_ann_finds_all_of_it(ann: World) -> None:
    body = {"user_id": "ann", "query": "safe number strongroom coffer", "top_k": 200}
    found = ann.http.post("/v1/memories/search", json=body).text
    listed = ann.http.get("/v1/memories", params={"user_id": "ann", "limit": 200}).text
    exported = ann.http.get("/v1/users/ann/export").text
    for key in ann.told:
        for text in (found, listed, exported):
            assert secret(*key) in text, key
    assert not ann.leaks(ann.everything_sent(), HERE if not ann.is_trusted else NEVER)


def test_an_export_brings_it_elsewhere(ann: World) -> None:
    exported = ann.http.get("/v1/users/ann/export").text
    done = ann.http.post("/v1/users/bea/import", content=exported.encode())
    assert done.status_code == 200, done.text
    brought = ann.http.get("/v1/memories", params={"user_id": "bea", "limit": 200}).json()["data"]
    for key in ann.told:
        (one,) = [one for one in brought if secret(*key) in one["user_text"]]
        assert one["reach"] == key[0], key
    ann.http.delete("/v1/users/bea/memories")
    assert not ann.leaks(ann.everything_sent(), HERE if not ann.is_trusted else NEVER)


def test_nothing_is_extracted_from_it_or_beside_it(ann: World) -> None:
    before = len(ann.model.requests("extract_facts"))
    record(ann.http, "ann", "later", "My safe number is a long one.", "Noted.", close=True)
    assert len(ann.model.requests("extract_facts")) == before + ann.has_model
    # Facts found for what may go anywhere may tell of others that may.
    shown = json.dumps([one.body for one in ann.model.requests("extract_facts")[before:]])
    assert not ann.leaks(shown, HERE, NEVER)
    assert (OPEN in shown) is ann.has_model
    assert not ann.leaks(ann.everything_sent(), HERE if not ann.is_trusted else NEVER)


def test_the_embeddings_of_what_stays_here_are_not_made_elsewhere(ann: World) -> None:
    for text in ("Keep this local: 4799-hq", "My strongroom opens with 4799-hq."):
        reply = ann.http.post("/v1/embeddings", json={"input": [text]})
        is_refused = ann.embedder is not None and not ann.is_trusted
        assert reply.status_code == (400 if is_refused else 200)
        if is_refused:
            assert "4799-hq" not in ann.everything_sent()


def test_why_says_how_many_were_held_back(ann: World) -> None:
    debug: Mapping[str, str] = {"memory": "read_only", "memory_debug": "1"}
    trace = chat(ann.http, "ann", ASKED, metadata=debug).json()["memory"]
    assert trace["held_back"] > 0
    assert not ann.leaks(json.dumps(trace["data"]), NEVER)


def test_an_answer_goes_no_farther_than_what_it_repeats(ann: World) -> None:
    """The answer of a model here, or quotes, repeat what is kept here; the round stays here."""
    if ann.embedder and not ann.is_trusted:
        pytest.skip("nothing of it is read at all")
    lead = "Keep it local. " if not ann.is_trusted else ""
    said = chat(ann.http, "ann", f"{lead}{ASKED}", metadata={"session_id": "asked"})
    assert ann.leaks(answer(said), HERE)
    (asked,) = ann.http.get("/v1/sessions/asked", params={"user_id": "ann"}).json()["data"]
    assert asked["reach"] == HERE
    ann.http.delete("/v1/sessions/asked", params={"user_id": "ann"})
    assert not ann.leaks(ann.everything_sent(), HERE if not ann.is_trusted else NEVER)
