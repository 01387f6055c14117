"""The quoting reader: what follows by rule comes above the quotes."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memory_store import MemoryStore, Round
from tests.support.quotes import ask, round

# (what was said on which day of May, question) → how the answer begins
CONCLUSIONS = {
    "ago": (
        [(20, "I adopted my cat Miso.")],
        "How many days ago did I adopt my cat?",
        "That is 21 days ago: 2023-05-20 (Sat) to 2023-06-10 (Sat).",
    ),
    "ago, by the day it happened": (
        [(20, "I adopted my cat Miso two days ago.")],
        "How many days ago did I adopt my cat?",
        "That is 23 days ago: 2023-05-18 (Thu)",
    ),
    "ago, asked before": (
        [(20, "I adopted my cat Miso."), (25, "How long ago did I adopt my cat Miso?")],
        "How long ago did I adopt my cat Miso?",
        "That is 21 days (3 weeks) ago: 2023-05-20 (Sat) to 2023-06-10 (Sat).",
    ),
    "weeks": (
        [(22, "I planted the walnut tree.")],
        "How many weeks ago did I plant the walnut tree?",
        "That is 2 weeks and 5 days ago",
    ),
    "between": (
        [(20, "I bought running shoes."), (25, "The concert was loud.")],
        "How many days passed between my running shoes and the concert?",
        "That is 5 days apart: 2023-05-20 (Sat) to 2023-05-25 (Thu).",
    ),
    "which first": (
        [(20, "I bought a loom."), (25, "I bought a kayak.")],
        "Which did I buy first, the kayak or the loom?",
        "Loom came first.",
    ),
    "which last": (
        [(20, "I bought a loom."), (25, "I bought a kayak.")],
        "Which did I buy later, the kayak or the loom?",
        "Kayak came later.",
    ),
    "no order of what was told and what was not": (
        [(20, "I bought a loom."), (25, "I bought new curtains for the hall.")],
        "Which did I buy first, the kayak or the loom?",
        "From what we",
    ),
    "no count of what others have": (
        [(20, "We had a party with 11 kids."), (25, "My brother brought his kids.")],
        "How many kids do I have?",
        "From what we",
    ),
    "no sum of two currencies": (
        [(20, "The bike lamp cost 40 euros."), (25, "The bike lock cost $25.")],
        "How much did I spend on bike parts in total?",
        "From what we",
    ),
    "no count": (
        [(20, "I own two bikes."), (25, "I own three bikes now.")],
        "How many bikes do I own?",
        "From what we talked about:\n- On 2023-05-25",
    ),
    "no sum": (
        [(20, "The bike lamp cost $40."), (25, "The bike lock cost $25.")],
        "How much did I spend on bike parts in total?",
        "From what we",
    ),
    "no yes or no": ([(20, "My cat is vegan.")], "Is my cat vegan?", "From what we"),
    "nothing follows": ([(20, "My cat is called Miso.")], "What is my cat called?", "From what we"),
}


@pytest.mark.parametrize("case", CONCLUSIONS)
async def test_what_follows_by_rule_comes_first(store: MemoryStore, case: str) -> None:
    said, text, begins = CONCLUSIONS[case]
    at = datetime(2023, 5, 1, tzinfo=UTC)
    await store.remember(
        [
            Round("ann", f"s{day}", 0, at.replace(day=day), words, "Nice to hear.")
            for day, words in said
        ]
    )
    answer, trace = await ask(store, text, floor=0.0)
    assert answer.startswith(begins)
    told = [words.removesuffix(".") for _, words in said if not words.endswith("?")]
    assert all(words in answer for words in told)
    assert len(trace.context) == len(told)


@pytest.mark.parametrize(
    ("said", "question", "day"),
    [
        ("I adopted a cat yesterday.", "When did I adopt a cat?", " (that is Fri 2023-05-19)"),
        (
            "I adopted a cat yesterday. She answers to the name Miso.",
            "When did the cat Miso get its name?",
            " (that is Fri 2023-05-19)",
        ),
        ("My wedding is on 12 June next year.", "When is it?", " (that is Wed 2024-06-12)"),
        ("I adopted a cat today.", "When did I adopt a cat?", ""),
        ("I adopted a cat on 2023-05-19.", "When did I adopt a cat?", ""),
        ("I adopted a cat on May 19th.", "When did I adopt a cat?", ""),
        ("I adopted a cat on 5/19.", "When did I adopt a cat?", ""),
        ("I ran yesterday and last Monday.", "When did I run?", ""),
        ("I adopted a cat yesterday.", "What did I adopt?", ""),
    ],
)
async def test_a_quote_says_which_day_it_means(
    store: MemoryStore, said: str, question: str, day: str
) -> None:
    await store.remember([round(0, said)])
    answer, _ = await ask(store, question, floor=0.0)
    assert answer.splitlines()[1] == f"- On 2023-05-20 (Sat) you said: “{said}”{day}"


async def test_an_order_is_told_from_its_first_day(store: MemoryStore) -> None:
    said = ["I visited Rome.", "I visited Oslo.", "I visited Ghent."]
    await store.remember([round(index, text) for index, text in enumerate(said)])
    answer, _ = await ask(store, "In which order did I visit Ghent, Rome and Oslo?")
    first, _, *quotes = answer.splitlines()
    assert first == "In the order of their days, oldest first."
    assert [quote.split("“")[1].rstrip("”") for quote in quotes] == said


async def test_of_one_day_the_nearest_comes_first(store: MemoryStore) -> None:
    said = ["I ran in the park in Ghent.", "I ran in Ghent in the rain with my red running shoes."]
    hours = [datetime(2023, 5, 20, hour, tzinfo=UTC) for hour in range(2)]
    await store.remember(
        [replace(round(hour, said[hour]), session_date=at) for hour, at in enumerate(hours)]
    )
    answer, _ = await ask(store, "Did I run in the park in Ghent?")
    assert answer.index(said[0]) < answer.index(said[1])
