"""A person's week: tell it something, stop it, start it, ask another day, from any client."""

import json
import subprocess
from signal import SIGKILL

import httpx
from calls import record, rounds
from commands import Server, ended
from nursery import NURSERY
from openai import OpenAI


def say(server: Server, text: str, **metadata: str) -> str:
    client = OpenAI(base_url=f"{server.url}/v1", api_key="unused", max_retries=0)
    with client:
        reply = client.chat.completions.create(
            model="aide-memoire",
            messages=[{"role": "user", "content": text}],
            metadata={"user_id": "ann", **metadata},
        )
    return reply.choices[0].message.content or ""


def test_it_still_remembers_after_a_restart_and_after_a_crash(server: Server) -> None:
    say(server, "I adopted a cat called Miso.", timestamp="2024-03-01T10:00:00Z")
    assert server.end() == 0
    server.start()
    with httpx.Client(base_url=server.url) as http:
        record(http, "ann", "evening", "I adopted a dog called Bo.", "Noted.")
    question, asked_at = "What is my cat called?", "2024-04-01T10:00:00Z"
    answer = say(server, question, timestamp=asked_at, memory="read_only")
    assert "On 2024-03-01 (Fri) you said: “I adopted a cat called Miso.”" in answer
    assert server.end(SIGKILL) == -SIGKILL
    server.start()
    assert say(server, question, timestamp=asked_at) == answer
    assert "Bo" in say(server, "What is my dog called?")
    with httpx.Client(base_url=server.url) as http:
        assert rounds(http, "ann", "evening") == [("I adopted a dog called Bo.", "Noted.")]
        again = record(http, "ann", "evening", "I adopted a dog called Bo.", "Noted.")
    assert again.json()["known"] == 2


def test_ask_prints_an_answer_and_keeps_nothing(shared_server: Server) -> None:
    say(shared_server, "I adopted a cat called Miso.")
    question = ("ask", "What is my cat called?", "--user", "ann")
    asked = ended(*question, "--assistant", shared_server.url, "--json")
    assert asked.returncode == 0, asked.stderr
    reply = json.loads(asked.stdout)
    assert "Miso" in reply["choices"][0]["message"]["content"]
    assert reply["memory"]["mode"] == "read_only"
    listed = httpx.get(f"{shared_server.url}/v1/sessions", params={"user_id": "ann"}).json()
    assert sum(session["rounds"] for session in listed["data"]) == 1


def test_chat_in_a_pipe_is_plain_text(shared_server: Server) -> None:
    talk = "I adopted a cat called Miso.\n/new\nWhat is my cat called?\n/quit\n"
    chat = subprocess.run(
        NURSERY.command("assistant", "chat", "--assistant", shared_server.url, "--user", "bob"),
        input=talk,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "you said: “I adopted a cat called Miso.”" in chat.stdout


def test_nobody_there_is_said_in_one_line() -> None:
    command = NURSERY.command("assistant", "chat", "--assistant", "http://127.0.0.1:9")
    chat = subprocess.run(command, capture_output=True, text=True, input="hello\n")
    assert chat.returncode == 2
    assert "assistant serve" in chat.stderr
    assert "Traceback" not in chat.stderr


def test_a_second_server_on_the_folder_is_told_what_to_do(shared_server: Server) -> None:
    second = subprocess.run(
        NURSERY.command("assistant", "serve", "--port", 0, "--data-dir", shared_server.data_dir),
        env={"ASSISTANT_EMBEDDER": "hash", "PATH": ""},
        capture_output=True,
        text=True,
    )
    assert second.returncode == 2
    assert "in use by another process" in second.stderr
    assert "--data-dir" in second.stderr
    assert "Traceback" not in second.stderr
