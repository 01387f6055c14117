"""A model that looks into memory again: what it is offered, what it gets, what leaves."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from calls import answer, chat, events, record, streamed_text
from pydantic import SecretStr
from scripted_model import ScriptedModel
from served import served
from tool_calling import calls, looks

from assistant import Settings, create_app

DIRECT = "direct"
OURS = ["search_memory", "list_sessions", "read_session", "find_words", "history_of"]
WEATHER = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}


def looking(folder: Path, model: ScriptedModel, *, rounds: int = 0, **more: int) -> Settings:
    """An assistant whose model answers directly, and may search memory itself."""
    return Settings(
        embedder="hash",
        data_dir=folder,
        chat_model="openai/fake",
        chat_model_base_url=model.url,
        chat_model_api_key=SecretStr("k"),
        chat_model_retries=0,
        recall={"rounds": rounds},
        reading={"mode": "direct", "look_again": "on"} | more,
    )


@pytest.fixture(scope="module")
def looking_url(
    tmp_path_factory: pytest.TempPathFactory, _model_server: ScriptedModel
) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("looking")
    settings = looking(folder, _model_server, rounds=1, look_calls=3)
    with served(create_app(settings)) as url:
        yield url


@pytest.fixture
def client(looking_url: str, model: ScriptedModel, ann: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=looking_url, timeout=60) as client:
        for day, said in enumerate(
            ("I adopted a cat called Miso.", "Miso hates the vet.", "I live in Ghent now."), 1
        ):
            record(client, ann, f"s{day}", said, "Noted!", timestamp=f"2023-05-0{day}T10:00:00Z")
        yield client


def results(model: ScriptedModel, request: int) -> list[str]:
    """What the tools returned, as a request has it."""
    messages = model.sent[request].body["messages"]
    return [str(one["content"]) for one in messages if one["role"] == "tool"]


def trace(reply: httpx.Response) -> dict[str, Any]:
    return dict(reply.json()["memory"])


def test_it_searches_and_only_the_answer_leaves(
    client: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    model.on(DIRECT).chunks(*looks(("search_memory", {"query": "vet"}), text="Let me look.")).reply(
        "Miso hates", " it."
    )
    reply = chat(client, ann, "Where do I live?", metadata={"memory_debug": "1"})
    assert answer(reply) == "Miso hates it."
    assert [tool["function"]["name"] for tool in model.sent[0].body["tools"]] == OURS
    (found,) = results(model, 1)
    assert "Miso hates the vet." in found
    (look,) = trace(reply)["looks"]
    assert (look["tool"], look["asked"]) == ("search_memory", "vet")
    assert look["found"]
    assert set(look["found"]) <= set(trace(reply)["read"])
    assert look["tokens"] > 0
    assert trace(reply)["timings"]["looking_ms"] > 0


def test_no_round_is_shown_twice(client: httpx.Client, model: ScriptedModel, ann: str) -> None:
    everything = ("find_words", {"text": "Miso"})
    model.on(DIRECT).chunks(*looks(everything)).chunks(*looks(everything)).reply("Done.")
    chat(client, ann, "What does Miso hate?")
    first, again = results(model, 2)
    shown = [text for text in (model.sent[0].system, first) if "Miso hates the vet." in text]
    assert len(shown) == 1
    assert json.loads(again) == {"found": 2, "shown": 0, "shown_before": 2}


def test_a_mark_that_is_found_is_explained_once(
    client: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    for n, said in enumerate(("Miso climbed a tree yesterday.", "Miso slept all of last week.")):
        record(client, ann, f"d{n}", said, "Oh!", timestamp="2023-05-09T10:00:00Z")
    wanted = [("find_words", {"text": word}) for word in ("tree", "slept", "hates")]
    model.on(DIRECT).chunks(*looks(*wanted)).reply("Done.")
    chat(client, ann, "Where do I live?")
    heads = [json.loads(found.split("\n")[0]) for found in results(model, 1)]
    assert ['"days" gives' in head.get("marks", "") for head in heads] == [True, False, False]
    assert '"days" gives' not in model.sent[0].system


def test_words_are_found_in_what_the_user_wrote_and_others_are_counted(
    client: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    record(
        client, ann, "plan", "Where shall we go?", "To Bruges?", timestamp="2023-05-04T10:00:00Z"
    )
    record(client, ann, "trip", "We went to Bruges.", "Fine!", timestamp="2023-05-05T10:00:00Z")
    both = [("find_words", {"text": "bruges"} | who) for who in ({}, {"speaker": "assistant"})]
    model.on(DIRECT).chunks(*looks(*both)).reply("Done.")
    chat(client, ann, "What does Miso hate?")
    own, replied = results(model, 1)
    assert json.loads(own.split("\n")[0])["said_by_others"] == 1
    assert "We went to Bruges." in own
    assert "To Bruges?" not in own
    assert "To Bruges?" in replied


def test_words_of_a_speaker_by_name_are_theirs_alone(
    client: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    talk = [
        {"role": "user", "name": "Ida", "content": "I row on the Lys."},
        {"role": "assistant", "name": "Tom", "content": "I never row."},
    ]
    record(client, ann, "talk", messages=talk)
    wanted = [("find_words", {"text": "row", "speaker": name}) for name in ("Tom", "ida", "Bo")]
    model.on(DIRECT).chunks(*looks(*wanted)).reply("Done.")
    chat(client, ann, "What does Miso hate?")
    heads = [json.loads(found.split("\n")[0]) for found in results(model, 1)]
    assert [head["found"] for head in heads] == [1, 1, 0]
    assert heads[2]["said_by_others"] == 1


def test_rounds_that_are_too_many_to_be_read_are_counted_apart(
    client: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    said = ["I swam a mile.", "Well done!"] * 203
    record(client, ann, "swims", *said)
    wanted = [("find_words", {"text": "swam"}), ("read_session", {"session": "swims"})]
    model.on(DIRECT).chunks(*looks(*wanted)).reply("Done.")
    chat(client, ann, "What does Miso hate?")
    for found in results(model, 1):
        head = json.loads(found.split("\n")[0])
        assert (head["found"], head["not_read"]) == (200, 3)
        assert "said_by_others" not in head


def test_what_was_shown_takes_no_room_of_what_is_oldest(
    client: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    oldest = ("search_memory", {"query": "Miso cat vet", "order": "oldest", "limit": 1})
    model.on(DIRECT).chunks(*looks(oldest)).chunks(*looks(oldest)).reply("Done.")
    chat(client, ann, "Where do I live?")
    first, second = results(model, 2)
    assert "Miso hates the vet." not in first
    assert "Miso hates the vet." in second


def test_what_is_much_farther_than_the_nearest_is_not_found(
    client: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    model.on(DIRECT).chunks(*looks(("search_memory", {"query": "I live in Ghent now."}))).reply(
        "Ok"
    )
    chat(client, ann, "What does Miso hate?")
    (found,) = results(model, 1)
    assert json.loads(found.split("\n")[0])["found"] == 1


@pytest.mark.parametrize(
    ("tool", "given", "holds"),
    [
        ("list_sessions", {}, ['"session": "s1"', '"session": "s3"', '"rounds": 1']),
        ("list_sessions", {"from": "2023-05-02", "to": "2023-05-02"}, ['"session": "s2"']),
        ("read_session", {"session": "s2"}, ["Miso hates the vet."]),
        ("search_memory", {"query": "cat", "order": "oldest", "limit": 1}, ['"shown": 1']),
        ("search_memory", {"query": "Miso", "speaker": "Bob"}, ['"found": 0']),
        ("history_of", {"fact": "where I live"}, ["I live in Ghent now.", '"holds": true']),
    ],
)
def test_each_tool_reads_memory(
    client: httpx.Client,
    model: ScriptedModel,
    ann: str,
    tool: str,
    given: dict[str, Any],
    holds: list[str],
) -> None:
    model.on(DIRECT).chunks(*looks((tool, given))).reply("Done.")
    chat(client, ann, "zzz")
    (found,) = results(model, 1)
    for text in holds:
        assert text in found


@pytest.mark.parametrize(
    ("tool", "arguments", "error"),
    [
        ("search_memory", {}, "query: a text is needed"),
        ("search_memory", {"query": "x", "from": "May"}, "from: a day such as"),
        ("search_memory", {"query": "x", "limit": -1}, "limit: a number"),
        (
            "search_memory",
            {"query": "x", "from": "2024-01-02", "to": "2024-01-01"},
            "from is after",
        ),
        ("read_session", {"session": 3}, "session: a text is needed"),
        ("open_door", {}, "there is no such tool"),
    ],
)
def test_arguments_that_a_tool_cannot_use_are_told(
    client: httpx.Client,
    model: ScriptedModel,
    ann: str,
    tool: str,
    arguments: dict[str, Any],
    error: str,
) -> None:
    model.on(DIRECT).chunks(*looks((tool, arguments))).reply("Sorry.")
    assert answer(chat(client, ann, "Where do I live?")) == "Sorry."
    (found,) = results(model, 1)
    assert error in json.loads(found)["error"]


def test_it_ends_after_so_many_calls(client: httpx.Client, model: ScriptedModel, ann: str) -> None:
    search = ("search_memory", {"query": "cat"})
    rule = model.on(DIRECT).chunks(*looks(search, search)).chunks(*looks(search, search))
    rule.reply("Enough.")
    assert answer(chat(client, ann, "Where do I live?")) == "Enough."
    assert [sent.body.get("tool_choice") for sent in model.sent] == [None, None, "none"]
    assert "no more calls" in results(model, 2)[-1]


def test_nothing_of_others_is_found(client: httpx.Client, model: ScriptedModel, ann: str) -> None:
    record(client, f"bob of {ann}", "secret", "The alarm code is 4545.", "Noted!")
    wanted = [("find_words", {"text": "4545"}), ("read_session", {"session": "secret"})]
    model.on(DIRECT).chunks(*looks(*wanted, ("list_sessions", {}))).reply("Nothing.")
    chat(client, ann, "What is the alarm code?")
    for found in results(model, 1):
        assert "4545" not in found
        assert "secret" not in found


def test_what_is_looked_for_streams_as_reasoning(
    client: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    model.on(DIRECT).chunks(*looks(("find_words", {"text": "vet"}), text="One moment.")).reply("Ok")
    reply = chat(client, ann, "Where do I live?", stream=True)
    chunks = events(reply.text)
    assert streamed_text(chunks) == "Ok"
    deltas = [c["delta"] for one in chunks if one != "[DONE]" for c in one["choices"]]
    told = [delta["reasoning_content"] for delta in deltas if "reasoning_content" in delta]
    assert told == ["Looking into memory: find_words (text: vet)\n"]


def test_calls_that_nothing_has_room_for_any_more_find_nothing(
    model: ScriptedModel, tmp_path: Path, ann: str
) -> None:
    settings = looking(tmp_path, model, rounds=1, look_tokens=500)
    wanted = [("find_words", {"text": text}) for text in ("Lys", "Scheldt")]
    model.on(DIRECT).chunks(*looks(*wanted)).reply("Done.")
    with served(create_app(settings)) as url, httpx.Client(base_url=url, timeout=60) as client:
        for river in ("Yser", "Lys", "Scheldt"):
            record(client, ann, river, f"I rowed on the {river} {'and rowed on ' * 100}", "Nice!")
        chat(client, ann, "When did I see the Yser?")
    first, second = results(model, 1)
    assert "rowed on the Lys" in first
    assert "no more calls" in json.loads(second)["error"]


def test_a_model_that_takes_no_tools_answers_without(
    model: ScriptedModel, tmp_path: Path, ann: str
) -> None:
    settings = looking(tmp_path, model)
    model.on(DIRECT).fault(400).reply("Plain.").reply("Plain again.")
    with served(create_app(settings)) as url, httpx.Client(base_url=url, timeout=60) as client:
        record(client, ann, "s", "I live in Ghent.", "Noted!")
        assert answer(chat(client, ann, "Where do I live?")) == "Plain."
        assert answer(chat(client, ann, "Where do I live?")) == "Plain again."
    assert ["tools" in sent.body for sent in model.sent] == [True, False, False]


def test_what_is_found_may_be_too_much(
    client: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    too_long = json.dumps({"error": {"message": "maximum context length is 10 tokens"}})
    rule = model.on(DIRECT).chunks(*looks(("find_words", {"text": "cat"})))
    rule.raw(too_long, status=400).reply("From the first memory.")
    assert answer(chat(client, ann, "Where do I live?")) == "From the first memory."
    assert len(model.sent[2].body["messages"]) == len(model.sent[0].body["messages"])


def test_what_is_refused_with_and_without_tools_is_refused(
    client: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    model.on(DIRECT).fault(400).fault(400).chunks(*looks(("find_words", {"text": "x"}))).reply("A")
    assert chat(client, ann, "Where do I live?").status_code == 500
    assert answer(chat(client, ann, "And where now?")) == "A"


def test_a_client_that_leaves_stops_the_model(
    client: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    rule = model.on(DIRECT).chunks(*looks(("find_words", {"text": "cat"})))
    rule.reply(*["word "] * 200, delay=0.05)
    body = {"messages": [{"role": "user", "content": "Where do I live?"}], "stream": True}
    body |= {"metadata": {"user_id": ann}}
    with client.stream("POST", "/v1/chat/completions", json=body) as reply:
        next(line for line in reply.iter_lines() if "word word" in line)
    assert model.left.wait(20)


def test_calls_of_the_clients_tools_leave_alone(
    client: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    both = [("search_memory", {"query": "cat"}), ("weather", {"place": "Ghent"})]
    rule = model.on("memory_beside")
    rule.chunks(*looks(("find_words", {"text": "Ghent"}))).chunks(*looks(*both))
    reply = chat(client, ann, "What is the weather where I live?", tools=[WEATHER])
    (choice,) = reply.json()["choices"]
    assert choice["finish_reason"] == "tool_calls"
    called = choice["message"]["tool_calls"]
    assert [one["function"]["name"] for one in called] == ["weather"]
    assert json.loads(called[0]["function"]["arguments"]) == {"place": "Ghent"}


def test_a_tool_that_must_be_called_leaves_no_room(
    client: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    must = {"type": "function", "function": {"name": "weather"}}
    model.on("memory_beside").chunks(*calls("weather"))
    chat(client, ann, "The weather?", tools=[WEATHER], tool_choice=must)
    (sent,) = model.sent
    assert sent.body["tools"] == [WEATHER]


def test_calls_that_a_server_gives_no_ids_are_told_apart(
    client: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    wanted = looks(("find_words", {"text": "cat"}))
    del wanted[1]["choices"][0]["delta"]["tool_calls"][0]["id"]
    model.on(DIRECT).chunks(*wanted).chunks(*wanted).reply("Done.")
    assert chat(client, ann, "Where do I live?").status_code == 200
    messages = model.sent[2].body["messages"]
    called = [call["id"] for one in messages for call in one.get("tool_calls", ())]
    answered = [one["tool_call_id"] for one in messages if one["role"] == "tool"]
    assert called == answered == ["call_0", "call_1"]


def test_a_failure_in_the_middle_is_the_answers(
    client: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    model.on(DIRECT).chunks(*looks(("find_words", {"text": "cat"}))).fault(500)
    assert chat(client, ann, "Where do I live?").status_code == 503
    kept = client.get("/v1/memories", params={"user_id": ann}).json()
    assert kept["total"] == 3


def test_what_was_found_is_withdrawn_when_it_is_forgotten(
    client: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    model.on(DIRECT).chunks(*looks(("find_words", {"text": "vet"}))).reply("Miso hates the vet.")
    chat(client, ann, "zzz", metadata={"session_id": "asked"})
    client.delete("/v1/sessions/s2", params={"user_id": ann})
    left = client.get("/v1/memories", params={"user_id": ann}).json()["data"]
    assert all("vet" not in one["assistant_text"] for one in left)


def test_each_value_of_a_history_is_withdrawn_when_it_is_forgotten(
    client: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    record(client, ann, "moved", "I live in Bruges now.", "Oh!", timestamp="2023-05-09T10:00:00Z")
    model.on(DIRECT).chunks(*looks(("history_of", {"fact": "where I live"}))).reply(
        "First in Ghent, then in Bruges."
    )
    reply = chat(client, ann, "zzz", metadata={"session_id": "asked", "memory_debug": "1"})
    (found,) = results(model, 1)
    assert json.loads(found.split("\n")[0]) == {"history": 2}
    assert len(trace(reply)["looks"][0]["found"]) == 2
    client.delete("/v1/sessions/s3", params={"user_id": ann})
    left = client.get("/v1/memories", params={"user_id": ann}).json()["data"]
    assert all("Ghent" not in one["assistant_text"] for one in left)


def test_a_history_has_the_values_that_the_question_may_read(
    client: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    for n, (town, topic) in enumerate([("Genk", "home"), ("Ypres", "work")]):
        told = {"timestamp": f"2023-05-{10 + n}T10:00:00Z", "labels": {"topic": topic}}
        record(client, ann, f"moved{n}", f"I live in {town} now.", "Oh!", **told)
    model.on(DIRECT).chunks(*looks(("history_of", {"fact": "where I live"}))).reply("In Genk.")
    chat(client, ann, "zzz", metadata={"where": '{"topic": "home"}'})
    (found,) = results(model, 1)
    assert "Genk" in found
    assert "Ypres" not in found
