"""What a statement, a greeting or thanks are answered with, without a language model."""

import httpx
import pytest
from calls import answer, chat, rounds

from assistant.answering.phrases import HELLO, WELCOME


def say(http: httpx.Client, user: str, text: str, **more: object) -> str:
    return answer(chat(http, user, text, metadata={"session_id": "s"}, **more))


def test_a_statement_says_what_is_kept_and_what_it_replaced(http: httpx.Client, ann: str) -> None:
    assert say(http, ann, "I live in Ghent.") == "Kept: “I live in Ghent”"
    said = say(http, ann, "I live in Oslo now.")
    assert said == "Kept: “I live in Oslo now”, before: “I live in Ghent”"
    assert [reply for _, reply in rounds(http, ann, "s")] == ["Noted.", "Noted."]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("remember: I live in Ghent.", "I live in Ghent"),
        ("Please remember: my locker is number 12", "my locker is number 12"),
        ("remember this: I moved to Ghent", "I moved to Ghent"),
        ("landlord: Pete Voss / plumber: Ana", "landlord: Pete Voss / plumber: Ana"),
        ("landlord: Pete Voss, only texts", "landlord: Pete Voss, only texts"),
        ("I like three things: tea, bread and rain.", "I like three things: tea, bread and rain"),
    ],
)
def test_what_is_kept_is_said_without_the_wish_to_keep_it(
    http: httpx.Client, ann: str, text: str, kept: str
) -> None:
    assert say(http, ann, text) == f"Kept: “{kept}”"
    assert [user for user, _ in rounds(http, ann, "s")] == [text]


def test_all_of_a_short_message_that_may_ask_is_said_to_be_kept(
    http: httpx.Client, ann: str
) -> None:
    text = "i quit the bakery. last day is the 31st"
    assert say(http, ann, text).endswith(f"Kept: “{text}”")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("I gave my cat a new bell.", "I gave my cat a new bell"),
        ("Meine Katze heißt jetzt Nori.", "Meine Katze heißt jetzt Nori"),
    ],
)
def test_a_statement_is_acknowledged_without_a_search(
    http: httpx.Client, ann: str, text: str, kept: str
) -> None:
    say(http, ann, "I adopted a cat called Miso.")
    reply = chat(http, ann, text, metadata={"session_id": "s", "debug": "1"})
    assert answer(reply) == f"Kept: “{kept}”"
    assert "recall" not in reply.text


def test_said_again_with_what_was_shown_it_is_one_round(http: httpx.Client, ann: str) -> None:
    first = say(http, ann, "I live in Ghent.")
    earlier = [
        {"role": "user", "content": "I live in Ghent."},
        {"role": "assistant", "content": first},
    ]
    say(http, ann, "I like tea.", earlier=earlier)
    say(http, ann, "I like tea.", earlier=earlier)
    assert [user for user, _ in rounds(http, ann, "s")] == ["I live in Ghent.", "I like tea."]


def test_what_a_question_tells_is_noted_after_its_answer_and_quoted_later(
    http: httpx.Client, ann: str
) -> None:
    say(http, ann, "I live in Ghent.")
    asked = "i just moved to Lyon, can you suggest a bakery?"
    said = say(http, ann, asked)
    assert said.endswith("Kept: “i just moved to Lyon”, before: “I live in Ghent”")
    assert "Kept" not in rounds(http, ann, "s")[-1][1]
    where = answer(chat(http, ann, "where do i live?", metadata={"memory": "read_only"}))
    assert where.index("“i just moved to Lyon”") < where.index("“I live in Ghent.”")
    # Sent back as it was shown, it is the same round.
    say(http, ann, "I like tea.", earlier=[*_shown(asked, said)])
    assert [user for user, _ in rounds(http, ann, "s")][-2:] == [asked, "I like tea."]


@pytest.mark.parametrize(
    "text", ["Where do I live?", "what was my rent", "I don't live in Paris, do I?"]
)
def test_a_question_alone_notes_nothing(http: httpx.Client, ann: str, text: str) -> None:
    say(http, ann, "I live in Ghent.")
    said = say(http, ann, text)
    assert "Noted" not in said
    assert "Kept" not in said


