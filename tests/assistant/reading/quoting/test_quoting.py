"""The quoting reader: dated quotes of what is near, or that it does not know."""

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from assistant.reading.quoting.phrases import NO_MEMORY, NOTED, UNKNOWN
from assistant.reading.quoting.reader import QuotingReader
from assistant.reading.reader import Question, Trace
from memory_store import Days, MemoryStore, Query, Recalled, Round

ASKED_AT = datetime(2023, 6, 10, tzinfo=UTC)


def round(index: int, user: str, assistant: str = "Noted.") -> Round:
    return Round("ann", "s", index, datetime(2023, 5, 20 + index, tzinfo=UTC), user, assistant)


async def ask(store: MemoryStore, text: str, *, floor: float = 0.33) -> tuple[str, Trace]:
    recall = await store.recall(Query("ann", text))
    return await read(store, text, list(recall.rounds), floor=floor)


async def read(
    store: MemoryStore, text: str, recalled: list[Recalled] | None, *, floor: float = 0.33
) -> tuple[str, Trace]:
    reader = QuotingReader(store, floor=floor)
    pieces = [piece async for piece in reader.read(Question(text, ASKED_AT, recalled=recalled))]
    traces = [piece.trace for piece in pieces if piece.trace]
    assert len(traces) == 1
    assert pieces[-1].trace is traces[0]
    return "".join(piece.text for piece in pieces), traces[0]


async def test_it_quotes_the_sentence_with_its_day(store: MemoryStore) -> None:
    await store.remember([round(0, "Nice weather. I ran a half marathon in Ghent. Any tips?")])
    answer, trace = await ask(store, "Where did I run the half marathon?")
    assert "On 2023-05-20 (Sat) you said: “I ran a half marathon in Ghent.”" in answer
    assert "Any tips?" not in answer
    assert list(trace.context) == [round(0, "").id]


async def test_the_newest_statement_comes_first(store: MemoryStore) -> None:
    said = ["My dentist is Dr. Peeters in Ghent.", "My dentist is now Dr. Maes in Ghent."]
    await store.remember([round(index, text) for index, text in enumerate(said)])
    answer, _ = await ask(store, "Who is my dentist in Ghent?")
    assert answer.index("Maes") < answer.index("Peeters")


async def test_a_sentence_that_points_back_is_quoted_with_what_it_points_to(
    store: MemoryStore,
) -> None:
    said = "Hello. I moved to Utrecht in spring. Before that I lived in Ghent."
    await store.remember([round(0, said)])
    answer, _ = await ask(store, "Where did I live before?")
    assert "“I moved to Utrecht in spring. Before that I lived in Ghent.”" in answer
    assert answer.count("Utrecht") == 1
    assert "Hello" not in answer


async def test_after_a_few_words_comes_the_sentence_that_tells_the_rest(
    store: MemoryStore,
) -> None:
    await store.remember([round(0, "We moved! The new flat has a balcony. Any plants for it?")])
    answer, _ = await ask(store, "When did we move?")
    assert answer.splitlines()[1:] == [
        "- On 2023-05-20 (Sat) you said: “We moved!”",
        "- On 2023-05-20 (Sat) you said: “The new flat has a balcony.”",
    ]


async def test_after_what_is_over_comes_what_was_said_next(store: MemoryStore) -> None:
    await store.remember([round(0, "I no longer work at Acme. Nimbus took me on. Any tips?")])
    answer, _ = await ask(store, "Do I still work at Acme?")
    assert answer.splitlines()[-1] == "- On 2023-05-20 (Sat) you said: “Nimbus took me on.”"


async def test_what_was_told_beside_a_question_without_an_answer_came_up(
    store: MemoryStore,
) -> None:
    told = "My locker has a blue lock. What is my shoe size?"
    await store.remember([round(0, told, UNKNOWN), round(1, "What is my badge?", UNKNOWN)])
    answer, _ = await ask(store, "Which colour has the lock of my locker?", floor=0.0)
    assert answer.startswith("From what we talked about:")
    answer, _ = await ask(store, "Which colour is my badge?", floor=0.0)
    assert answer.startswith("I don't know: your badge never came up")


