"""What is not to be remembered is not stored, and the answer says so."""

from datetime import date

import httpx
import pytest
from calls import answer, chat, events, rounds, sessions, streamed_text
from refused_messages import HELD_OUT, SEEN, WRITTEN_LATER
from scripted_model import ScriptedModel

from assistant.chat.acts import NOT_KEPT, NOT_KEPT_LINE, NOT_KEPT_MODE, sure_to_forget
from assistant.chat.call import Meaning
from memory_store.language import ENGLISH, wishes_of

SURE = 0.33


def test_a_hundred_messages() -> None:
    assert len({*SEEN, *HELD_OUT}) == 100


@pytest.mark.parametrize("messages", [SEEN, HELD_OUT], ids=["seen", "held out"])
def test_none_is_stored(http: httpx.Client, ann: str, messages: list[str]) -> None:
    for number, text in enumerate(messages):
        chat(http, ann, text, metadata={"session_id": f"s{number}"})
    assert sessions(http, ann) == {}


def test_without_a_model_it_is_said_and_nothing_else(http: httpx.Client, ann: str) -> None:
    for stream in (False, True):
        reply = chat(http, ann, "my pin is 4471, dont save it", stream=stream)
        said = streamed_text(events(reply.text)) if stream else answer(reply)
        assert said == NOT_KEPT
    assert sessions(http, ann) == {}


@pytest.mark.parametrize("stream", [False, True])
def test_a_model_answers_and_a_line_says_that_nothing_is_stored(
    answering: httpx.Client, model: ScriptedModel, ann: str, stream: bool
) -> None:
    model.on("plain").reply("All right.")
    reply = chat(answering, ann, "my pin is 4471, dont save it", stream=stream)
    said = streamed_text(events(reply.text)) if stream else answer(reply)
    assert said == f"All right.\n\n{NOT_KEPT_LINE}"
    assert sessions(answering, ann) == {}


@pytest.mark.parametrize("mode", ["read_only", "off"])
def test_in_other_modes_nothing_is_noted(http: httpx.Client, ann: str, mode: str) -> None:
    said = answer(chat(http, ann, "my sister moved to Bergen.", metadata={"memory": mode}))
    assert not said.startswith(("Noted", "Kept"))
    assert "memory is" in said
    if mode == "read_only":
        assert said == NOT_KEPT_MODE
    assert sessions(http, ann) == {}


def test_what_tells_is_still_stored(http: httpx.Client, ann: str) -> None:
    told = ["I don't remember where I parked.", "My boss never writes things down.", "I ran."]
    for text in told:
        chat(http, ann, text, metadata={"session_id": "s"})
    assert [user for user, _ in rounds(http, ann, "s")] == told


def test_most_of_what_was_written_later_is_kept_out() -> None:
    """31 of 100 were stored when it was first tried; docs/decisions/0016-acts.md."""
    wishes = {text: wishes_of(text) for text in WRITTEN_LATER}
    stored = [text for text, wish in wishes.items() if max(wish.refuses, wish.forgets) < SURE]
    assert len(stored) <= 12


@pytest.mark.parametrize(
    ("text", "forgets"),
    [
        ("forget that my sister is pregnant", True),
        ("please forget that I was in hospital", True),
        ("please forget my pen name", True),
        ("The visa is done. Please forget my passport number.", True),
        ("I forget my keys all the time.", False),
        ("Don't let me forget my keys", False),
        ("don't forget the milk tomorrow", False),
        ("do not forget that I hate fish", False),
        ("I always forget that the bins go out on Monday.", False),
        ("This is Hannah.", False),
    ],
)
def test_what_is_forgotten_and_what_is_only_about_forgetting(text: str, forgets: bool) -> None:
    meaning = Meaning.of(text, text, ENGLISH, date(2023, 5, 20))
    assert (sure_to_forget(meaning) >= SURE) is forgets
    assert meaning.wishes.refuses < SURE or forgets
