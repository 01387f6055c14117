"""The OpenAPI document: every route in words and by examples, and the examples are true."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from calls import events
from jsonschema import Draft202012Validator
from openapi_document import openapi_document
from served import served

from assistant import Settings, create_app
from assistant.api.replies.sessions import RecordedTurns
from assistant.api.replies.spaces import SharedSpace
from assistant.api.requests.memories import RecordedMessages
from assistant.models.chat_model import UsageCounts
from assistant.settings.groups import OauthSettings

NOW = datetime(2023, 6, 10, 9, tzinfo=UTC)
DOCUMENT: dict[str, Any] = openapi_document()
ROUTES = {
    f"{method.upper()} {path}": route
    for path, methods in DOCUMENT["paths"].items()
    for method, route in methods.items()
}
FAILURES: Mapping[str, Any] = DOCUMENT["components"]["responses"]
ERROR_CODES = (Path(__file__).parents[3] / "docs/api.md").read_text().split("## Errors")[1]
# What depends on the installation, and not on the request.
OPEN_OBJECTS = {"signals", "prompts", "settings", "fallbacks"}
OPEN_LISTS = {"reasons", "embedding"}


def matches(schema: Mapping[str, Any], value: Any) -> None:
    """The value is as a schema of the document describes it, formats of dates included."""
    validator = Draft202012Validator(
        schema | {"components": DOCUMENT["components"]},
        format_checker=Draft202012Validator.FORMAT_CHECKER,
    )
    validator.validate(value)


def shape(value: Any, name: str = "") -> Any:
    """A value without its texts and numbers: names, kinds, and what lists hold."""
    if isinstance(value, dict):
        if name in OPEN_OBJECTS or not value:
            return "object"
        return {key: shape(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value and name not in OPEN_LISTS else "list"
    return "number" if isinstance(value, (int, float)) else type(value).__name__


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of an assistant whom Ann told what the examples are about."""
    folder = tmp_path_factory.mktemp("described")
    # The key that the example of a receipt is signed by.
    (folder / "receipts.key").write_text("00" * 32)
    settings = Settings(
        embedder="hash",
        leaderboard=True,
        data_dir=folder,
        oauth=OauthSettings(
            authorization_servers=["https://login.example.org"],
            resource="https://memory.example.org/mcp",
        ),
    )
    with (
        served(create_app(settings, clock=lambda: NOW)) as url,
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        yield client


@pytest.fixture
def told(http: httpx.Client) -> httpx.Client:
    for user in ("ann", "ben"):
        http.delete(f"/v1/users/{user}/memories")
    reply = http.post("/v1/sessions/spring/messages", json=RecordedMessages.example)
    assert reply.json() == RecordedTurns.example
    return http


def media_of(route: Mapping[str, Any]) -> Mapping[str, Any]:
    """The forms in which a route answers."""
    content: Mapping[str, Any] = route["responses"]["200"]["content"]
    return content


def example_request(name: str) -> dict[str, Any]:
    """The request that the document gives as an example of a route."""
    method, path = name.split(" ")
    parameters: Mapping[str, Any] = {
        (one["in"], one["name"]): one["schema"]["examples"][0]
        for one in ROUTES[name].get("parameters", [])
        if "examples" in one["schema"]
    }
    for (place, key), value in parameters.items():
        if place == "path":
            path = path.replace(f"{{{key}}}", value)
    sent: dict[str, Any] = {
        "method": method,
        "url": path,
        "params": {key: value for (place, key), value in parameters.items() if place == "query"},
    }
    body = ROUTES[name].get("requestBody", {"content": {}})["content"]
    for media_type, media in body.items():
        sent["json" if media_type == "application/json" else "content"] = media["example"]
    return sent


@pytest.mark.parametrize("name", ROUTES)
def test_an_example_is_true(name: str, told: httpx.Client) -> None:
    """What the document shows is what comes: to the last field, in texts line by line."""
    if name.endswith("/messages"):
        told.delete("/v1/users/ann/memories")
    if name.endswith("/conflicts"):
        said = "Please proofread my uncle's letter:\n\nI moved to Oslo in May."
        body = {"user_id": "ann", "messages": [{"role": "user", "content": said}]}
        told.post("/v1/sessions/a letter/messages", json=body).raise_for_status()
    if name.endswith("/surroundings"):
        told.request(**example_request(f"PUT {name.partition(' ')[2]}")).raise_for_status()
    request = example_request(name)
    if "{space}" in name:
        # The server names it.
        begun = told.post("/v1/spaces", json={"user_id": "ann", "name": "Our household"}).json()
        request["url"] = request["url"].replace(SharedSpace.example["space"], begun["space"])
    reply = told.request(**request)
    assert reply.status_code == 200, reply.text
    media_type, _, _ = reply.headers["content-type"].partition(";")
    media = media_of(ROUTES[name])[media_type]
    matches(media["schema"], media["example"])
    if media_type == "application/json":
        matches(media["schema"], reply.json())
        assert shape(reply.json()) == shape(media["example"])
    else:
        assert set(media["example"].splitlines()) <= set(reply.text.splitlines())


@pytest.mark.parametrize("name", ["POST /v1/chat/completions", "POST /v1/responses"])
def test_a_streamed_example_is_true(name: str, told: httpx.Client) -> None:
    request = example_request(name)
    request["json"] = request["json"] | {"stream": True}
    shown = events(media_of(ROUTES[name])["text/event-stream"]["example"])
    came = events(told.request(**request).text)
    for event in shown:
        assert shape(event) in [shape(one) for one in came]


def test_the_trace_is_as_described(told: httpx.Client) -> None:
    request = example_request("POST /v1/chat/completions")
    request["json"]["metadata"] = request["json"]["metadata"] | {"memory_debug": "1"}
    reply = told.request(**request).json()
    assert reply["memory"]["data"]
    matches({"$ref": "#/components/schemas/ChatCompletion"}, reply)


@pytest.mark.parametrize("name", ROUTES)
def test_a_route_is_described(name: str) -> None:
    route = ROUTES[name]
    assert route["summary"]
    assert route["description"]
    assert len(route["tags"]) == 1
    for parameter in route.get("parameters", []):
        assert parameter["description"], parameter["name"]
    for media in media_of(route).values():
        assert media["schema"]
        assert media["example"]
    assert "403" in route["responses"]
    assert ("401" in route["responses"]) is ("security" in route)
    assert ("413" in route["responses"]) is ("requestBody" in route)
    if "{" in name:
        assert "404" in route["responses"] or name.endswith("/messages")


def test_usage_is_described_field_by_field() -> None:
    """No example has any: that takes a language model."""
    usage = UsageCounts()
    usage.of("chat")
    matches({"$ref": "#/components/schemas/Usage"}, {"object": "usage", "roles": usage.body()})


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_has_openais_shape_and_a_code_of_ours(name: str) -> None:
    media = FAILURES[name]["content"]["application/json"]
    assert media["schema"] == {"$ref": "#/components/schemas/ErrorBody"}
    matches(media["schema"], media["example"])
    error = media["example"]["error"]
    assert re.search(rf"`{error['type']}`.*`{error['code']}`", ERROR_CODES)
    assert any(
        f"#/components/responses/{name}" == one.get("$ref")
        for route in ROUTES.values()
        for one in route["responses"].values()
    )
