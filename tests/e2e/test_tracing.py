"""Spans as a collector receives them: one trace with its caller's, and no word of what is said."""

import secrets
from collections.abc import Iterator

import httpx
import pytest
from calls import answer, chat, record
from commands import Server
from otlp_receiver import Collector, collector
from scripted_model import ScriptedModel, scripted_model

SECRET = "marzipan"


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedModel]:
    with scripted_model() as running:
        yield running


@pytest.fixture(scope="module")
def received() -> Iterator[Collector]:
    with collector() as running:
        yield running


@pytest.fixture(scope="module")
def http(
    tmp_path_factory: pytest.TempPathFactory, received: Collector, model: ScriptedModel
) -> Iterator[httpx.Client]:
    server = Server(tmp_path_factory.mktemp("traced") / "data")
    server.start(
        OTEL_EXPORTER_OTLP_ENDPOINT=received.url,
        OTEL_BSP_SCHEDULE_DELAY="50",
        OTEL_RESOURCE_ATTRIBUTES="deployment.environment.name=test",
        ASSISTANT_CHAT_MODEL="openai/fake",
        ASSISTANT_CHAT_MODEL_BASE_URL=model.url,
        ASSISTANT_CHAT_MODEL_API_KEY="k",
        ASSISTANT_CHAT_MODEL_RETRIES="0",
    )
    with httpx.Client(base_url=server.url, timeout=30) as client:
        yield client
    assert server.end() == 0


class Caller:
    """A caller that traces: the header that it sends, and the ids in it."""

    def __init__(self, http: httpx.Client, flags: str = "01") -> None:
        self.trace, self.span = secrets.token_hex(16), secrets.token_hex(8)
        self.http = httpx.Client(
            base_url=http.base_url,
            timeout=30,
            headers={"traceparent": f"00-{self.trace}-{self.span}-{flags}"},
        )


@pytest.fixture
def caller(http: httpx.Client) -> Iterator[Caller]:
    one = Caller(http)
    with one.http:
        yield one


@pytest.mark.parametrize("stream", [False, True])
def test_a_chat_with_memory_is_one_trace_with_its_caller(
    caller: Caller, received: Collector, model: ScriptedModel, stream: bool
) -> None:
    user = f"ann-{stream}"
    with httpx.Client(base_url=caller.http.base_url, timeout=30) as untraced:
        record(untraced, user, "s1", f"My favourite sweet is {SECRET}.", "Noted.")
    model.on("chain_of_note").reply("ANSWER:\n", f"You like {SECRET}.")
    reply = chat(caller.http, user, f"Do I like {SECRET}?", stream=stream, temperature=0.5)
    assert SECRET in (reply.text if stream else answer(reply))
    spans = received.trace(caller.trace, 6)
    parents = {name: span.parent for name, span in spans.items()}
    request = "POST /v1/chat/completions"
    agent = "invoke_agent aide-memoire"
    assert parents == {
        request: caller.span,
        agent: spans[request].id,
        "search_memory": spans[agent].id,
        "read": spans[agent].id,
        "chat fake": spans["read"].id,
        "upsert_memory": spans[agent].id,
    }
    assert {name: span.kind for name, span in spans.items()} == {
        name: {request: "SERVER", "chat fake": "CLIENT"}.get(name, "INTERNAL") for name in spans
    }
    assert not [name for name, span in spans.items() if span.failed or span.events]
    assert spans["chat fake"].attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "fake",
        "gen_ai.request.stream": True,
        "gen_ai.request.temperature": 0.5,
        "gen_ai.usage.input_tokens": 7,
        "gen_ai.usage.output_tokens": 3,
        "gen_ai.response.finish_reasons": ["stop"],
    }
    assert spans["search_memory"].attributes == {
        "gen_ai.operation.name": "search_memory",
        "gen_ai.memory.record.count": 1,
    }
    assert spans["read"].attributes["aide_memoire.rounds_read"] == 1
    assert spans["upsert_memory"].attributes["gen_ai.memory.record.count"] == 1
    assert spans[request].attributes == {
        "aide_memoire.request_id": reply.headers["x-request-id"],
        "http.request.method": "POST",
        "http.route": "/v1/chat/completions",
        "http.response.status_code": 200,
    }
    resource = spans[request].resource
    assert resource["service.name"] == "aide-memoire"
    assert resource["deployment.environment.name"] == "test"
    assert all(span.seconds <= spans[request].seconds for span in spans.values())


