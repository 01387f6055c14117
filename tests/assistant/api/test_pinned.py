"""Pinned memories: in every prompt, first in what is known of the user, and theirs alone."""

from typing import Any

import httpx
from calls import answer, assert_error, chat, record
from scripted_model import ScriptedModel

ALLERGY = "I am allergic to walnuts."


def pinned(http: httpx.Client, user_id: str, text: str = ALLERGY) -> str:
    """The id of a round that is told and pinned."""
    id = str(record(http, user_id, "allergies", text).json()["rounds"][0]["id"])
    assert pin(http, user_id, id).json()["pinned"] is True
    return id


def pin(http: httpx.Client, user_id: str, id: str, method: str = "PUT") -> httpx.Response:
    return http.request(method, f"/v1/memories/{id}/pin", params={"user_id": user_id})


def listed(http: httpx.Client, user_id: str, **given: Any) -> list[str]:
    params = {"user_id": user_id, "pinned": True, **given}
    return [one["user_text"] for one in http.get("/v1/memories", params=params).json()["data"]]


def prompt(answering: httpx.Client, model: ScriptedModel, user_id: str, **metadata: str) -> str:
    """What the model is told beside a question that has nothing to do with walnuts."""
    model.reset()
    model.on("chain_of_note").reply("Answer: at five.")
    metadata = {"memory": "read_only", **metadata}
    answer(chat(answering, user_id, "When does the ferry leave?", metadata=metadata))
    (sent,) = model.requests("chain_of_note")
    return sent.system


def many(http: httpx.Client, user_id: str) -> None:
    """More about ferries than is read for a question."""
    told = [f"The ferry number {number} leaves at five." for number in range(120)]
    for start in range(0, len(told), 40):
        texts = [one for text in told[start : start + 40] for one in (text, "Noted.")]
        record(http, user_id, f"ferries {start}", *texts)


def test_what_is_pinned_stands_in_every_prompt(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    many(answering, ann)
    id = pinned(answering, ann)
    told = prompt(answering, model, ann)
    assert ALLERGY in told
    assert '"pinned" is what the user wants to be kept in mind' in told
    assert pin(answering, ann, id, "DELETE").json()["pinned"] is False
    told = prompt(answering, model, ann)
    assert ALLERGY not in told
    assert '"pinned"' not in told


def test_what_holds_no_longer_is_not_kept_in_mind(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    pinned(answering, ann, "I live in Ghent.")
    record(answering, ann, "s2", "I live in Oslo now.", timestamp="2023-06-01T10:00:00Z")
    assert '"pinned"' not in prompt(answering, model, ann)
    earlier = prompt(answering, model, ann, as_of="2023-05-25")
    assert '"pinned": [\n{"said_on": "2023-05-20 (Sat)", "text": "I live in Ghent."}' in earlier


def test_what_is_pinned_takes_a_small_part_of_the_prompt(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    for number in range(40):
        text = f"My locker number {number} holds " + ", ".join(f"a ball {n}" for n in range(60))
        id = record(answering, ann, f"s{number}", f"{text}.").json()["rounds"][0]["id"]
        pin(answering, ann, id)
    told = prompt(answering, model, ann)
    entries = told.partition('"pinned": [')[2].partition("]")[0].count('"said_on"')
    assert 0 < entries <= 16


def test_what_is_pinned_comes_first_in_the_profile(http: httpx.Client, ann: str) -> None:
    record(http, ann, "s0", "My sister is called Zoe.", timestamp="2023-06-02T10:00:00Z")
    pinned(http, ann)
    known = answer(chat(http, ann, "What do you know about me?"))
    assert known.splitlines()[1:3] == [
        "Pinned (1)",
        f"- On 2023-05-20 (Sat) you said: “{ALLERGY}”",
    ]


def test_a_pin_stays_when_the_memory_is_corrected_or_said_again(
    http: httpx.Client, ann: str
) -> None:
    id = pinned(http, ann)
    correction = {"user_id": ann, "user_text": "I am allergic to hazelnuts."}
    assert http.patch(f"/v1/memories/{id}", json=correction).json()["pinned"] is True
    record(http, ann, "allergies", "I carry a pen for that.")
    assert listed(http, ann) == ["I am allergic to hazelnuts."]
    sent = {"timestamp": "2023-06-01T10:00:00Z", "session_id": "chat"}
    for _ in range(2):
        answer(chat(http, ann, "I play the oboe.", metadata=sent))
        (round,) = http.get("/v1/sessions/chat", params={"user_id": ann}).json()["data"]
        pin(http, ann, round["id"])
    answer(chat(http, ann, "I play the oboe.", metadata=sent))
    assert listed(http, ann) == ["I play the oboe.", "I am allergic to hazelnuts."]


def test_a_pin_is_exported_and_brought_in(http: httpx.Client, ann: str) -> None:
    pinned(http, ann)
    lines = http.get(f"/v1/users/{ann}/export").content
    http.post(f"/v1/users/{ann} again/import", content=lines)
    assert listed(http, f"{ann} again") == [ALLERGY]


def test_nobody_pins_what_another_said(http: httpx.Client, ann: str) -> None:
    id = str(record(http, ann, "s", ALLERGY).json()["rounds"][0]["id"])
    for method in ("PUT", "DELETE"):
        reply = pin(http, f"not {ann}", id, method)
        assert_error(reply, 404, "not_found_error", "memory_not_found")
    assert listed(http, ann) == []
