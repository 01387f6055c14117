"""Front ends: whom their headers name, and what they ask for themselves."""

import httpx
import pytest
from calls import answer, assert_error, chat, record, rounds, sessions
from scripted_model import PLAIN, ScriptedModel

from assistant.api.front_ends import is_task

TITLE = (
    "### Task:\nMake a title of 3-5 words.\n"
    "### Chat History:\n<chat_history>\nUSER: I swam in Ostend.\n"
)


@pytest.mark.parametrize(
    ("headers", "text", "task"),
    [
        ({}, TITLE, True),
        ({}, f"\n  {TITLE}", True),
        ({}, "### Task:\nSuggest tags.\n<chat_history>x</chat_history>", True),
        ({}, "Provide a concise, 5-word-or-less title for the conversation, with no quotes.", True),
        ({}, "Please generate a short five word title for this chat:\nUser: hi", True),
        ({}, "Please generate a title (max 30 letters) for a chat that starts with: hi", True),
        ({}, "Analyze this conversation and provide:\n1. Its language\n2. A title of it", True),
        ({}, "Detect user language and write in it a short title for this conversation.", True),
        ({}, '||>User:\n"hi"\n||>Response:\n"hello"', True),
        ({}, "Analyze this conversation and provide: a summary of what we said.", False),
        ({"x-memory-task": "title_generation"}, "anything", True),
        ({"x-openwebui-task": "tags_generation"}, "anything", True),
        ({"x-memory-task": "{{TASK}}"}, "I ran in Ghent.", False),
        ({"x-memory-task": "{{TASK}}"}, TITLE, True),
        ({"x-memory-task": ""}, "I ran in Ghent.", False),
        ({"x-memory-task": "none"}, TITLE, False),
        ({}, "### Task: water the plants", False),
        ({}, "Write a title for my novel.", False),
        ({}, "I read a 5-word title of a conversation.", False),
        ({}, "", False),
    ],
)
def test_what_is_a_task(headers: dict[str, str], text: str, task: bool) -> None:
    assert is_task(headers, text) is task


def post(http: httpx.Client, text: str, **headers: str) -> httpx.Response:
    body = {"messages": [{"role": "user", "content": text}]}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return http.post("/v1/chat/completions", json=body, headers=named)


def test_the_users_and_chats_of_front_ends(http: httpx.Client, ann: str) -> None:
    post(http, "I ran.", X_OpenWebUI_User_Id=ann, X_OpenWebUI_Chat_Id="chat-1")
    post(http, "I swam.", x_litellm_end_user_id=ann, x_litellm_session_id="chat-2")
    # Ours come first.
    post(http, "I sang.", X_OpenWebUI_User_Id="x", X_Memory_User=ann, X_Memory_Session="chat-3")
    post(http, "I slept.", X_OpenWebUI_User_Id="{{USER_ID}}", X_Memory_User=ann)
    unfilled = {"X_Memory_Mode": "{{MODE}}", "X_Memory_Timestamp": "{{CURRENT_DATETIME}}"}
    post(http, "I woke.", X_Memory_User="{{USER_ID}}", X_OpenWebUI_User_Id=ann, **unfilled)
    post(http, "I ate.", X_Memory_User=ann, X_Memory_Session="{{CONVERSATION}}")
    assert not sessions(http, "{{USER_ID}}")
    kept = sessions(http, ann)
    assert not any("{{" in session_id for session_id in kept)
    assert [kept[f"chat-{n}"][0][0] for n in (1, 2, 3)] == ["I ran.", "I swam.", "I sang."]
    assert len(kept) == 6


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_a_user_in_a_header_is_the_one_in_a_body(
    http: httpx.Client, ann: str, encoding: str
) -> None:
    zoe = f"Zoë of {ann}"
    body = {"messages": [{"role": "user", "content": "I ran."}]}
    headers = {b"X-Memory-User": zoe.encode(encoding), b"X-Memory-Session": "été".encode(encoding)}
    assert http.post("/v1/chat/completions", json=body, headers=headers).status_code == 200
    assert list(sessions(http, zoe)) == ["été"]


def test_a_title_is_neither_recalled_for_nor_kept(http: httpx.Client, ann: str) -> None:
    record(http, ann, "s", "I ran in Ghent.")
    title = chat(http, ann, TITLE, metadata={"session_id": "s"})
    assert answer(title) == "I swam in Ostend"
    nomem = chat(http, ann, TITLE, metadata={"session_id": "s"}, model="aide-memoire-nomem")
    assert answer(nomem) == "I swam in Ostend"
    tags = 'Which tags, as { "tags": ["one"] }?'
    named = {"X_Memory_User": ann, "X_Memory_Session": "s"}
    assert answer(post(http, tags, **named, X_Memory_Task="tags")) == '{"tags": []}'
    assert rounds(http, ann, "s") == [("I ran in Ghent.", "")]
    kept = chat(http, ann, TITLE, metadata={"session_id": "s", "memory": "on"})
    assert kept.status_code == 200
    assert len(rounds(http, ann, "s")) == 2


def test_a_title_may_be_asked_for_in_a_system_message_alone(
    http: httpx.Client, answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    asked = 'Please generate a 5-word-or-less title for the conversation.\n||>User:\n"I swam."'
    body = {"messages": [{"role": "system", "content": asked}], "user": ann}
    assert answer(http.post("/v1/chat/completions", json=body)) == "I swam"
    model.on(PLAIN, lambda sent: sent.last == asked).reply("Swimming")
    assert answer(answering.post("/v1/chat/completions", json=body)) == "Swimming"
    assert sessions(http, ann) == sessions(answering, ann) == {}
    body["messages"] = [{"role": "system", "content": "Be brief."}]
    refused = http.post("/v1/chat/completions", json=body)
    assert_error(refused, 400, "invalid_request_error", "invalid_value")


def test_a_stateless_client_stores_only_what_is_new(http: httpx.Client, ann: str) -> None:
    said: list[dict[str, str]] = []
    for text in ("I ran in Ghent.", "I swam in Ostend.", "I sang in Bruges."):
        reply = answer(chat(http, ann, text, earlier=said))
        said += [{"role": "user", "content": text}, {"role": "assistant", "content": reply}]
    expected = [("I ran in Ghent.", "Noted."), ("I swam in Ostend.", "Noted.")]
    assert list(sessions(http, ann).values()) == [[*expected, ("I sang in Bruges.", "Noted.")]]
    chat(http, ann, "I sang in Bruges.", earlier=said[:-2])  # made again
    assert [len(kept) for kept in sessions(http, ann).values()] == [3]


def test_unknown_fields_are_ignored(http: httpx.Client, ann: str) -> None:
    more = {"n": 1, "max_tokens": 5, "tools": [], "chat_id": "x", "variables": {"a": 1}}
    assert answer(chat(http, ann, "I ran.", **more)) == "Kept: “I ran”"
