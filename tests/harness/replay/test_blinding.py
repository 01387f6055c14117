"""Nothing that leaves the harness may hint at the answer."""

import json
import re
from pathlib import Path

import pytest
from benches import Bench
from histories import chat, history, instance, turn, write_data

from harness.replay.ingest import Blinding, new_salt

SECRETS = [
    "GOLDMARK",
    "qsecret",
    "answer_",
    "has_answer",
    "ffee_",
    "sharegpt",
    "noans",
    "evidence",
    "_abs",
    "knowledge-update",
    "single-session",
    "gold",
]


@pytest.fixture
def secretive(tmp_path: Path) -> Path:
    turns = [turn("assistant", "Hello."), *chat("I moved to Lund.", has_answer=True)]
    sessions = history(
        ("answer_sharegpt_1", "2023/05/20 (Sat) 02:21", turns),
        ("ffee_2", "2023/05/21 (Sun) 08:00", []),
        ("ffee_2", "2023/05/19 (Fri) 08:00", chat("My cat sleeps.")),
        evidence=["answer_sharegpt_1"],
    )
    question = "Where do I live now?"
    kind = "knowledge-update"
    records = [
        instance(f"qsecret{end}", question=question, question_type=kind, answer="GOLDMARK")
        | sessions
        for end in ("1", "2_abs")
    ]
    return write_data(tmp_path / "answer_data.json", records)


def test_nothing_on_the_wire_hints_at_the_answer(bench: Bench, secretive: Path) -> None:
    bench.data_file = secretive
    assert bench.replay(forget="at once") == 0
    assert len(bench.assistant.wire) > 10
    for sent in bench.assistant.wire:
        everything = f"{sent.method} {sent.path} {sent.headers} {sent.body}".lower()
        for secret in SECRETS:
            assert secret.lower() not in everything, (secret, sent)


def test_only_the_contracts_fields_are_sent(bench: Bench, secretive: Path) -> None:
    bench.data_file = secretive
    bench.replay()
    for sent in bench.assistant.sent("POST", "/messages"):
        body = json.loads(sent.body)
        assert set(body) == {"user_id", "messages", "wait", "close"}
        assert set(body["messages"][0]) == {"id", "role", "content", "timestamp"}
    asked = json.loads(bench.assistant.sent("POST", "/chat/completions")[0].body)
    assert asked["messages"] == [{"role": "user", "content": "Where do I live now?"}]
    assert asked["metadata"]["memory"] == "read_only"
    assert asked["metadata"]["timestamp"] == "2023-05-30T10:00:00Z"
    assert set(asked["metadata"]) == {"user_id", "session_id", "timestamp", "memory"}


def test_every_question_has_a_fresh_user_and_every_position_its_own_session(
    bench: Bench, secretive: Path
) -> None:
    bench.data_file = secretive
    bench.replay()
    messages = [json.loads(sent.body) for sent in bench.assistant.sent("POST", "/messages")]
    assert len({body["user_id"] for body in messages}) == 2
    paths = {sent.path for sent in bench.assistant.sent("POST", "/messages")}
    opened = {json.loads(s.body)["session_id"] for s in bench.assistant.sent("POST", "sessions$")}
    assert (len(paths), len(opened)) == (4, 2)
    ids = [message["id"] for body in messages for message in body["messages"]]
    assert len(set(ids)) == len(ids) == 10


def test_a_run_keeps_its_names_and_another_run_has_others() -> None:
    salt = new_salt()
    first, again, other = Blinding(salt), Blinding(salt), Blinding(new_salt())
    assert first.session("q", 3) == again.session("q", 3)
    assert first.session("q", 3) != other.session("q", 3)
    assert first.session("q", 3) != first.session("q", 4) != first.session("r", 3)
    assert len({first.user("q"), first.asking_session("q"), first.session("q", 0)}) == 3
    assert re.fullmatch(r"u[0-9a-f]{24}", first.user("q"))


def test_a_run_without_a_salt_is_refused() -> None:
    with pytest.raises(ValueError, match="salt"):
        Blinding("")