async def test_of_two_things_in_a_sentence_the_one_that_was_replaced_is_named(
    store: MemoryStore,
) -> None:
    said = ["My name is Sofia and I live in Lyon.", "I moved to Nice."]
    await store.remember([round(index, text) for index, text in enumerate(said)])
    answer, _ = await ask(store, "Where do I live?", floor=0.0)
    assert answer.splitlines()[1:] == [
        "- On 2023-05-21 (Sun) you said: “I moved to Nice.”",
        "- On 2023-05-20 (Sat) you said: “My name is Sofia and I live in Lyon.”"
        " (no longer “I live in Lyon”: see 2023-05-21 (Sun))",
    ]


async def test_a_sentence_is_as_near_as_it_is_with_what_it_points_to(store: MemoryStore) -> None:
    said = ["I adopted a grey cat. She answers to Miso.", "I bought cat food.", "My cat is grey."]
    await store.remember([round(index, text) for index, text in enumerate(said)])
    answer, _ = await ask(store, "Which name does my cat answer to?")
    assert "“I adopted a grey cat. She answers to Miso.”" in answer


async def test_a_statement_made_twice_in_a_day_is_quoted_once(store: MemoryStore) -> None:
    again = replace(round(0, "I run in Ghent."), round_index=1)
    await store.remember([round(0, "I run in Ghent."), again, round(2, "I run in Ghent.")])
    answer, _ = await ask(store, "Where in Ghent have I run?")
    assert [line[:15] for line in answer.splitlines()[1:]] == ["- On 2023-05-22", "- On 2023-05-20"]


async def test_what_is_known_of_somebody_is_all_that_was_told(store: MemoryStore) -> None:
    said = ["Hi! I'm Nora.", "Any tips? I bake bread.", "Thanks! That helps."]
    await store.remember([round(index, text) for index, text in enumerate(said)])
    answer, trace = await ask(store, "What do you know about me?")
    assert answer.splitlines()[1:] == [
        "- On 2023-05-21 (Sun) you said: “I bake bread.”",
        "- On 2023-05-20 (Sat) you said: “I'm Nora.”",
    ]
    assert len(trace.quoted) == 2


async def test_of_somebody_who_told_nothing_nothing_is_known(store: MemoryStore) -> None:
    await store.remember([round(0, "Which bread is best?", "Rye.")])
    assert (await ask(store, "What do you know about me?"))[0] == UNKNOWN


async def test_of_a_time_alone_what_was_said_or_happened_then_is_told(store: MemoryStore) -> None:
    said = ["I sold my boat.", "I went to Rome last Monday.", "I did what I always do."]
    await store.remember([round(5 * index, text) for index, text in enumerate(said)])
    text = "What did I do that week?"
    recalled = list((await store.recall(Query("ann", text))).rounds)
    assert len(recalled) == 3

    async def of(first: int, last: int) -> list[str]:
        days = Days(date(2023, 5, first), date(2023, 5, last))
        question = Question(text, ASKED_AT, recalled=recalled, days=days)
        pieces = [piece async for piece in QuotingReader(store, floor=0.33).read(question)]
        return pieces[0].text.splitlines()

    assert (await of(20, 22))[1:] == [
        "- On 2023-05-25 (Thu) you said: “I went to Rome last Monday.”",
        "- On 2023-05-20 (Sat) you said: “I sold my boat.”",
    ]
    (nothing,) = await of(1, 2)
    assert nothing.startswith("I don't know: I found nothing of that time")


