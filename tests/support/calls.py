"""The calls of the HTTP API that tests make often, and the pieces of what comes back."""

import json
from collections.abc import Sequence
from typing import Any

import httpx


def chat(client: httpx.Client, user_id: str, text: str, **changed: Any) -> httpx.Response:
    """`POST /v1/chat/completions`; `metadata` is added to the user, `earlier` goes before."""
    metadata = {"user_id": user_id, **changed.pop("metadata", {})}
    messages = [*changed.pop("earlier", []), {"role": "user", "content": text}]
    body = {"metadata": metadata, "messages": messages} | changed
    return client.post("/v1/chat/completions", json=body)


def record(
    client: httpx.Client, user_id: str, session_id: str, *said: str, **changed: Any
) -> httpx.Response:
    """`POST /v1/sessions/{id}/messages`, the user and the assistant by turns."""
    roles = ("user", "assistant")
    messages = [{"role": roles[i % 2], "content": text} for i, text in enumerate(said)]
    common = {"user_id": user_id, "timestamp": "2023-05-20T10:00:00Z", "messages": messages}
    return client.post(f"/v1/sessions/{session_id}/messages", json=common | changed)


def sessions(client: httpx.Client, user_id: str) -> dict[str, list[tuple[str, str]]]:
    """Everything kept of a user: both sides of each round, by session."""
    listed = client.get("/v1/sessions", params={"user_id": user_id}).json()["data"]
    return {one["id"]: rounds(client, user_id, one["id"]) for one in listed}


def rounds(client: httpx.Client, user_id: str, session_id: str) -> list[tuple[str, str]]:
    """Both sides of each round of a session; empty when there is none."""
    reply = client.get(f"/v1/sessions/{session_id}", params={"user_id": user_id})
    return [(one["user_text"], one["assistant_text"]) for one in reply.json().get("data", [])]


def answer(reply: httpx.Response) -> str:
    """The text of a whole chat reply."""
    assert reply.status_code == 200, reply.text
    return str(reply.json()["choices"][0]["message"]["content"])


def events(text: str) -> list[Any]:
    """The events of a stream: JSON, and `[DONE]` as it is."""
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line[:6] == "data: "]
    return [line if line == "[DONE]" else json.loads(line) for line in lines]


def streamed_text(chunks: Sequence[Any]) -> str:
    """The text that chunks carry."""
    choices = [choice for chunk in chunks if chunk != "[DONE]" for choice in chunk["choices"]]
    return "".join(choice["delta"].get("content") or "" for choice in choices)


def assert_error(reply: httpx.Response, status: int, kind: str, code: str) -> dict[str, Any]:
    """An error in OpenAI's shape, exactly; its inside."""
    assert reply.status_code == status, reply.text
    body = reply.json()
    assert list(body) == ["error"]
    error: dict[str, Any] = body["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert (error["type"], error["code"]) == (kind, code), error
    assert error["message"]
    assert reply.headers["x-request-id"]
    return error
