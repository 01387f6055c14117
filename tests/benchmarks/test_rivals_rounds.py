"""What rivals are told and what is made of their memories: pure rules, by tables."""

from pathlib import Path

import pytest

from benchmarks.rivals.last_sessions import LastSessions, latest
from benchmarks.rivals.reader import PROMPT_TOKENS, prompt, quotes
from benchmarks.rivals.rounds import RecalledRound, Round, new_rounds, recorded_rounds

AT = "2024-01-01T10:00:00Z"


def turns(*said: str) -> list[dict[str, str]]:
    """`u…` is the user's, `a…` the assistant's, `s…` a system message."""
    roles = {"u": "user", "a": "assistant", "s": "system"}
    return [{"role": roles[text[0]], "content": text[1:], "timestamp": AT} for text in said]


def told(rounds: list[Round]) -> list[tuple[int, str]]:
    return [(one.index, one.text) for one in rounds]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (["uHi", "aHello"], [(0, "user: Hi\nassistant: Hello")]),
        (["uHi", "aHello", "aMore", "uBye"], [(0, "user: Hi\nassistant: Hello\nassistant: More")]),
        (["aWelcome", "uHi"], [(0, "assistant: Welcome"), (1, "user: Hi")]),
        (["u ", "a", "uHi"], [(1, "user: Hi")]),
        ([], []),
    ],
    ids=["a round", "two replies", "the assistant first", "nothing said", "nothing"],
)
def test_a_recorded_session_in_rounds(said: list[str], expected: list[tuple[int, str]]) -> None:
    rounds = told(recorded_rounds("s", turns(*said)))
    assert rounds[: len(expected)] == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (["sBe kind", "uHi"], [(0, "user: Hi")]),
        (["uHi", "aHello", "uBye"], [(0, "assistant: Hello"), (1, "user: Bye")]),
        (
            ["uHi", "aHello", "uHow", "aFine", "uBye"],
            [(1, "assistant: Fine"), (2, "user: Bye")],
        ),
        (["aWelcome", "uHi"], [(0, "assistant: Welcome"), (1, "user: Hi")]),
        (["uHi", "uStill there?"], [(1, "user: Still there?")]),
    ],
    ids=["the first", "with the reply before", "the third", "the assistant first", "no reply"],
)
def test_a_chat_request_says_what_the_last_one_did_not(
    said: list[str], expected: list[tuple[int, str]]
) -> None:
    assert told(new_rounds("s", turns(*said), AT)) == expected


def test_all_requests_of_a_chat_together_say_everything_once() -> None:
    chat = turns("uOne", "aTwo", "uThree", "aFour", "uFive")
    asked = [chat[:end] for end in (1, 3, 5)]
    said = [
        turn for messages in asked for one in new_rounds("s", messages, AT) for turn in one.turns
    ]
    assert said == [(turn["role"], turn["content"]) for turn in chat]


def memory(day: int, text: str, index: int = 0) -> RecalledRound:
    return RecalledRound(f"s{day}", index, f"2024-01-{day:02}T10:00:00Z", text)


def test_a_prompt_holds_the_best_memories_that_fit_oldest_first() -> None:
    best, long, third = memory(9, "best"), memory(5, "x" * 900), memory(2, "third")
    text = prompt("Which?", "2024-02-01T00:00:00Z", [best, long, third], tokens=150)
    assert len(text) <= 600
    assert text.index("[2024-01-02]\nthird") < text.index("[2024-01-09]\nbest")
    assert "xxx" not in text
    assert text.endswith("Today is 2024-02-01. Question: Which?")


def test_a_prompt_is_never_longer_than_its_budget() -> None:
    found = [memory(1 + n % 28, "word " * (50 * n), n) for n in range(1, 60)]
    text = prompt("Which?", AT, found)
    assert 4 * PROMPT_TOKENS * 0.9 < len(text) <= 4 * PROMPT_TOKENS


def test_of_one_round_the_user_is_read_first() -> None:
    reply, said = memory(1, "assistant: Fine.", 0), memory(1, "user: I keep bees.", 0)
    text = prompt("Which?", AT, [reply, said])
    assert text.index("I keep bees.") < text.index("Fine.")


def test_braces_in_memories_are_only_text() -> None:
    assert "{today}" in prompt("What is {x}?", AT, [memory(1, "the {today} template")])


def test_quotes_are_dated_short_and_few() -> None:
    lines = quotes([memory(n, f"fact {n} " + "y" * 999) for n in (3, 1, 2, 4)]).splitlines()
    assert [line[:21] for line in lines] == [
        f"- On 2024-01-0{n}: “fact {n}"[:21] for n in (3, 1, 2)
    ]
    assert max(map(len, lines)) < 330
    assert "don't know" in quotes([])


def test_the_last_sessions_are_those_of_the_latest_days() -> None:
    rounds = [
        Round(f"s{day}", index, f"2024-01-{day:02}T10:00:0{index}Z", (("user", f"{day}.{index}"),))
        for day in (4, 1, 3, 2)
        for index in (0, 1)
    ]
    found = latest(rounds, sessions=2)
    assert [one.text for one in found] == ["user: 4.0", "user: 4.1", "user: 3.0", "user: 3.1"]


def test_the_last_sessions_are_given_whole_however_long_they_are(tmp_path: Path) -> None:
    memory = LastSessions(tmp_path)
    memory.add("ann", [Round("s", n, AT, (("user", str(n)),)) for n in range(60)])
    assert len(memory.search("ann", "Which?", limit=50)) == 60