async def test_what_gives_the_value_asked_for_answers_however_it_is_said(
    store: MemoryStore,
) -> None:
    told = "My name is Sofia and I live in Lyon."
    moved = "I moved from Lyon to Nice last week."
    await store.remember([round(0, told), round(1, moved)])
    answer, _ = await ask(store, "Where do I live?")
    assert answer.index(moved) < answer.index(told)
    alone, trace = await ask(store, "Where do I live?", floor=2.0)
    assert alone == f"From what we talked about:\n- On 2023-05-21 (Sun) you said: “{moved}”"
    assert list(trace.quoted) == [round(1, "").id]
    await store.remember([round(2, "I no longer live in Nice.")])
    answer, _ = await ask(store, "Where do I live?")
    assert "no longer live in Nice" in answer


async def test_a_relative_has_several_names(store: MemoryStore) -> None:
    await store.remember([round(0, "My mum's birthday is on 3 March.")])
    answer, _ = await ask(store, "When is my mother's birthday?")
    assert answer.startswith("From what we talked about:")
    answer, _ = await ask(store, "When is my father's birthday?")
    assert "your father never came up" in answer


async def test_a_question_without_its_mark_is_not_quoted(store: MemoryStore) -> None:
    await store.remember([round(0, "what is my name"), round(1, "My name is Ann.")])
    answer, _ = await ask(store, "What is my name?")
    assert "what is my name" not in answer


async def test_what_no_longer_holds_comes_with_what_replaced_it(store: MemoryStore) -> None:
    await store.remember([round(0, "I live in Ghent, where do I live?")])
    await store.remember([round(1, "I live in Ghent."), round(2, "I moved to Bruges.")])
    answer, _ = await ask(store, "Do I live in Ghent?")
    assert answer.index("Bruges") < answer.index("Ghent.”")


async def test_what_replaced_a_quote_is_named_with_its_day(store: MemoryStore) -> None:
    await store.remember([round(0, "I live in Ghent."), round(1, "I moved to Bruges yesterday.")])
    answer, _ = await ask(store, "Which town do I live in?")
    lines = answer.splitlines()
    assert lines[1] == "- On 2023-05-21 (Sun) you said: “I moved to Bruges yesterday.”"
    assert lines[2].endswith("you said: “I live in Ghent.” (no longer: see 2023-05-21 (Sun))")


async def test_the_newest_statement_about_somebody_else_holds(store: MemoryStore) -> None:
    await store.remember(
        [round(0, "Clara lives in Porto."), round(3, "No, Clara moved to Lisbon.")]
    )
    answer, _ = await ask(store, "Where does Clara live?")
    lines = answer.splitlines()
    assert lines[1] == "- On 2023-05-23 (Tue) you said: “No, Clara moved to Lisbon.”"
    assert lines[2].endswith("“Clara lives in Porto.” (no longer: see 2023-05-23 (Tue))")
    assert len(lines) == 3


async def test_of_one_day_what_holds_comes_first(store: MemoryStore) -> None:
    porto = round(0, "Clara lives in Porto.")
    lisbon = replace(round(1, "No, Clara moved to Lisbon."), session_date=porto.session_date)
    await store.remember([porto, lisbon])
    answer, _ = await ask(store, "Where does Clara live?")
    assert answer.index("Lisbon") < answer.index("Porto")


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
    assert "“I live in Ghent now.” (no longer: see 2023-05-21 (Sun))" in answer
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


async def test_it_does_not_know_what_is_not_near(store: MemoryStore) -> None:
    await store.remember([round(0, "I ran a half marathon in Ghent.")])
    assert (await ask(store, "What colour is my bicycle?"))[0] == UNKNOWN
    assert (await ask(store, "Where was the half marathon?", floor=2.0))[0] == UNKNOWN
    assert (await read(store, "Anything?", []))[0] == UNKNOWN


async def test_it_does_not_quote_its_own_quotes(store: MemoryStore) -> None:
    await store.remember([round(0, "I ran a half marathon in Ghent.")])
    first, _ = await ask(store, "Where was my half marathon?")
    await store.remember([round(1, "Where was my half marathon?", first)])
    again, _ = await ask(store, "Where was my half marathon?")
    assert again == first


async def test_without_memory_it_says_so(store: MemoryStore) -> None:
    assert (await read(store, "anything", None))[0] == NO_MEMORY


