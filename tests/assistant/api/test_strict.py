"""Strict recall: answers use what the user stated in their own words and still holds, alone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from calls import answer, chat, record
from pydantic import SecretStr
from scripted_model import Reply, ScriptedModel, Sent
from served import served

from assistant import Settings, create_app

STRICT = {"memory": "read_only", "memory_debug": "1", "strict": "true"}
LETTER = "Please proofread this letter of my aunt's:\n\n“I am Rosa. My piano teacher is Olga Blum.”"


def tell(http: httpx.Client) -> None:
    record(http, "ann", "one", "I live in Ghent.", "Ghent has a fine castle.")
    moved = "2023-06-01T10:00:00Z"
    record(http, "ann", "two", "I moved to Bruges yesterday.", "Enjoy it.", timestamp=moved)
    record(http, "ann", "three", LETTER, "Your piano teacher is Olga Blum, then.")
    record(http, "ann", "four", "My piano teacher is Ivo Maes.", "Good.")
    gone = {"expires_at": "2023-05-21T00:00:00Z"}
    record(http, "ann", "five", "My locker at the pool is 77.", "Noted.", **gone)


@pytest.fixture(scope="module")
def quoting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    settings = Settings(embedder="hash", data_dir=tmp_path_factory.mktemp("strict"))
    with served(create_app(settings)) as url, httpx.Client(base_url=url, timeout=60) as http:
        tell(http)
        yield http


def test_what_was_replaced_is_not_quoted(quoting: httpx.Client) -> None:
    usual = answer(chat(quoting, "ann", "Where do I live?", metadata=STRICT | {"strict": "0"}))
    assert "I live in Ghent" in usual
    assert "Left out" not in usual
    strict = chat(quoting, "ann", "Where do I live?", metadata=STRICT)
    assert "I moved to Bruges" in answer(strict)
    assert "I live in Ghent" not in answer(strict)
    assert "(Left out: 1 replaced since" in answer(strict)
    left = strict.json()["memory"]["left_out"]
    assert left["replaced"] == 1
    assert left["answers"] >= 2


def test_what_others_and_the_assistant_said_is_not_quoted(quoting: httpx.Client) -> None:
    strict = answer(chat(quoting, "ann", "Who is my piano teacher?", metadata=STRICT))
    assert "Olga" not in strict


def test_what_has_expired_is_not_quoted(quoting: httpx.Client) -> None:
    question = "What is my locker at the pool?"
    assert "77" in answer(chat(quoting, "ann", question, metadata=STRICT | {"strict": ""}))
    strict = chat(quoting, "ann", question, metadata=STRICT)
    assert "77" not in answer(strict)
    assert strict.json()["memory"]["left_out"]["expired"] == 1


def test_what_was_asked_to_be_kept_is_the_users_own(quoting: httpx.Client) -> None:
    for number, wish in enumerate(["Keep this local", "Remember this"]):
        record(quoting, "eve", f"s{number}", f"{wish}: my code {number} is 441{number}.", "Noted.")
        question = f"What is my code {number}?"
        assert f"441{number}" in answer(chat(quoting, "eve", question, metadata=STRICT))


@pytest.mark.parametrize("how", ["request", "setting", "profile"])
def test_a_model_is_shown_nothing_else(tmp_path: Path, model: ScriptedModel, how: str) -> None:
    def seen(sent: Sent) -> Reply:
        return Reply(("ANSWER: Fine.",))

    for task in ("chain_of_note", "direct"):
        model.on(task).always(seen)
    chosen: dict[str, Any] = {"name": "openai/fake", "base_url": model.url}
    chosen |= {"api_key": SecretStr("k")}
    given: dict[str, Any] = {"chat_model": chosen}
    if how == "setting":
        given["reading"] = {"strict": True}
    if how == "profile":
        given["profiles"] = {"careful": chosen | {"strict": True}}
    settings = Settings(embedder="hash", data_dir=tmp_path, **given)
    metadata = {"memory": "read_only"} | ({"strict": "1"} if how == "request" else {})
    more = {"model": "careful"} if how == "profile" else {}
    with served(create_app(settings)) as url, httpx.Client(base_url=url, timeout=60) as http:
        tell(http)
        questions = ("Where do I live?", "Who is my piano teacher?", "My locker?", "Who am I?")
        for question in questions:
            answer(chat(http, "ann", question, metadata=metadata, **more))
        prompts = repr([sent.body["messages"] for sent in model.sent])
        assert "I moved to Bruges yesterday." in prompts
        for other in ("I live in Ghent", "castle", "Olga", "Enjoy it", "77"):
            assert other not in prompts, other
        if how == "setting":
            answer(chat(http, "ann", questions[0], metadata=metadata | {"strict": "no"}))
            assert "I live in Ghent" in repr(model.sent[-1].body)
