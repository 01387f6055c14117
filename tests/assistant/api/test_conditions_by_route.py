"""Up to when something holds: told, answered when it is over, set, confirmed, asked about."""

from typing import Any

import httpx
import pytest
from calls import answer, assert_error, chat, record
from scripted_model import ScriptedModel

COT = "chain_of_note"
HOME = "I work from home until 1 May."
LUNCH = "I have lunch at De Kas while I live in Ghent."
PARENTS = "I live with my parents until I find a flat."


def tell(http: httpx.Client, user_id: str, session_id: str, text: str, day: str) -> None:
    record(http, user_id, session_id, text, "Noted.", timestamp=f"{day}T10:00:00Z")


def ask(http: httpx.Client, user_id: str, text: str, day: str, **metadata: Any) -> str:
    at = {"memory": "read_only", "timestamp": f"{day}T10:00:00Z"}
    return answer(chat(http, user_id, text, metadata=at | metadata))


def say(http: httpx.Client, user_id: str, text: str, day: str) -> str:
    at = {"session_id": "chat", "timestamp": f"{day}T10:00:00Z"}
    return answer(chat(http, user_id, text, metadata=at))


def memory(http: httpx.Client, user_id: str, session_id: str, day: str, **asked: str) -> Any:
    """The only memory of a session, as it is on a day."""
    params = {"user_id": user_id, "session_id": session_id} | asked
    headers = {"x-memory-timestamp": f"{day}T10:00:00Z"}
    (one,) = http.get("/v1/memories", params=params, headers=headers).json()["data"]
    return one


def settle(http: httpx.Client, user_id: str, session_id: str, day: str, **said: Any) -> Any:
    id = memory(http, user_id, session_id, day)["id"]
    body = {"user_id": user_id, "timestamp": f"{day}T10:00:00Z"} | said
    return http.patch(f"/v1/memories/{id}", json=body)


def test_a_day_ends_it(http: httpx.Client, ann: str) -> None:
    tell(http, ann, "s1", HOME, "2023-03-01")
    assert "(held until" not in ask(http, ann, "Do I work from home?", "2023-05-01")
    over = ask(http, ann, "Do I work from home?", "2023-05-02")
    assert f"“{HOME}” (held until 2023-05-01 (Mon))" in over
    assert over.count(HOME) == 1
    assert "(held until" not in ask(
        http, ann, "Do I work from home?", "2023-06-01", as_of="2023-04-01"
    )
    (fact,) = memory(http, ann, "s1", "2023-05-01")["facts"]
    assert fact["condition"]["until"] == "2023-05-01"
    assert fact["superseded_by"] is None
    (fact,) = memory(http, ann, "s1", "2023-05-02")["facts"]
    assert fact["superseded_by"]["by"] == "condition"
    (fact,) = memory(http, ann, "s1", "2023-05-02", as_of="2023-04-01")["facts"]
    assert fact["superseded_by"] is None


def test_a_change_of_the_state_ends_it_and_forgetting_that_brings_it_back(
    http: httpx.Client, ann: str
) -> None:
    tell(http, ann, "s1", LUNCH, "2023-03-01")
    tell(http, ann, "s2", "I live in Ghent.", "2023-03-02")
    assert memory(http, ann, "s1", "2023-06-01")["facts"][0]["superseded_by"] is None
    tell(http, ann, "s3", "I moved to Bruges yesterday.", "2023-05-10")
    (fact,) = memory(http, ann, "s1", "2023-06-01")["facts"]
    assert fact["superseded_by"]["text"] == "I moved to Bruges yesterday."
    assert "no longer: “I moved to Bruges" in ask(http, ann, "Where do I have lunch?", "2023-06-01")
    (fact,) = memory(http, ann, "s1", "2023-06-01", as_of="2023-05-01")["facts"]
    assert fact["superseded_by"] is None
    http.delete(
        f"/v1/memories/{memory(http, ann, 's3', '2023-06-01')['id']}", params={"user_id": ann}
    )
    assert memory(http, ann, "s1", "2023-06-01")["facts"][0]["superseded_by"] is None


def test_what_cannot_be_bound_is_asked_about_and_the_answer_binds_it(
    http: httpx.Client, ann: str
) -> None:
    asked = say(http, ann, PARENTS, "2023-03-01")
    assert asked.endswith(f"Until when does that hold: “{PARENTS[:-1]}”?")
    noted = say(http, ann, "Until 1 May.", "2023-03-02")
    assert noted == f"Kept: “{PARENTS[:-1]}”, Until 1 May."
    params = {"user_id": ann, "text": "parents"}
    (one,) = http.get("/v1/memories", params=params).json()["data"]
    assert one["facts"][0]["condition"]["until"] == "2023-05-01"
    over = ask(http, ann, "Do I live with my parents?", "2023-05-09")
    assert "(held until 2023-05-01 (Mon))" in over


@pytest.mark.parametrize(
    "text", ["I like my coffee black.", HOME, "Call me Max unless I say otherwise."]
)
def test_nothing_else_is_asked_about(http: httpx.Client, ann: str, text: str) -> None:
    assert "Until when" not in say(http, ann, text, "2023-03-01")


