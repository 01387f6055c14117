"""The terminal commands, in this process against a served assistant."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from calls import record, rounds, sessions
from fastapi import FastAPI
from fastapi.responses import PlainTextResponse
from in_process import Run
from scripted_model import ScriptedModel
from served import served

from assistant.cli.chat_commands import AHEAD, COMMANDS

COT = "chain_of_note"


@pytest.fixture
def odd_url() -> Iterator[str]:
    """A server that is healthy but no assistant."""
    app = FastAPI()
    app.add_api_route("/health", lambda: {"status": "ok"})
    app.add_api_route(
        "/v1/chat/completions",
        lambda: PlainTextResponse('data: {"odd": 1}\n\n'),
        methods=["POST"],
    )
    with served(app) as url:
        yield url


def test_ask_prints_the_answer_and_stores_nothing(
    run: Run, http: httpx.Client, quoting_url: str, ann: str
) -> None:
    record(http, ann, "s", "I ran a half marathon in Ghent.", "Great!")
    done = run("ask", "Where was the half marathon?", "--assistant", quoting_url, "--user", ann)
    assert (done.code, done.err) == (0, "")
    assert "I ran a half marathon in Ghent." in done.out
    assert list(sessions(http, ann)) == ["s"]


def test_ask_can_remember_at_a_time_in_a_session(
    run: Run, http: httpx.Client, quoting_url: str, ann: str
) -> None:
    where = ("--assistant", quoting_url, "--user", ann, "--session", "s", "--time", "2023-05-20")
    assert run("ask", "I like tea.", "--remember", *where).code == 0
    value = http.get("/v1/sessions/s", params={"user_id": ann}).json()["data"][0]
    assert (value["user_text"], value["session_date"]) == ("I like tea.", "2023-05-20T00:00:00Z")


def test_ask_prints_the_whole_reply_as_json(run: Run, quoting_url: str, ann: str) -> None:
    done = run("ask", "hi", "--assistant", quoting_url, "--user", ann, "--json")
    body = json.loads(done.out)
    assert body["memory"]["mode"] == "read_only"
    assert body["memory"]["user_id"] == ann


def test_ask_answers_from_some_days_and_says_from_what(
    run: Run, http: httpx.Client, quoting_url: str, ann: str
) -> None:
    record(http, ann, "old", "I live in Ghent.", timestamp="2023-05-20T10:00:00Z")
    record(http, ann, "new", "I live in Rome.", timestamp="2023-05-25T10:00:00Z")
    asked = ("ask", "Where do I live?", "--assistant", quoting_url, "--user", ann, "--json")
    for days, known in (
        (("--as-of", "2023-05-22"), ["I live in Ghent."]),
        (("--from", "2023-05-22", "--to", "2023-05-26"), ["I live in Rome."]),
    ):
        body = json.loads(run(*asked, *days).out)
        assert [one["user_text"] for one in body["sources"]] == known
        assert known[0] in body["answer"]
        assert body["time_range"] is None
        assert body["usage"]["total_tokens"] > 0
    assert "cannot read 'soon'" in run(*asked, "--as-of", "soon").err
    assert "there is no model 'gpt'" in run(*asked, "--model", "gpt").err


def test_chat_goes_on_in_one_session_until_the_input_ends(
    run: Run, answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    model.on(COT).reply("ANSWER: Hel", "lo.").reply("ANSWER: Fine.")
    url = str(answering.base_url)
    done = run("chat", "--assistant", url, "--user", ann, typed="hi\n\nhow are you?\n")
    assert done.code == 0, done.err
    assert done.out.endswith("Hello.\nFine.\n")
    (stored,) = sessions(answering, ann).values()
    assert stored == [("hi", "Hello."), ("how are you?", "Fine.")]
    assert [m["content"] for m in model.sent[1].body["messages"][1:]] == [
        "hi",
        "Hello.",
        "how are you?",
    ]


def test_chat_commands(run: Run, http: httpx.Client, quoting_url: str, ann: str) -> None:
    typed = "/session\n/time 2023-05-20\nI like tea.\n/new\n/time\n/what\n/quit\nnot read\n"
    at = ("--assistant", quoting_url, "--user", ann, "--session", "first")
    done = run("chat", *at, typed=typed)
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[:2] == ["first", "time: 20 May 2023, 23:59 UTC"]
    assert lines[-3].startswith("new session terminal-")
    assert lines[-2] == "time: now"
    assert lines[-1] == "there is no command /what; /help lists them"
    assert [user for user, _ in rounds(http, ann, "first")] == ["I like tea."]


def test_chat_says_why(run: Run, http: httpx.Client, quoting_url: str, ann: str) -> None:
    record(http, ann, "cat", "I adopted a cat called Miso.", "Lovely!")
    for number in range(7):
        record(http, ann, f"tea {number}", f"My aunt sold lamp number {number}.", "Noted.")
    typed = "What is my cat called?\n/why\n"
    lines = run("chat", "--assistant", quoting_url, "--user", ann, typed=typed).out.splitlines()
    start = lines.index("asked on 10 June 2023; the question names no time")
    used, hit, parts, left_out, *others, more = lines[start + 1 :]
    assert used == "answered from 1 of 8 found"
    assert re.fullmatch(r"  20 May 2023  relevance \d\.\d\d  “I adopted a cat called Miso\.”", hit)
    assert re.search(r"\+0\.\d\d means something alike \(I adopted a cat called Miso\.\)", parts)
    assert re.search(r"\+0\.\d\d has the same words \(.*cat.*\)", parts)
    assert left_out == "found but not used: 7"
    assert sum("My aunt sold lamp number" in line for line in others) >= 5
    assert more == "  and 2 more"


@pytest.mark.parametrize(("time", "ahead"), [("2023-06-09", False), ("2023-06-11", True)])
def test_chat_says_that_a_time_is_in_the_future(
    run: Run, http: httpx.Client, quoting_url: str, ann: str, time: str, ahead: bool
) -> None:
    at = ("chat", "--assistant", quoting_url, "--user", ann)
    out = run(*at, typed=f"/time {time}\n/time\n").out.splitlines()
    assert out == [
        f"time: {int(time[-2:])} June 2023, 23:59 UTC",
        *([AHEAD] if ahead else []),
        "time: now",
    ]
    done = run(*at, "--session", "s", "--time", time, typed="I like tea.\n")
    assert (AHEAD in done.err) is ahead
    (value,) = http.get("/v1/sessions/s", params={"user_id": ann}).json()["data"]
    assert value["session_date"] == f"{time}T23:59:59Z"


def test_a_day_to_talk_as_of_is_its_end_as_for_as_of(
    run: Run, http: httpx.Client, quoting_url: str, ann: str
) -> None:
    for time, tea in (("09:00", "green"), ("21:00", "black")):
        record(http, ann, tea, f"My favourite tea is {tea}.", timestamp=f"2023-06-01T{time}:00Z")
    at = ("--assistant", quoting_url, "--user", ann)
    done = run("chat", *at, typed="/time 2023-06-01\nI like rum.\n/time 2023-06-10\nI like gin.\n")
    assert done.code == 0
    told = http.get("/v1/memories", params={"user_id": ann, "order": "oldest"}).json()["data"]
    # Today has not ended: what is said on it is not said in the future.
    assert [one["session_date"] for one in told[-2:]] == [
        "2023-06-01T23:59:59Z",
        "2023-06-10T09:00:00Z",
    ]


def test_chat_says_that_nothing_was_found(run: Run, quoting_url: str, ann: str) -> None:
    done = run("chat", "--assistant", quoting_url, "--user", ann, typed="/memories tea\n")
    assert done.out == "nothing found\n"


def test_chat_lists_its_commands(run: Run, quoting_url: str) -> None:
    done = run("chat", "--assistant", quoting_url, typed="/help\n")
    assert (done.code, done.err) == (0, "")
    for name, command in COMMANDS.items():
        assert f"{name} {command.argument}".ljust(20) + f" {command.meaning}\n" in done.out


def test_chat_as_somebody_else(run: Run, http: httpx.Client, quoting_url: str, ann: str) -> None:
    bob = f"bob and {ann}"
    typed = f"/user\nI like tea.\n/user {bob}\nI like rye.\n/user\n"
    at = ("--assistant", quoting_url, "--user", ann, "--session", "first")
    lines = run("chat", *at, typed=typed).out.splitlines()
    assert (lines[0], lines[-1]) == (f"user: {ann}", f"user: {bob}")
    (new,) = (line.split()[-1] for line in lines if line.startswith("new session"))
    assert [user for user, _ in rounds(http, ann, "first")] == ["I like tea."]
    assert list(sessions(http, ann)) == ["first"]
    assert [user for user, _ in rounds(http, bob, new)] == ["I like rye."]


def test_chat_writes_an_export(
    run: Run, http: httpx.Client, quoting_url: str, ann: str, tmp_path: Path
) -> None:
    record(http, ann, "s", "I like tea.", "Noted.")
    file = tmp_path / "mine.jsonl"
    chat = ("chat", "--assistant", quoting_url, "--user", ann)
    done = run(*chat, typed=f"/export {file}\n")
    assert (done.code, done.out) == (0, f"1 memory written to {file}\n")
    assert file.read_text() == http.get(f"/v1/users/{ann}/export").text
    again = run(*chat, typed=f"/export {file}\n")
    assert (again.code, "exists already" in again.err) == (1, True)


def test_chat_forgets_its_session(run: Run, http: httpx.Client, quoting_url: str, ann: str) -> None:
    record(http, ann, "s", "I like tea.", "Noted.")
    record(http, ann, "t", "I like rye.", "Noted.")
    chat = ("chat", "--assistant", quoting_url, "--user", ann, "--session", "s")
    nobody = run(*chat, typed="/forget session\n")
    assert (nobody.code, "Cannot ask in a pipe" in nobody.err) == (1, True)
    refused = run(*chat, typed="/forget session\nn\n", asked=True)
    assert refused.out == "forget 1 memory of session s? [y/N] nothing was forgotten\n"
    assert set(sessions(http, ann)) == {"s", "t"}
    agreed = run(*chat, typed="/forget session\ny\n/session\n", asked=True)
    first, new = agreed.out.splitlines()
    assert first.endswith("[y/N] 1 memory forgotten; a new session begins")
    assert new.startswith("terminal-")
    assert list(sessions(http, ann)) == ["t"]


def test_chat_survives_an_answer_that_fails(
    run: Run, answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    model.on(COT).fault(500).drop("ANSWER: half ", "an").reply("ANSWER: whole")
    url = str(answering.base_url)
    done = run("chat", "--assistant", url, "--user", ann, typed="one\ntwo\nthree\n")
    assert done.code == 1
    assert done.err.count("the model openai/fake failed") == 2
    assert done.out.endswith("whole\n")
    (stored,) = sessions(answering, ann).values()
    assert stored == [("three", "whole")]


@pytest.mark.parametrize("command", [("ask", "hi"), ("chat",)])
def test_nobody_there(run: Run, command: tuple[str, ...]) -> None:
    done = run(*command, "--assistant", "http://127.0.0.1:9")
    assert done.code == 2
    assert done.err.startswith("assistant: no assistant at http://127.0.0.1:9")
    assert "assistant serve" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("url", ["nonsense", "ftp://127.0.0.1", "http://127.0.0.1:many"])
def test_not_a_url(run: Run, url: str) -> None:
    done = run("ask", "hi", "--assistant", url)
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert done.err.startswith("assistant: ")


def test_not_an_assistant(run: Run, odd_url: str) -> None:
    done = run("ask", "hi", "--assistant", odd_url)
    assert (done.code, "is not an assistant" in done.err) == (2, True)
    done = run("chat", "--assistant", odd_url, typed="hi\n")
    assert (done.code, "is not an assistant" in done.err) == (2, True)


def test_what_the_server_refuses_is_said(run: Run, quoting_url: str) -> None:
    done = run("ask", "hi", "--assistant", quoting_url, "--time", "soon")
    assert (done.code, done.out) == (2, "")
    assert "cannot read 'soon' as a time" in done.err


def test_version_and_help(run: Run) -> None:
    assert run("--version").out.strip()
    assert "serve" in run("--help").out
    assert run("fly").code == 2
