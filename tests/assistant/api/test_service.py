"""Models, health, readiness, version."""

import httpx
import pytest

from assistant.prompts.prompt_file import all_prompts


def test_models(http: httpx.Client) -> None:
    listed = http.get("/v1/models").json()
    assert listed["object"] == "list"
    assert [model["id"] for model in listed["data"]] == ["aide-memoire", "aide-memoire-nomem"]
    for model in listed["data"]:
        assert set(model) == {"id", "object", "created", "owned_by", "pictures"}
        assert model["pictures"] is False
        assert http.get(f"/v1/models/{model['id']}").json() == model


def test_health_and_readiness(http: httpx.Client, answering: httpx.Client) -> None:
    assert http.get("/health").json() == {"status": "ok"}
    checks = {"store": "ok", "embedder": "ok", "disk": "ok", "model": "quotes"}
    assert http.get("/ready").json() == {"status": "ready", "checks": checks}
    assert answering.get("/ready").json()["checks"]["model"] == "chain-of-note:openai/fake"


@pytest.mark.parametrize("path", ["/health", "/ready", "/", "/v1/models"])
def test_probes_may_ask_for_the_head(http: httpx.Client, path: str) -> None:
    whole, head = http.get(path), http.head(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == whole.headers["content-length"]
    assert http.head("/v1/chat/completions").status_code == 405


def test_version(answering: httpx.Client) -> None:
    body = answering.get("/version").json()
    described = {"version", "store", "embedder", "reader", "models", "prompts", "settings"}
    assert set(body) == described | {"caller", "design"}
    models = {"chat_model": "openai/fake", "extract_model": None, "query_model": None}
    assert body["models"] == models
    assert body["store"]["embedder"] == "hash"
    assert body["embedder"] == {"name": "hash", "dimension": 256, "path": "hash"}
    assert body["prompts"] == {prompt.name: prompt.hash for prompt in all_prompts()}
    assert body["settings"]["chat_model"]["api_key"] == "**********"


def test_every_response_can_be_quoted(http: httpx.Client) -> None:
    ids = {http.get(path).headers["x-request-id"] for path in ("/health", "/v1/models", "/nope")}
    assert len(ids) == 3
