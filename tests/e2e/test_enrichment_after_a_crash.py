"""Killed in the middle of 200 rounds that wait for extraction: each is done once after all."""

import time
from collections.abc import Iterator
from signal import SIGKILL
from typing import Any

import httpx
import pytest
from commands import Server
from extractions import extraction, fact, session
from scripted_model import Reply, ScriptedModel, Sent, scripted_model

SESSIONS, ROUNDS = 20, 10


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with scripted_model() as running:
        yield running


def extract(sent: Sent) -> Reply:
    """One fact a round that repeats its number; nothing of use for the poisoned one."""
    if any("poison" in one["user"] for one in session(sent)["rounds"]):
        return Reply(("I cannot read that.",))

    def find(one: Any, shown: Any) -> list[Any]:
        return [fact(f"Fact of: {one['user']}")]

    return Reply((extraction(sent, find),), delay=0.1)


def settings(model: ScriptedModel) -> dict[str, str]:
    return {
        "ASSISTANT_EXTRACT_MODEL": "openai/fake",
        "ASSISTANT_EXTRACT_MODEL_BASE_URL": model.url,
        "ASSISTANT_EXTRACT_MODEL_API_KEY": "k",
        "ASSISTANT_ENRICHMENT__IDLE_SECONDS": "1",
        "ASSISTANT_ENRICHMENT__ATTEMPTS": "2",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }


def text(number: int, index: int) -> str:
    return (
        "This is poison."
        if (number, index) == (7, 3)
        else f"I say that it is {number} and {index}."
    )


def tell(client: httpx.Client) -> None:
    for number in range(SESSIONS):
        said = [
            {"role": role, "content": text(number, index) if role == "user" else "Ok."}
            for index in range(ROUNDS)
            for role in ("user", "assistant")
        ]
        day = f"2023-05-{number + 1:02}T10:00:00Z"
        body = {"user_id": f"ann{number % 4}", "timestamp": day, "messages": said}
        client.post(f"/v1/sessions/s{number}/messages", json=body).raise_for_status()


def states(client: httpx.Client) -> dict[str, int]:
    counts = {"pending": 0, "done": 0, "failed": 0}
    for user in range(4):
        listed = client.get("/v1/sessions", params={"user_id": f"ann{user}"}).json()["data"]
        for one in listed:
            for state, count in one["enrichment"].items():
                counts[state] += count
    return counts


@pytest.mark.slow
def test_every_round_is_done_exactly_once_in_effect(server: Server, model: ScriptedModel) -> None:
    server.end()
    model.on("extract_facts").always(extract)
    server.start(**settings(model))
    with httpx.Client(base_url=server.url, timeout=60) as client:
        tell(client)
        deadline = time.monotonic() + 120
        while not 20 <= states(client)["done"] < 180:
            assert time.monotonic() < deadline
            time.sleep(0.05)
    server.end(SIGKILL)

    server.start(**settings(model))
    with httpx.Client(base_url=server.url, timeout=60) as client:
        assert sum(states(client).values()) == 200
        deadline = time.monotonic() + 240
        while states(client) != {"pending": 0, "done": 199, "failed": 1}:
            assert time.monotonic() < deadline, states(client)
            time.sleep(0.2)
        for number in range(SESSIONS):
            params = {"user_id": f"ann{number % 4}"}
            body = client.get(f"/v1/sessions/s{number}", params=params).json()
            assert len(body["data"]) == ROUNDS
            for index, value in enumerate(body["data"]):
                said = text(number, index)
                expected = [] if "poison" in said else [said, f"Fact of: {said}"]
                assert [one["text"] for one in value["facts"]] == expected
        (failure,) = client.get("/v1/sessions/s7", params={"user_id": "ann3"}).json()["failures"]
        assert (failure["round_index"], failure["attempts"]) == (3, 2)
        assert failure["reason"].startswith("bad_model_reply: ")
