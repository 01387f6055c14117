"""Misspelt keys of `metadata` are refused; those of the caller's own are not."""

import httpx
import pytest
from calls import chat, sessions

from assistant.api.chat import KEYS, check_keys
from assistant.errors import InvalidRequest


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("userid", "user_id"),
        ("userId", "user_id"),
        ("User-ID", "user_id"),
        ("user", "user_id"),
        ("usr_id", "user_id"),
        ("session", "session_id"),
        ("sesion_id", "session_id"),
        ("sessoin_id", "session_id"),
        ("time_stamp", "timestamp"),
        ("memroy", "memory"),
        ("asof", "as_of"),
        ("FROM", "from"),
        ("questoin", "question"),
        ("memory-debug", "memory_debug"),
    ],
)
def test_a_misspelt_key_is_refused_by_name(given: str, meant: str) -> None:
    with pytest.raises(InvalidRequest, match=f"no key '{given}': did you mean '{meant}'"):
        check_keys([given])


@pytest.mark.parametrize(
    "own",
    [
        *KEYS,
        # What front ends, proxies and tracing send, and callers make up.
        *("chat_id", "message_id", "conversation_id", "conversationId", "parentMessageId"),
        *("thread_id", "run_id", "trace_id", "trace_name", "trace_user_id", "generation_name"),
        *("user_api_key", "user_api_key_user_id", "user_name", "username", "user_email", "user_ip"),
        *("tags", "topic", "source", "form", "top", "tool", "time", "date", "model", "headers"),
        *("question_id", "question_date", "request_id", "team_id", "version", "mode", "features"),
        *("requester_ip_address", "ls_provider", "", "x" * 10_000),
    ],
)
def test_other_keys_are_the_callers_own(own: str) -> None:
    check_keys([own])


@pytest.mark.parametrize("route", ["/v1/chat/completions", "/v1/responses"])
def test_nothing_of_a_refused_message_is_kept(http: httpx.Client, route: str) -> None:
    said = "I moved to Ghent."
    body = {"metadata": {"userid": "ann"}, "input": said}
    body["messages"] = [{"role": "user", "content": said}]
    refused = http.post(route, json=body)
    error = refused.json()["error"]
    assert (refused.status_code, error["code"], error["param"]) == (
        400,
        "unknown_metadata_key",
        "metadata",
    )
    assert "'user_id'" in error["message"]
    assert sessions(http, "default") == {}


@pytest.mark.parametrize("route", ["/v1/chat/completions", "/v1/responses"])
@pytest.mark.parametrize("key", ["as_of", "where", "memory", "expires_in"])
def test_our_key_beside_the_messages_is_refused(http: httpx.Client, route: str, key: str) -> None:
    said = "Where did I live?"
    body = {key: "2024-01-01", "input": said, "messages": [{"role": "user", "content": said}]}
    error = http.post(route, json=body).json()["error"]
    assert (error["code"], error["param"]) == ("unknown_metadata_key", key)
    assert f"metadata.{key}" in error["message"]


def test_a_callers_own_data_is_let_through(http: httpx.Client, ann: str) -> None:
    reply = chat(http, ann, "I moved to Ghent.", metadata={"chat_id": "7", "tags": ["a"]})
    assert reply.status_code == 200
