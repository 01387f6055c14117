"""Prompts in a folder, and the replies to them: what is read, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.errors import DatasetError, RunMismatch, UsageError
from harness.judges.openai_chat import ModelReply
from harness.lab.handout import PromptFolder, Replies, exchange, prompt_text, read_replies


def body(*texts: str) -> dict[str, Any]:
    roles = ("system", "user", "assistant")
    messages = [{"role": r, "content": t} for r, t in zip(roles, texts, strict=False)]
    return {"model": "m", "messages": messages}


@pytest.fixture
def folder(tmp_path: Path) -> PromptFolder:
    folder = PromptFolder(tmp_path / "prompts")
    folder.create()
    folder.put("p2", body("Be brief.", "Which boat?"))
    folder.put("p1", body("Which tent?"))
    return folder


def batched(name: str, **changes: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": "A kayak."}
    completion = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": None}
    response = {"status_code": 200, "body": completion} | changes.pop("response", {})
    return {"id": "b", "custom_id": name, "response": response, "error": None} | changes


def write(path: Path, *lines: object) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_a_settled_folder_is_sorted_by_id_and_lists_its_prompts(folder: PromptFolder) -> None:
    assert folder.settle() == 2
    batch = [json.loads(line) for line in (folder.path / "batch.jsonl").read_text().splitlines()]
    index = [json.loads(line) for line in (folder.path / "index.jsonl").read_text().splitlines()]
    assert [line["custom_id"] for line in batch] == [line["id"] for line in index] == ["p1", "p2"]
    assert batch[0] == {
        "custom_id": "p1",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": body("Which tent?"),
    }
    for line in index:
        assert len((folder.path / line["prompt"]).read_text()) == line["characters"]


def test_a_prompt_of_several_messages_names_their_roles() -> None:
    assert prompt_text(body("Which tent?")) == "Which tent?\n"
    text = prompt_text(body("Be brief.", "Which boat?"))
    assert text == "=== system ===\n\nBe brief.\n\n=== user ===\n\nWhich boat?\n"


def test_a_half_written_line_is_no_prompt(folder: PromptFolder) -> None:
    with (folder.path / "batch.jsonl").open("a") as file:
        file.write('{"custom_id": "p3", "bo')
    again = PromptFolder(folder.path)
    assert again.ids == {"p1", "p2"}
    again.put("p3", body("Which cat?"))
    assert again.ids == {"p1", "p2", "p3"}


def test_prompts_of_another_run_are_refused(folder: PromptFolder) -> None:
    folder.require_only({"p1", "p2", "p3"})
    with pytest.raises(RunMismatch, match="1 prompts of another run"):
        folder.require_only({"p1"})


def test_a_folder_without_prompts_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no prompts were exported"):
        read_replies(PromptFolder(tmp_path))


def test_text_files_are_replies_by_their_names(folder: PromptFolder) -> None:
    replies = folder.path / "replies"
    (replies / "p1.txt").write_text("")
    (replies / "p2.txt").write_bytes("\ufeffA kayak.\r\nGreen.\r\n".encode())
    (replies / ".DS_Store").write_bytes(b"\x00")
    found = read_replies(folder).by_id
    assert found == {"p1": ModelReply(""), "p2": ModelReply("A kayak.\nGreen.")}


def test_no_replies_yet_are_none(folder: PromptFolder, tmp_path: Path) -> None:
    (folder.path / "replies").rmdir()
    assert not read_replies(folder).by_id
    with pytest.raises(DatasetError, match="there is no such file or folder"):
        read_replies(folder, [tmp_path / "nowhere"])


def test_lines_are_replies_too(folder: PromptFolder, tmp_path: Path) -> None:
    plain = write(tmp_path / "a.jsonl", {"id": "p1", "reply": "A tent."})
    usage = {"usage": {"prompt_tokens": 7, "completion_tokens": 2}}
    whole = batched("p2")
    whole["response"]["body"] |= usage
    found = read_replies(folder, [plain, write(tmp_path / "b.jsonl", whole)]).by_id
    assert found == {"p1": ModelReply("A tent."), "p2": ModelReply("A kayak.", "stop", 7, 2)}


@pytest.mark.parametrize(
    "changes",
    [
        {"error": {"code": "batch_expired", "message": "too late"}, "response": None},
        {"response": {"status_code": 429, "body": {"error": {"message": "too late"}}}},
    ],
)
def test_what_a_batch_could_not_answer_stays_missing_and_says_why(
    folder: PromptFolder, tmp_path: Path, changes: dict[str, Any]
) -> None:
    line = batched("p1") | changes
    if changes["response"]:
        line["response"] = changes["response"]
    replies = read_replies(folder, [write(tmp_path / "errors.jsonl", line)])
    assert (dict(replies.by_id), dict(replies.failed)) == ({}, {"p1": "too late"})
    retried = write(tmp_path / "again.jsonl", batched("p1"))
    replies = read_replies(folder, [tmp_path / "errors.jsonl", retried])
    assert (set(replies.by_id), dict(replies.failed)) == ({"p1"}, {})


def test_the_same_reply_twice_is_one(folder: PromptFolder, tmp_path: Path) -> None:
    twice = write(tmp_path / "a.jsonl", batched("p1"), {"id": "p1", "reply": "A kayak."})
    assert set(read_replies(folder, [twice]).by_id) == {"p1"}


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ([{"id": "p9", "reply": "x"}], "holds no prompt 'p9'"),
        ([{"id": "p1", "reply": "x"}, {"id": "p1", "reply": "y"}], "another reply to prompt 'p1'"),
        ([{"reply": "x"}], "record 0: names no prompt: expected custom_id or id"),
        ([{"id": "p1"}], "record 0: no reply: expected text under reply or text"),
        ([{"id": "p1", "response": {"body": {"choices": []}}}], "holds no chat completion"),
        ([{"id": "p1", "response": {"body": {"choices": [3]}}}], "holds no chat completion"),
        ([{"id": "p1", "response": "x"}], "holds no chat completion"),
    ],
)
def test_a_line_that_cannot_be_a_reply_is_refused(
    folder: PromptFolder, tmp_path: Path, lines: list[object], complaint: str
) -> None:
    with pytest.raises(DatasetError, match=complaint):
        read_replies(folder, [write(tmp_path / "a.jsonl", *lines)])


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("p9.txt", b"x", "holds no prompt 'p9'"),
        ("p1.docx", b"x", "not a file of replies"),
        ("p1.txt", b"\xff", "cannot be read as UTF-8 text"),
    ],
)
def test_a_file_that_cannot_be_a_reply_is_refused(
    folder: PromptFolder, name: str, content: bytes, complaint: str
) -> None:
    (folder.path / "replies" / name).write_bytes(content)
    with pytest.raises(DatasetError, match=complaint):
        read_replies(folder)


def test_calls_of_tools_are_read_in_either_shape(folder: PromptFolder, tmp_path: Path) -> None:
    by_hand = {"tool_calls": [{"name": "find_words", "arguments": {"text": "tent"}}]}
    (folder.path / "replies/p1.txt").write_text(json.dumps(by_hand))
    line = batched("p2")
    function = {"name": "find_words", "arguments": '{"text": "tent"}'}
    call = {"id": "call_7", "type": "function", "function": function}
    line["response"]["body"]["choices"][0]["message"] = {"content": "Wait.", "tool_calls": [call]}
    replies = read_replies(folder, [folder.path / "replies", write(tmp_path / "b.jsonl", line)])
    one, other = (exchange(name, replies) for name in ("p1", "p2"))
    assert (one.prompts, one.answer, one.looks) == (["p1", "p1-2"], None, 1)
    (by_hand_call,) = one.calls[0]["tool_calls"]
    assert by_hand_call["function"] == function
    assert other.calls == [{"content": "Wait.", "tool_calls": [call | {"index": 0}]}]


def test_tokens_of_all_replies_count_where_all_are_known() -> None:
    call = json.dumps({"tool_calls": [{"name": "list_sessions"}]})
    known = {"p": ModelReply(call, "stop", 7, 2), "p-2": ModelReply("A tent.", "stop", 9, 3)}
    found = exchange("p", Replies(known))
    assert found.answer == known["p-2"]
    assert (found.prompt_tokens, found.completion_tokens, found.looks) == (16, 5, 1)
    unknown = exchange("p", Replies(known | {"p-2": ModelReply("A tent.")}))
    assert unknown.prompt_tokens is None


@pytest.mark.parametrize(
    "text",
    ["", "A tent.", "[]", "{}", '{"tool_calls": []}', '{"tool_calls": [3]}', '{"tool_calls": 3}'],
)
def test_what_calls_no_tool_is_an_answer(text: str) -> None:
    found = exchange("p", Replies({"p": ModelReply(text)}))
    assert (found.prompts, found.answer) == (["p"], ModelReply(text))


def test_tools_that_may_be_called_and_those_that_were_stand_in_the_text() -> None:
    call = {"function": {"name": "find_words", "arguments": '{"text": "tent"}'}}
    asked = [{"role": "user", "content": "Which?"}, {"role": "assistant", "tool_calls": [call]}]
    body = {"messages": [asked[0], asked[1] | {"content": None}]}
    tools = {"tools": [{"type": "function", "function": {"name": "find_words"}}]}
    shown = prompt_text(body | tools)
    assert 'find_words {"text": "tent"}' in shown
    assert shown.endswith('=== tools ===\n\n{"name": "find_words"}\n')
    assert "tools" not in prompt_text(body | tools | {"tool_choice": "none"})
