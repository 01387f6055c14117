"""Chat over real HTTP: replies, streams, what is stored and what is not."""

import json
from typing import Any

import httpx
import pytest
from calls import answer, chat, events, record, rounds, streamed_text
from scripted_model import PLAIN, ScriptedModel

from assistant.answering.quoting import NO_MEMORY, NOTED, UNKNOWN

COT = "chain_of_note"
IN_S = {"session_id": "s"}


def test_a_whole_reply(http: httpx.Client, ann: str) -> None:
    record(http, ann, "s1", "I ran a half marathon in Ghent.", "Well done!")
    reply = chat(http, ann, "Where did I run the half marathon?", metadata=IN_S)
    body = reply.json()
    assert "I ran a half marathon in Ghent." in answer(reply)
    assert set(body) == {"id", "object", "created", "model", "choices", "usage"}
    assert body["object"] == "chat.completion"
    assert body["model"] == "aide-memoire"
    (choice,) = body["choices"]
    assert (choice["index"], choice["finish_reason"]) == (0, "stop")
    assert choice["message"]["role"] == "assistant"
    usage = body["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert reply.headers["x-memory-session"] == "s"
    assert reply.headers["x-request-id"].startswith("req_")


@pytest.mark.parametrize("with_usage", [True, False])
def test_a_streamed_reply(
    answering: httpx.Client, model: ScriptedModel, ann: str, with_usage: bool
) -> None:
    model.on(COT).reply("NOTES: none\n", "ANSWER: Hel", "lo ", "there.")
    options = {"stream_options": {"include_usage": True}} if with_usage else {}
    reply = chat(answering, ann, "hi", stream=True, metadata=IN_S, **options)
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert reply.headers["x-memory-session"] == "s"
    *chunks, done = events(reply.text)
    assert done == "[DONE]"
    usage = chunks.pop() if with_usage else None
    noted, begun = (chunk["choices"][0]["delta"] for chunk in chunks[:2])
    assert noted == {"role": "assistant", "reasoning_content": "none\n"}
    assert begun == {"content": "Hel"}
    assert [c["choices"][0]["finish_reason"] for c in chunks] == [None, None, None, None, "stop"]
    assert {c["object"] for c in chunks} == {"chat.completion.chunk"}
    assert len({c["id"] for c in chunks}) == 1
    assert streamed_text(chunks) == "Hello there."
    if usage:
        assert usage["choices"] == []
        assert usage["usage"] == {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    assert rounds(answering, ann, "s") == [("hi", "Hello there.")]


def test_whole_and_streamed_answers_are_the_same(http: httpx.Client, ann: str) -> None:
    record(http, ann, "s", "My dentist is Dr. Maes.", "Noted.")
    ask: dict[str, Any] = {"metadata": {"memory": "read_only"}}
    whole = chat(http, ann, "Who is my dentist?", **ask)
    streamed = chat(http, ann, "Who is my dentist?", stream=True, **ask)
    assert streamed_text(events(streamed.text)) == answer(whole)


@pytest.mark.parametrize(
    ("mode", "recalls", "stores"),
    [
        ("on", True, True),
        ("read_only", True, False),
        ("write_only", False, True),
        ("off", False, False),
    ],
)
@pytest.mark.parametrize("stream", [True, False])
def test_modes_recall_and_store_what_they_say(
    answering: httpx.Client,
    model: ScriptedModel,
    ann: str,
    mode: str,
    recalls: bool,
    stores: bool,
    stream: bool,
) -> None:
    record(answering, ann, "before", "I ran in Ghent.", "Great!")
    model.on(COT if recalls else PLAIN).reply("ANSWER: Sure." if recalls else "Sure.")
    metadata = {"memory": mode, "session_id": "new"}
    chat(answering, ann, "Where did I run?", metadata=metadata, stream=stream)
    assert ("I ran in Ghent." in model.sent[0].system) is recalls
    stored = rounds(answering, ann, "new")
    assert stored == ([("Where did I run?", "Sure.")] if stores else [])


def test_what_the_conversation_shows_takes_nobodys_place(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    turns = [text for n in range(60) for text in (f"More tea, cup {n}!", "Cheers.")]
    record(answering, ann, "now", *turns)
    record(answering, ann, "before", "At a market in Oslo I once had tea with milk.", "Nice.")
    model.on(COT).reply("ANSWER: Sure.")
    roles = ("user", "assistant")
    earlier = [{"role": roles[n % 2], "content": text} for n, text in enumerate(turns)]
    chat(answering, ann, "More tea!", metadata={"session_id": "now"}, earlier=earlier)
    assert "with milk" in model.sent[0].system
    assert "cup 7" not in model.sent[0].system


def test_quotes_need_memory(http: httpx.Client, ann: str) -> None:
    assert answer(chat(http, ann, "hi", model="aide-memoire-nomem")) == NO_MEMORY
    assert answer(chat(http, ann, "What is my name?")) == UNKNOWN


@pytest.mark.parametrize(
    ("text", "noted"),
    [("I live in Ghent.", "Kept: “I live in Ghent”"), ("Where do I live?", NOTED)],
)
def test_what_is_only_written_is_noted(http: httpx.Client, ann: str, text: str, noted: str) -> None:
    metadata = {"memory": "write_only", "session_id": "s"}
    assert answer(chat(http, ann, text, metadata=metadata)) == noted
    assert rounds(http, ann, "s") == [(text, NOTED)]


def test_a_retry_and_a_regeneration_overwrite(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    script = model.on(COT)
    for reply in ("One.", "Two.", "Three.", "Four."):
        script.reply(f"ANSWER: {reply}")
    chat(answering, ann, "hi", metadata=IN_S)
    chat(answering, ann, "hi", metadata=IN_S)
    assert rounds(answering, ann, "s") == [("hi", "Two.")]
    earlier = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Two."}]
    chat(answering, ann, "go on", earlier=earlier, metadata=IN_S)
    chat(answering, ann, "hi", metadata=IN_S | {"timestamp": "2023-06-11"})
    stored = rounds(answering, ann, "s")
    assert stored == [("hi", "Two."), ("go on", "Three."), ("hi", "Four.")]


def test_the_same_words_again_and_again_are_rounds_of_their_own(
    http: httpx.Client, ann: str
) -> None:
    earlier: list[dict[str, str]] = []
    for _ in range(4):
        said = answer(chat(http, ann, "Tell me more.", earlier=earlier, metadata=IN_S))
        earlier += [
            {"role": "user", "content": "Tell me more."},
            {"role": "assistant", "content": said},
        ]
    assert [user for user, _ in rounds(http, ann, "s")] == ["Tell me more."] * 4
    chat(http, ann, "Tell me more.", earlier=earlier[:-2], metadata=IN_S)
    assert len(rounds(http, ann, "s")) == 4


def test_an_idempotency_key_names_a_round(http: httpx.Client, ann: str) -> None:
    for key in ("k1", "k2", "k1"):
        http.headers["Idempotency-Key"] = key
        try:
            chat(http, ann, "Tell me more.", metadata=IN_S)
        finally:
            del http.headers["Idempotency-Key"]
    assert len(rounds(http, ann, "s")) == 2


def test_a_timed_retry_is_one_round(http: httpx.Client, ann: str) -> None:
    timed = IN_S | {"timestamp": "2023-05-20T10:00:00Z"}
    for _ in range(3):
        chat(http, ann, "I like tea.", metadata=timed)
    assert len(rounds(http, ann, "s")) == 1


def test_an_emoji_cut_in_two_is_no_failure(http: httpx.Client, ann: str) -> None:
    headers = {"Content-Type": "application/json"}
    sent = (
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": "Tea \ud83d"}]}),
        ("/v1/responses", {"input": "Cake \ud83d"}),
    )
    for path, body in sent:
        metadata = {"user_id": ann, "session_id": path, "note": "\ud83d"}
        content = json.dumps(body | {"metadata": metadata})
        reply = http.post(path, content=content, headers=headers)
        assert reply.status_code == 200, reply.text
    assert sorted(rounds(http, ann, path)[0][0] for path, _ in sent) == [
        "Cake \ufffd",
        "Tea \ufffd",
    ]


def test_only_the_new_round_is_stored(http: httpx.Client, ann: str) -> None:
    earlier = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": "an old message"},
        {"role": "assistant", "content": "an old answer"},
    ]
    chat(http, ann, "a new message", earlier=earlier, metadata=IN_S)
    assert [user for user, _ in rounds(http, ann, "s")] == ["a new message"]


def test_rounds_of_this_conversation_are_not_recalled_twice(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    record(answering, ann, "s", "I ran in Ghent.", "Great!")
    record(answering, ann, "other", "I ran in Bruges.", "Great!")
    model.on(COT).reply("ANSWER: ok")
    earlier = [{"role": "user", "content": "I ran in Ghent."}]
    chat(answering, ann, "Where did I run?", earlier=earlier, metadata=IN_S)
    assert "Bruges" in model.sent[0].system
    assert "Ghent" not in model.sent[0].system


def test_without_a_model_rounds_of_this_conversation_are_quoted_too(
    http: httpx.Client, ann: str
) -> None:
    said = chat(http, ann, "I adopted a cat called Miso.", metadata=IN_S).json()["choices"][0][
        "message"
    ]
    earlier = [{"role": "user", "content": "I adopted a cat called Miso."}, said]
    reply = chat(http, ann, "What is my cat called?", earlier=earlier, metadata=IN_S).json()
    assert "“I adopted a cat called Miso.”" in reply["choices"][0]["message"]["content"]


def test_the_trace_of_an_answer(answering: httpx.Client, model: ScriptedModel, ann: str) -> None:
    done = record(answering, ann, "s1", "I ran in Ghent.", "Great!").json()
    model.on(COT).reply("NOTES: ran in Ghent\nANSWER: In Ghent.").reply("ANSWER: In Ghent.")
    asking: dict[str, Any] = {
        "metadata": {"memory_debug": "1", "session_id": "s2", "timestamp": "2023/05/21 (Sun) 10:00"}
    }
    memory = chat(answering, ann, "Where did I run?", **asking).json()["memory"]
    (value,) = memory["data"]
    assert value["id"] == done["rounds"][0]["id"] == memory["read"][0]
    assert value["session_date"] == "2023-05-20T10:00:00Z"
    assert memory["notes"] == "NOTES: ran in Ghent"
    assert (memory["mode"], memory["now"]) == ("on", "2023-05-21T10:00:00Z")
    assert (memory["time_range"], memory["dropped"]) == (None, [])
    assert set(memory["timings"]) == {"recall_ms", "read_ms", "store_ms"}
    *_, last, _ = events(chat(answering, ann, "Where did I run?", stream=True, **asking).text)
    assert last["memory"]["round_id"] == memory["round_id"]
    assert last["choices"][0]["finish_reason"] == "stop"


def test_without_asking_there_is_no_trace(http: httpx.Client, ann: str) -> None:
    assert "memory" not in chat(http, ann, "hi", metadata={"memory_debug": "0"}).json()


def test_a_very_long_message_is_answered_and_stored_whole(http: httpx.Client, ann: str) -> None:
    long = " " * 3000 + "I like tea. " * 20_000
    answer(chat(http, ann, long, metadata=IN_S))
    assert rounds(http, ann, "s")[0][0] == long


def _traced(http: httpx.Client, user_id: str, text: str, day: str) -> Any:
    metadata = {**IN_S, "memory_debug": "1", "timestamp": f"{day}T10:00:00Z"}
    return chat(http, user_id, text, metadata=metadata).json()["memory"]


def test_the_trace_says_what_was_kept_of_what_was_told(http: httpx.Client, ann: str) -> None:
    older = _traced(http, ann, "I live in Ghent.", "2026-02-02")
    assert (older["outcome"], [one["text"] for one in older["kept"]]) == (
        "kept",
        ["I live in Ghent."],
    )
    memory = _traced(http, ann, "I moved to Bruges on 4 March 2026.", "2026-03-06")
    (one,) = memory["kept"]
    assert (memory["outcome"], one["text"]) == ("kept", "I moved to Bruges on 4 March 2026.")
    assert one["days"] == [{"first": "2026-03-04", "last": "2026-03-04"}]
    (replaced,) = one["replaces"]
    assert (replaced["id"], replaced["text"]) == (older["round_id"], "I live in Ghent.")
    assert replaced["said_at"] == "2026-02-02T10:00:00Z"


@pytest.mark.parametrize(
    ("text", "outcome", "is_stored"),
    [
        ("Hello!", "polite", True),
        ("Tell me a joke.", "polite", True),
        ("Where do I live?", "unknown", True),
        ("Don't remember this: I like beer.", "refused", False),
    ],
)
def test_nothing_is_kept_of_what_tells_nothing(
    http: httpx.Client, ann: str, text: str, outcome: str, is_stored: bool
) -> None:
    memory = _traced(http, ann, text, "2026-03-06")
    assert (memory["outcome"], memory["kept"]) == (outcome, [])
    assert (memory["round_id"] is not None) is is_stored


def test_a_message_that_tells_and_asks_says_what_was_kept(http: httpx.Client, ann: str) -> None:
    memory = _traced(http, ann, "I moved to Lyon, where can I swim?", "2026-03-06")
    assert [one["text"] for one in memory["kept"]] == ["I moved to Lyon"]


def test_with_a_model_the_trace_says_what_was_kept_or_refused(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    model.on(COT).reply("ANSWER: Nice.").reply("ANSWER: Once.")
    model.on(PLAIN).reply("Fine.")
    memory = _traced(answering, ann, "I live in Ghent.", "2026-03-06")
    assert (memory["outcome"], len(memory["kept"])) == ("answered", 1)
    memory = _traced(answering, ann, "Tell me a joke.", "2026-03-06")
    assert (memory["outcome"], memory["kept"]) == ("answered", [])
    memory = _traced(answering, ann, "Don't remember this: I like beer.", "2026-03-06")
    assert (memory["outcome"], memory["round_id"]) == ("refused", None)
