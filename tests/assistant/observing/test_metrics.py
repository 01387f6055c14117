"""What Prometheus reads: every metric, documented, counting what happens, bounded in its labels."""

import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from calls import chat, record
from prometheus_client.parser import text_string_to_metric_families
from scripted_model import ScriptedModel

DOCUMENT = (Path(__file__).parents[3] / "docs/operations.md").read_text()
Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def samples(http: httpx.Client) -> Samples:
    """Every value by its name and labels."""
    reply = http.get("/metrics")
    assert reply.headers["content-type"].startswith("text/plain; version=0.0.4")
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(reply.text)
        for sample in family.samples
    }


def grown(before: Samples, after: Samples, name: str, **labels: str) -> float:
    key = (name, frozenset(labels.items()))
    return after.get(key, 0.0) - before.get(key, 0.0)


def test_the_documented_metrics_are_those_there_are(http: httpx.Client) -> None:
    listed = {
        (name, kind)
        for name, kind in re.findall(r"^\| `(assistant_\w+)` \| (\w+) \|", DOCUMENT, re.MULTILINE)
    }
    served = {
        (family.name + "_total" * (family.type == "counter"), family.type)
        for family in text_string_to_metric_families(http.get("/metrics").text)
        if family.name.startswith("assistant_")
    }
    assert listed == served


def test_a_chat_is_counted(answering: httpx.Client, model: ScriptedModel, ann: str) -> None:
    model.on("chain_of_note").reply("ANSWER:\n", "Tea.")
    before = samples(answering)
    assert chat(answering, ann, "What do I drink?").status_code == 200
    after = samples(answering)
    for stage in ("embed", "search", "recall", "first_token", "read", "store"):
        assert grown(before, after, "assistant_stage_seconds_count", stage=stage) == 1, stage
    route = {"method": "POST", "route": "/v1/chat/completions", "status": "200"}
    assert grown(before, after, "assistant_request_seconds_count", **route) == 1
    assert grown(before, after, "assistant_rounds_stored_total") == 1
    assert grown(before, after, "assistant_model_calls_total", role="chat", outcome="ok") == 1
    tokens = {
        kind: grown(before, after, "assistant_model_tokens_total", role="chat", kind=kind)
        for kind in ("prompt", "completion")
    }
    assert tokens == {"prompt": 7, "completion": 3}
    missed = {"cache": "vectors_memory", "outcome": "miss"}
    assert grown(before, after, "assistant_cache_lookups_total", **missed) >= 1


def test_a_question_asked_again_is_a_cache_hit(http: httpx.Client, ann: str) -> None:
    query = {"user_id": ann, "query": f"What does {ann} drink?"}
    http.post("/v1/memories/search", json=query)
    before = samples(http)
    http.post("/v1/memories/search", json=query)
    hit = {"cache": "vectors_memory", "outcome": "hit"}
    assert grown(before, samples(http), "assistant_cache_lookups_total", **hit) >= 1


def test_errors_are_counted_by_code(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    model.on("chain_of_note").drop("ANSWER:\n", "Half of")
    before = samples(answering)
    answering.post("/v1/chat/completions", json={"messages": []})
    answering.get("/nowhere")
    streamed = chat(answering, ann, "What do I drink?", stream=True)
    after = samples(answering)
    assert "model_unavailable" in streamed.text
    for code in ("empty_messages", "route_not_found", "model_unavailable"):
        assert grown(before, after, "assistant_errors_total", code=code) == 1, code
    assert answering.get("/ready").json()["checks"]["model_last_call"] == "model_unavailable"


def test_only_the_request_that_asks_is_running(http: httpx.Client) -> None:
    assert samples(http)[("assistant_requests_running", frozenset())] == 1


@pytest.mark.parametrize(
    ("path", "route"),
    [
        ("/v1/users/{}/export", "/v1/users/{user_id:path}/export"),
        ("/v1/sessions/{}?user_id={}", "/v1/sessions/{session_id:path}"),
        ("/nowhere/{}", "none"),
        ("/web/style.css", "files"),
    ],
)
def test_labels_hold_templates_and_no_ids(http: httpx.Client, path: str, route: str) -> None:
    before = samples(http)
    status = http.get(path.replace("{}", "kwyjibo")).status_code
    text = http.get("/metrics").text
    assert "kwyjibo" not in text
    labels = {"method": "GET", "route": route, "status": str(status)}
    assert grown(before, samples(http), "assistant_request_seconds_count", **labels) == 1


def test_a_method_of_a_callers_own_is_no_label(http: httpx.Client) -> None:
    http.request("KWYJIBO", "/health")
    assert "KWYJIBO" not in http.get("/metrics").text


def test_recorded_rounds_are_counted(http: httpx.Client, ann: str) -> None:
    before = samples(http)
    for _ in range(2):  # the second time nothing is new
        record(http, ann, "s", "I like tea.", "Noted.")
    assert grown(before, samples(http), "assistant_rounds_stored_total") == 1


def unlabelled(text: str, name: str) -> Any:
    found = re.search(rf"^{name} (\S+)$", text, re.MULTILINE)
    return found and float(found[1])


def test_without_an_extract_model_nothing_waits(http: httpx.Client) -> None:
    text = http.get("/metrics").text
    assert unlabelled(text, "assistant_enrichment_sessions_waiting") == 0
    assert unlabelled(text, "assistant_enrichment_oldest_seconds") == 0