def _shown(user: str, reply: str) -> tuple[dict[str, str], dict[str, str]]:
    return {"role": "user", "content": user}, {"role": "assistant", "content": reply}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hi", HELLO),
        ("thanks", WELCOME),
        ("who are you", "I am Aide-mémoire"),
        ("what can you do", "I am Aide-mémoire"),
        ("who are you?", "I am Aide-mémoire"),
        ("how do you work", "I am Aide-mémoire"),
        ("what are you", "in the data folder"),
    ],
)
def test_a_few_polite_words(http: httpx.Client, ann: str, text: str, said: str) -> None:
    assert said in say(http, ann, text)


@pytest.mark.parametrize(
    "text", ["what do you know about me?", "do you know my name?", "do you remember my dog"]
)
def test_what_is_known_of_oneself_is_no_question_about_the_assistant(
    http: httpx.Client, ann: str, text: str
) -> None:
    say(http, ann, "My name is Sofia and I have a dog called Rex.")
    assert "“My name is Sofia and I have a dog called Rex.”" in say(http, ann, text)


def test_a_greeting_is_no_memory(http: httpx.Client, ann: str) -> None:
    for text in ("hi", "thanks", "moved to bergen last week"):
        answer(chat(http, ann, text, metadata={"session_id": "s"}))
    said = answer(chat(http, ann, "where do i live", metadata={"memory": "read_only"}))
    assert "“moved to bergen last week”" in said
    assert "“hi”" not in said
    assert "“thanks”" not in said


@pytest.mark.parametrize(
    ("said", "then", "reply"),
    [
        (
            "The coach to Wells leaves at 8.15.",
            "Oops, 8.50!",
            "Put right: “Oops, 8.50!”, before: “The coach to Wells leaves at 8.15”",
        ),
        (
            "The code for the allotment gate is 4471.",
            "Typo — 4417. I have the wrong glasses on.",
            "Put right: “Typo — 4417. I have the wrong glasses on”, "
            "before: “The code for the allotment gate is 4471”",
        ),
        (
            "We meet on Tuesday.",
            "no i meant thursday",
            "Put right: “no i meant thursday”, before: “We meet on Tuesday”",
        ),
        (
            "I live in Ghent.",
            "pulled a 91 on the orgo midterm, not bad huh",
            "Kept: “pulled a 91 on the orgo midterm, not bad huh”",
        ),
    ],
)
def test_what_was_said_a_moment_before_is_put_right(
    http: httpx.Client, ann: str, said: str, then: str, reply: str
) -> None:
    say(http, ann, said)
    assert say(http, ann, then) == reply


def test_a_fragment_that_was_answered_is_quoted_behind_what_was_told(
    http: httpx.Client, ann: str
) -> None:
    say(http, ann, "My landlord is called Ivo Maes.")
    assert "Ivo Maes" in say(http, ann, "landlord name")
    first = say(http, ann, "who is my landlord").splitlines()[1]
    assert "Ivo Maes" in first


def test_a_name_that_the_message_itself_tells_is_not_denied(http: httpx.Client, ann: str) -> None:
    say(http, ann, "My landlord put up the rent.")
    said = say(http, ann, "Who do I call about the damp? My landlord is called Ivo Maes.")
    assert "never came up" not in said


def test_a_question_of_ones_own_is_named_where_nothing_was_told(
    http: httpx.Client, ann: str
) -> None:
    asked = "Is it fine to take ibuprofen with wine?"
    assert say(http, ann, asked).startswith("I don't know")
    said = say(http, ann, "What did I ask about ibuprofen with wine?")
    assert f"You only asked about that:\n- On 2023-06-10 (Sat) you said: “{asked}”" in said


def test_who_leaves_is_let_go(http: httpx.Client, ann: str) -> None:
    assert say(http, ann, "good night") == "Goodbye! What you told me is kept."
    assert say(http, ann, "hello there").startswith("Hello!")