def test_a_condition_is_set_and_lifted(http: httpx.Client, ann: str) -> None:
    tell(http, ann, "s1", "I cycle to work on weekdays.", "2023-03-01")
    text = "I cycle to work on weekdays."
    done = settle(http, ann, "s1", "2023-03-02", conditions={text: {"until": "2023-04-01"}})
    assert done.json()["facts"][0]["condition"]["text"] == "until 1 April 2023"
    assert "held until 2023-04-01" in ask(http, ann, "How do I get to work?", "2023-04-02")
    state = {"while": "I live in Ghent"}
    settle(http, ann, "s1", "2023-03-02", conditions={text: state})
    tell(http, ann, "s2", "I moved to Bruges.", "2023-03-20")
    assert memory(http, ann, "s1", "2023-06-01")["facts"][0]["superseded_by"]
    settle(http, ann, "s1", "2023-06-01", conditions={text: None})
    (fact,) = memory(http, ann, "s1", "2023-06-01")["facts"]
    assert (fact["condition"], fact["superseded_by"]) == (None, None)
    assert memory(http, ann, "s2", "2023-06-01")["facts"][0]["supersedes"] == []


@pytest.mark.parametrize("given", [{}, {"while": "it rains"}, {"until": "soon"}])
def test_a_condition_that_nobody_can_bind(
    http: httpx.Client, ann: str, given: dict[str, str]
) -> None:
    tell(http, ann, "s1", "I cycle to work on weekdays.", "2023-03-01")
    said = {"conditions": {"I cycle to work on weekdays.": given}}
    assert settle(http, ann, "s1", "2023-03-02", **said).status_code == 400


def test_what_is_confirmed_holds_again(http: httpx.Client, ann: str) -> None:
    tell(http, ann, "s1", HOME, "2023-03-01")
    settle(http, ann, "s1", "2023-05-20", confirmed=[HOME])
    (fact,) = memory(http, ann, "s1", "2023-06-01")["facts"]
    assert (fact["superseded_by"], fact["condition"]) == (None, None)
    assert fact["confirmed_at"] == "2023-05-20T10:00:00Z"
    error = settle(http, ann, "s1", "2023-05-21", confirmed=["I never said so."])
    assert_error(error, 400, "invalid_request_error", "invalid_value")


def test_it_is_asked_again_once_from_that_day_on(http: httpx.Client, ann: str) -> None:
    tell(http, ann, "s1", "I live in Ghent.", "2023-03-01")
    settle(http, ann, "s1", "2023-03-02", ask_on={"I live in Ghent.": "2023-04-01"})
    question = "You said on 2023-03-01 (Wed): “I live in Ghent”. Does that still hold?"
    assert question not in say(http, ann, "I like tea.", "2023-03-31")
    assert question not in ask(http, ann, "Where do I live?", "2023-04-02")
    assert question in say(http, ann, "Where do I live?", "2023-04-02")
    assert question not in say(http, ann, "I like tea in the morning.", "2023-04-03")


@pytest.mark.parametrize(
    ("reply", "after"),
    [
        ("yes", "confirmed"),
        ("yep it still does", "confirmed"),
        ("still true", "confirmed"),
        ("no", "over"),
        ("nope, not any more", "over"),
        ("yes, and I like rain", "unsettled"),
        ("delete it", "unsettled"),
        ("no idea, why?", "unsettled"),
    ],
)
def test_a_yes_or_no_settles_whether_it_still_holds(
    http: httpx.Client, ann: str, reply: str, after: str
) -> None:
    tell(http, ann, "s1", "I live in Ghent.", "2023-03-01")
    settle(http, ann, "s1", "2023-03-02", ask_on={"I live in Ghent.": "2023-04-01"})
    assert "Does that still hold?" in say(http, ann, "Where do I live?", "2023-04-02")
    said = say(http, ann, reply, "2023-04-02")
    (fact,) = memory(http, ann, "s1", "2023-04-03")["facts"]
    assert (fact["confirmed_at"] is not None) == (after == "confirmed")
    assert (fact["superseded_by"] is not None) == (after == "over")
    assert ("“I live in Ghent” still holds." in said) == (after == "confirmed")
    assert ("“I live in Ghent” holds no longer." in said) == (after == "over")


def test_a_yes_settles_only_what_was_asked_just_before(http: httpx.Client, ann: str) -> None:
    tell(http, ann, "s1", "I live in Ghent.", "2023-03-01")
    settle(http, ann, "s1", "2023-03-02", ask_on={"I live in Ghent.": "2023-04-01"})
    assert "Does that still hold?" in say(http, ann, "Where do I live?", "2023-04-02")
    say(http, ann, "I like tea.", "2023-04-02")
    say(http, ann, "yes", "2023-04-02")
    assert memory(http, ann, "s1", "2023-04-03")["facts"][0]["confirmed_at"] is None


def test_a_model_reads_that_it_is_over_and_its_answer_is_followed_by_what_is_asked(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    tell(answering, ann, "s1", HOME, "2023-03-01")
    tell(answering, ann, "s2", "I live in Ghent.", "2023-03-01")
    settle(answering, ann, "s2", "2023-03-02", ask_on={"I live in Ghent.": "2023-04-01"})
    model.on(COT).reply("ANSWER: Not any more.")
    said = say(answering, ann, "Do I still work from home?", "2023-05-02")
    assert f"“{HOME}” held until 2023-05-01 (Mon)" in str(model.sent[-1].body)
    assert said.startswith("Not any more.\n\nYou said on 2023-03-01 (Wed)")