async def test_a_long_sentence_is_shortened_at_a_word(store: MemoryStore) -> None:
    await store.remember([round(0, "I like marathon running " + "and cycling " * 100)])
    answer, _ = await ask(store, "Do I like marathon running and cycling?")
    assert answer.endswith("cycling …”") or answer.endswith("and …”")
    assert len(answer) < 600


async def test_a_statement_is_noted(store: MemoryStore) -> None:
    await store.remember([round(0, "I adopted a cat called Miso.")])
    answer, trace = await ask(store, "I gave my cat a new bell.")
    assert (answer, list(trace.context)) == (NOTED, [])


async def test_a_name_that_never_came_up_is_not_known(store: MemoryStore) -> None:
    await store.remember([round(0, "I ran a half marathon with Ann in Ghent.")])
    answer, _ = await ask(store, "Where did I run a half marathon with Bartholomew?")
    assert answer.startswith("I don't know: Bartholomew never came up in what we talked about.")
    assert "The closest that I find:\n- On 2023-05-20 (Sat) you said: “I ran" in answer
    assert "I don't" not in (await ask(store, "Where did I run a half marathon with Ann?"))[0]


@pytest.mark.parametrize(
    ("question", "what"),
    [
        ("What is my dog called?", "your dog"),
        ("How old is my new dog?", "your dog"),
        ("Do I have a dog?", "having a dog"),
    ],
)
async def test_a_thing_that_never_came_up_is_not_known(
    store: MemoryStore, question: str, what: str
) -> None:
    await store.remember([round(0, "I adopted a cat called Miso.")])
    admitted, _ = await ask(store, question, floor=0.0)
    assert admitted.startswith(f"I don't know: {what} never came up in what we talked about.")
    assert "The closest that I find:" in admitted
    await store.remember([round(1, question, admitted)])
    assert (await ask(store, question, floor=0.0))[0] == admitted
    await store.remember([round(2, "My dogs are called Rex and Max.")])
    assert "don't know" not in (await ask(store, question, floor=0.0))[0]


async def test_what_came_up_is_quoted(store: MemoryStore) -> None:
    await store.remember([round(0, "I adopted a cat called Miso.")])
    for question in (
        "What is my cat called?",
        "What are my own cats called?",
        "Do I have a cat?",
        "In our last chat, what did you say about a cat?",
    ):
        assert "don't know" not in (await ask(store, question, floor=0.0))[0]


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
    "newest count": (
        [(20, "I own two bikes."), (25, "I own three bikes now.")],
        "How many bikes do I own?",
        "The number you gave last is 3.",
    ),
    "count of what one has": (
        [(20, "I live here with our two kids."), (25, "We had a party with 11 kids.")],
        "How many kids do I have?",
        "The number you gave last is 2.",
    ),
    "no count of what others have": (
        [(20, "We had a party with 11 kids."), (25, "My brother brought his kids.")],
        "How many kids do I have?",
        "From what we",
    ),
    "sum": (
        [(20, "The bike lamp cost $40."), (25, "The bike lock cost $25.")],
        "How much did I spend on bike parts in total?",
        "The amounts I find add up to $65 ($25 + $40).",
    ),
    "sum in euros": (
        [(20, "The bike lamp cost 40 euros."), (25, "The bike lock cost 25 €.")],
        "How much did I spend on bike parts in total?",
        "The amounts I find add up to €65 (€25 + €40).",
    ),
    "no sum of two currencies": (
        [(20, "The bike lamp cost 40 euros."), (25, "The bike lock cost $25.")],
        "How much did I spend on bike parts in total?",
        "From what we",
    ),
    "yes": ([(20, "My cat Miso is vegan.")], "Is my cat Miso vegan?", "Yes, as you said."),
    "no": ([(20, "My cat Miso is not vegan.")], "Is my cat Miso vegan?", "No, as you said."),
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
    assert all(words.removesuffix(".") in answer for _, words in said)
    assert len(trace.context) == len(said)


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
