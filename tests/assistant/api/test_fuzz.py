"""Whatever is sent to whatever route: never a 5xx, and every refusal in OpenAI's shape, or of the
Model Context Protocol in JSON-RPC's."""

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from odd_requests import DATES, NUMBERS, TEXTS
from openapi_document import openapi_document
from served import served

from assistant import Settings, create_app
from assistant.api.requests import Request

DOCUMENT: dict[str, Any] = openapi_document()
ROUTES = [
    f"{method.upper()} {path}" for path, methods in DOCUMENT["paths"].items() for method in methods
]


def bodies(base: type[Request] = Request) -> Iterator[type[Request]]:
    """The schema of every request body."""
    for schema in base.__subclasses__():
        yield schema
        yield from bodies(schema)


FIELDS = sorted({name for schema in bodies() for name in schema.model_json_schema()["properties"]})
HEADERS = [
    "X-Memory-User",
    "X-Memory-Session",
    "X-Memory-Timestamp",
    "X-Memory-Mode",
    "X-Request-Id",
    "Idempotency-Key",
    "X-Stainless-Retry-Count",
    "Authorization",
    "Content-Type",
    "Accept",
    "Origin",
]
_UNHURRIED = [
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.function_scoped_fixture,
]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Of a server of its own: what is sent here may forget everything."""
    app = create_app(Settings(embedder="hash", data_dir=tmp_path_factory.mktemp("fuzz")))
    with served(app) as url, httpx.Client(base_url=url, timeout=60) as client:
        yield client


texts = st.one_of(
    st.sampled_from(TEXTS),
    st.sampled_from(DATES),
    st.text(st.characters(exclude_categories=[]), max_size=40),
)
scalars = st.one_of(
    st.none(), st.booleans(), st.sampled_from(NUMBERS), st.floats(), st.integers(), texts
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(FIELDS) | texts, inner, max_size=4),
    ),
    max_leaves=12,
)
messages = st.lists(
    st.fixed_dictionaries(
        {
            "role": st.sampled_from(["user", "assistant", "system", "tool"]) | values,
            "content": texts | values,
        },
        optional={
            "timestamp": st.sampled_from(DATES) | values,
            "name": values,
            "id": values,
        },
    ),
    max_size=4,
)
# Bodies that are nearly right get further than those that are not.
bodies = st.one_of(
    st.fixed_dictionaries(
        {"messages": messages, "query": texts},
        optional={name: values for name in FIELDS if name not in ("messages", "query")}
        | {"metadata": st.dictionaries(st.sampled_from(FIELDS), values, max_size=4) | values},
    ),
    values,
)
raw_bodies = bodies.map(lambda body: json.dumps(body).encode()) | st.binary(max_size=60)
# Control characters are no part of HTTP: a parser may refuse them before anything of ours.
_CONTROLS = {*range(32), 127} - {9}
header_values = texts.map(lambda text: text[:2000].encode("utf-8", "replace")).filter(
    lambda value: not set(value) & _CONTROLS and value == value.strip()
)
headers = st.dictionaries(st.sampled_from(HEADERS), header_values, max_size=3)


@st.composite
def requests(draw: st.DrawFn, route: str) -> Mapping[str, Any]:
    """Any request of a route."""
    method, path = route.split(" ")
    described = DOCUMENT["paths"][path][method.lower()].get("parameters", [])
    for one in described:
        if one["in"] == "path":
            path = path.replace(f"{{{one['name']}}}", _quoted(draw(texts)[:2000]))
    names = [one["name"] for one in described if one["in"] == "query"]
    query = draw(st.dictionaries(st.sampled_from([*names, "user_id"]), texts, max_size=4))
    asked = "&".join(f"{name}={_quoted(value[:2000])}" for name, value in query.items())
    return {
        "method": method,
        "url": f"{path}?{asked}",
        "headers": draw(headers),
        "content": draw(raw_bodies) if method in ("POST", "PUT", "PATCH") else None,
    }


def _quoted(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


def check(client: httpx.Client, sent: Mapping[str, Any]) -> None:
    reply = client.request(**sent)
    assert reply.status_code < 500, reply.text
    if reply.status_code >= 400:
        body = reply.json()
        error = body["error"]
        assert error["message"]
        assert reply.headers["x-request-id"]
        if "jsonrpc" in body:
            assert sent["url"].startswith("/mcp")
            assert isinstance(error["code"], int)
            return
        assert set(error) == {"message", "type", "param", "code"}
        assert isinstance(error["code"], str)
    elif reply.headers["content-type"].startswith("text/event-stream"):
        assert '"error"' not in reply.text
        assert reply.text.endswith("data: [DONE]\n\n")


def _fuzz(data: st.DataObject, client: httpx.Client, route: str) -> None:
    check(client, data.draw(requests(route)))


@pytest.mark.parametrize("route", ROUTES)
@settings(
    max_examples=10,
    derandomize=True,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=_UNHURRIED,
)
@given(data=st.data())
def test_a_few_requests(data: st.DataObject, client: httpx.Client, route: str) -> None:
    _fuzz(data, client, route)


@pytest.mark.slow
@pytest.mark.parametrize("route", ROUTES)
@settings(max_examples=1000, deadline=None, suppress_health_check=_UNHURRIED)
@given(data=st.data())
def test_many_requests(data: st.DataObject, client: httpx.Client, route: str) -> None:
    _fuzz(data, client, route)
