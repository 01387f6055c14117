"""The quoting reader, asked about what the assistant said."""

from memory_store import MemoryStore
from tests.support.quotes import ask, round


async def test_it_quotes_what_the_assistant_said(store: MemoryStore) -> None:
    await store.remember([round(0, "Any hotel?", "The Marriott hotel in Ghent is good.")])
    answer, _ = await ask(store, "Which hotel in Ghent did you recommend?")
    assert "I said: “The Marriott hotel in Ghent is good.”" in answer


async def test_a_reply_is_found_by_the_request_before_it(store: MemoryStore) -> None:
    await store.remember(
        [
            round(0, "How do I thicken a soup?", "With a little starch."),
            round(1, "I sing in a choir on Mondays.", "Which voice?"),
        ]
    )
    answer, _ = await ask(store, "What did you suggest to thicken a soup?")
    assert "I said: “With a little starch.”" in answer


async def test_the_reply_to_the_nearest_request_is_told_though_no_word_is_shared(
    store: MemoryStore,
) -> None:
    await store.remember(
        [
            round(0, "Suggest a novel set in a lighthouse.", "“Arithmetic” by Dora Finch."),
            round(1, "Any film about the sea?", "“Salt” is one."),
        ]
    )
    answer, _ = await ask(store, "Which novel set in a lighthouse did you suggest?")
    assert "I said: ““Arithmetic” by Dora Finch.”" in answer


BOTTLES = "These bottles open a gin bar:\n\n1. Campari: a bitter.\n2. Absinthe: a strong one."


async def test_a_list_that_was_replied_is_quoted_in_short(store: MemoryStore) -> None:
    await store.remember([round(0, "What does a gin bar need?", BOTTLES)])
    answer, _ = await ask(store, "Which bottles did you suggest for a gin bar?")
    assert "I said: “These bottles open a gin bar: 1. Campari; 2. Absinthe”" in answer


async def test_an_item_of_a_few_words_is_told_with_its_list(store: MemoryStore) -> None:
    bare = "Here are bottles for a gin bar:\n\n1. Gin\n2. Campari\n3. Vermouth"
    await store.remember([round(0, "What does a gin bar need?", bare)])
    answer, trace = await ask(store, "What was the second bottle you recommended for a gin bar?")
    assert answer.splitlines() == [
        "That was: “Campari”",
        "From what we talked about:",
        "- On 2023-05-20 (Sat) I said: “Here are bottles for a gin bar: 1. Gin; 2. Campari; "
        "3. Vermouth”",
    ]
    assert list(trace.quoted) == [round(0, "").id]


async def test_what_the_assistant_repeats_tells_nothing(store: MemoryStore) -> None:
    echo = "So “I moved to Ghent.” is noted, and where in Ghent do you live?"
    await store.remember([round(0, "I moved to Ghent.", echo)])
    answer, _ = await ask(store, "Where do I live?")
    assert answer.splitlines()[1] == "- On 2023-05-20 (Sat) you said: “I moved to Ghent.”"


async def test_what_comes_after_a_few_words_is_quoted_with_what_replaced_it(
    store: MemoryStore,
) -> None:
    said = ["We moved! I live in Ghent now.", "I live in Bruges now."]
    await store.remember([round(index, text) for index, text in enumerate(said)])
    answer, _ = await ask(store, "When have we moved?")
    assert (
        "“We moved! I live in Ghent now.” (no longer “I live in Ghent now”: “I live in Bruges "
        "now.”, see 2023-05-21 (Sun))" in answer
    )
    assert "On 2023-05-21 (Sun) you said: “I live in Bruges now.”" in answer


async def test_an_item_is_told_by_its_place_in_the_list_asked_about(store: MemoryStore) -> None:
    rum = "These bottles open a rum bar:\n\n1. Rum: a dark one.\n2. Curacao: a blue one."
    await store.remember(
        [
            round(0, "What does a gin bar need?", BOTTLES),
            round(1, "What does a rum bar need?", rum),
        ]
    )
    answer, trace = await ask(store, "What was the second bottle you suggested for a gin bar?")
    assert answer.splitlines()[0] == "That was: “Absinthe: a strong one.”"
    assert "On 2023-05-20 (Sat) I said: “These bottles open a gin bar: 1. Campari; 2." in answer
    assert round(0, "").id in trace.context