def test_what_is_done_to_memory_is_named(caller: Caller, received: Collector) -> None:
    told = record(caller.http, "bob", "s", "I keep bees.", "Nice.", "And hens.", "Good.")
    assert told.status_code == 200
    spans = received.trace(caller.trace, 2)
    assert spans["upsert_memory"].parent == spans["POST /v1/sessions/{session_id:path}/messages"].id
    assert spans["upsert_memory"].attributes["gen_ai.memory.record.count"] == 2


def test_a_search_and_deletions_are_counted(http: httpx.Client, received: Collector) -> None:
    record(http, "cy", "s", "I keep bees.", "Nice.", "And hens.", "Good.")
    search = {"query": "bees", "user_id": "cy"}
    for name, method, path, body, dry_run in [
        ("search_memory", "POST", "/v1/memories/search", search, None),
        ("delete_memory", "DELETE", "/v1/users/cy/memories", None, True),
        ("delete_memory", "DELETE", "/v1/users/cy/memories", None, None),
    ]:
        one = Caller(http)
        params = {"dry_run": "true"} if dry_run else None
        with one.http:
            assert one.http.request(method, path, json=body, params=params).status_code == 200
        spans = received.trace(one.trace, 2)
        assert spans[name].attributes["gen_ai.operation.name"] == name
        assert spans[name].attributes["gen_ai.memory.record.count"] == 2
        assert spans[name].attributes.get("aide_memoire.dry_run") is dry_run


def test_a_failing_model_is_an_error_by_its_code_alone(
    caller: Caller, received: Collector, model: ScriptedModel
) -> None:
    model.on("chain_of_note").fault(500)
    reply = chat(caller.http, "dora", f"Is {SECRET} sweet?", metadata={"memory": "read_only"})
    code = reply.json()["error"]["code"]
    spans = received.trace(caller.trace, 5)
    failed = {name for name, span in spans.items() if span.failed}
    agent = "invoke_agent aide-memoire"
    assert failed == {"POST /v1/chat/completions", agent, "read", "chat fake"}
    assert {spans[name].attributes["error.type"] for name in failed} == {code}
    assert not any(span.events for span in spans.values())


def test_no_span_holds_what_is_said_or_who_says_it(http: httpx.Client, received: Collector) -> None:
    name = "eve-the-secret-user"
    one = Caller(http)
    with one.http:
        one.http.get(f"/v1/users/{name}/export", params={"q": SECRET})
        one.http.get(f"/nowhere/{SECRET}")
        one.http.request(SECRET.upper(), "/health")
        record(one.http, name, f"session-{SECRET}", f"I love {SECRET}.", "Yes.")
        one.http.delete(f"/v1/sessions/session-{SECRET}", params={"user_id": name})
    last = "DELETE /v1/sessions/{session_id:path}"
    received.wait_for(lambda span: (span.trace, span.name) == (one.trace, last))
    assert SECRET.encode() not in received.raw
    assert SECRET.upper().encode() not in received.raw
    assert name.encode() not in received.raw


def test_what_the_caller_does_not_sample_is_not_sent(
    http: httpx.Client, received: Collector
) -> None:
    unsampled, sampled = Caller(http, "00"), Caller(http)
    for one in (unsampled, sampled):
        with one.http:
            record(one.http, "fay", "s", "I sing.", "Nice.")
    received.trace(sampled.trace, 2)
    assert not [span for span in received.spans if span.trace == unsampled.trace]
