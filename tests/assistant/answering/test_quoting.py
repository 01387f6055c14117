"""The quoting reader: dated quotes of what is near, or that it does not know."""

from dataclasses import replace
from datetime import date

import pytest

from assistant.answering.conclusions import unheard
from assistant.answering.phrases import NO_MEMORY, UNKNOWN
from assistant.answering.quoting import QuotingReader
from assistant.answering.reader import Question, Trace
from memory_store import (
    Days,
    MemoryStore,
    Query,
    Speaker,
)
from memory_store.language import ENGLISH
from tests.support.quotes import ASKED_AT, ask, read, round


async def test_it_quotes_the_sentence_with_its_day(store: MemoryStore) -> None:
    await store.remember([round(0, "Nice weather. I ran a half marathon in Ghent. Any tips?")])
    answer, trace = await ask(store, "Where did I run the half marathon?")
    said = "On 2023-05-20 (Sat) you said: “I ran a half marathon in Ghent.”"
    assert said in answer
    assert "Any tips?" not in answer
    assert "Nice weather" not in answer
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
        "- On 2023-05-20 (Sat) you said: “We moved! The new flat has a balcony.”",
    ]


async def test_after_what_is_over_comes_what_was_said_next(store: MemoryStore) -> None:
    await store.remember([round(0, "I no longer work at Acme. Nimbus took me on. Any tips?")])
    answer, _ = await ask(store, "Do I still work at Acme?")
    assert answer.endswith("you said: “I no longer work at Acme. Nimbus took me on.”")


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
        " (no longer “I live in Lyon”: “I moved to Nice.”, see 2023-05-21 (Sun))",
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
    assert answer.startswith("What I know about you (2 things, the newest of each first):")
    assert [line for line in answer.splitlines() if line.startswith("- On")] == [
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
        asked = replace(ENGLISH.asked(text, ASKED_AT.date()), days=days)
        question = Question(text, ASKED_AT, recalled=recalled, asked=asked)
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
    far, trace = await ask(store, "Where do I live?", floor=2.0)
    assert far.startswith(f"From what we talked about:\n- On 2023-05-21 (Sun) you said: “{moved}”")
    assert "(no longer “I live in Lyon”" in far
    assert list(trace.quoted) == [round(1, "").id, round(0, "").id]
    await store.remember([round(2, "I no longer live in Nice.")])
    answer, _ = await ask(store, "Where do I live?")
    assert "no longer live in Nice" in answer


async def test_a_relative_has_several_names(store: MemoryStore) -> None:
    await store.remember([round(0, "My mum's birthday is on 3 March.")])
    answer, _ = await ask(store, "When is my mother's birthday?")
    assert answer.startswith("From what we talked about:")
    answer, _ = await ask(store, "When is my father's birthday?")
    assert "your father never came up" in answer


async def test_another_word_for_the_same_has_come_up(store: MemoryStore) -> None:
    await store.remember([round(0, "the missus starts her course in ghent in september")])
    answer, _ = await ask(store, "What is my wife going to learn?")
    assert "never came up" not in answer


@pytest.mark.parametrize("question", ["what is my name", "What is my name?"])
async def test_a_question_comes_after_what_tells(store: MemoryStore, question: str) -> None:
    await store.remember([round(0, "My name is Ann."), round(1, question, "Ann.")])
    answer, _ = await ask(store, "What is my name?")
    assert answer.startswith("From what we talked about:\n- On 2023-05-20 (Sat) you said: “My name")
    assert question not in answer.splitlines()[1]


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
    assert lines[2].endswith(
        "“I live in Ghent.” (no longer: “I moved to Bruges yesterday.”, see 2023-05-21 (Sun))"
    )


async def test_the_newest_statement_about_somebody_else_holds(store: MemoryStore) -> None:
    await store.remember(
        [round(0, "Clara lives in Porto."), round(3, "No, Clara moved to Lisbon.")]
    )
    answer, _ = await ask(store, "Where does Clara live?")
    lines = answer.splitlines()
    assert lines[1] == "- On 2023-05-23 (Tue) you said: “No, Clara moved to Lisbon.”"
    assert lines[2].endswith(
        "“Clara lives in Porto.” (no longer: “No, Clara moved to Lisbon.”, see 2023-05-23 (Tue))"
    )
    assert len(lines) == 3


@pytest.mark.parametrize(
    ("told", "correction"),
    [
        ("My flight leaves on Thursday.", "Sorry, I got that wrong, the flight leaves on Friday."),
        ("My new manager is Ingrid Sol.", "Actually it's Astrid Sol, Ingrid is in payroll."),
        ("The tortoise we adopted is 30.", "Correction, the vet says she is 45."),
    ],
)
async def test_what_the_next_message_puts_right_no_longer_holds(
    store: MemoryStore, told: str, correction: str
) -> None:
    await store.remember([round(0, told), round(1, correction)])
    answer, _ = await ask(store, told.replace(".", "?"), floor=0.0)
    assert answer.index(correction) < answer.index(
        f"“{told}” (no longer: “{correction}”, see 2023-05-21 (Sun))"
    )


async def test_what_a_later_message_with_its_words_puts_right_no_longer_holds(
    store: MemoryStore,
) -> None:
    told = "The plumber charged 310 for the leak."
    correction = "I got the plumber's bill wrong: it's 301, not 310."
    await store.remember([replace(round(0, told), session_id="then"), round(3, correction)])
    answer, _ = await ask(store, "How much did the plumber charge?", floor=0.0)
    assert answer.index(correction) < answer.index(
        f"“{told}” (no longer: “{correction}”, see 2023-05-23 (Tue))"
    )


async def test_a_correction_of_something_else_leaves_what_was_said_before_it(
    store: MemoryStore,
) -> None:
    await store.remember(
        [
            round(0, "My sister visits on Sunday."),
            round(1, "Correction: the rent was wrong, rent is 950."),
        ]
    )
    answer, _ = await ask(store, "When does my sister visit?", floor=0.0)
    assert "no longer" not in answer


async def test_of_one_day_what_holds_comes_first(store: MemoryStore) -> None:
    porto = round(0, "Clara lives in Porto.")
    lisbon = replace(round(1, "No, Clara moved to Lisbon."), session_date=porto.session_date)
    await store.remember([porto, lisbon])
    answer, _ = await ask(store, "Where does Clara live?")
    assert answer.index("Lisbon") < answer.index("Porto")


async def test_it_does_not_know_what_is_not_near(store: MemoryStore) -> None:
    await store.remember([round(0, "I ran a half marathon in Ghent.")])
    assert (await ask(store, "What colour is my bicycle?"))[0].startswith(UNKNOWN)
    assert (await ask(store, "Where was the half marathon?", floor=2.0))[0].startswith(UNKNOWN)
    assert (await read(store, "Anything?", []))[0] == UNKNOWN


async def test_it_does_not_quote_its_own_quotes(store: MemoryStore) -> None:
    await store.remember([round(0, "I ran a half marathon in Ghent.")])
    first, _ = await ask(store, "Where was my half marathon?")
    await store.remember([round(1, "Where was my half marathon?", first)])
    again, _ = await ask(store, "Where was my half marathon?")
    assert again.startswith(first)
    assert again.count("From what we talked about") == 1
    assert again.count("I ran a half marathon") == 1


async def test_without_memory_it_says_so(store: MemoryStore) -> None:
    assert (await read(store, "anything", None))[0] == NO_MEMORY


async def test_a_long_sentence_is_shortened_at_a_word(store: MemoryStore) -> None:
    await store.remember([round(0, "I like marathon running " + "and cycling " * 100)])
    answer, _ = await ask(store, "Do I like marathon running and cycling?")
    assert answer.endswith("cycling …”") or answer.endswith("and …”")
    assert len(answer) < 600


async def test_a_german_noun_is_no_name(store: MemoryStore) -> None:
    await store.remember([round(0, "Ich bin den Halbmarathon in Gent mit Ann gelaufen.")])
    question = "Wo bin ich den Halbmarathon in diesem Sommer mit Ann gelaufen?"
    assert "never came up" not in (await ask(store, question))[0]


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
    # What was asked itself tells nothing: it comes behind what was told, if at all.
    assert (await ask(store, question, floor=0.0))[0].startswith(admitted)
    await store.remember([round(2, "My dogs are called Rex and Max.")])
    assert "don't know" not in (await ask(store, question, floor=0.0))[0]


async def test_where_not_all_was_read_a_thing_is_new_that_the_whole_memory_has_no_word_of(
    store: MemoryStore,
) -> None:
    for index in range(10):
        await store.remember([round(index, f"I watered plant number {index}.")])
    recalled = [*(await store.recall(Query("ann", "plant", 30))).rounds] * 3
    asked = ("What is my dog called?", "Where is my grandma?")
    assert unheard(asked[0], recalled, frozenset({"dog"})) == ["your dog"]
    assert unheard(asked[0], recalled, frozenset()) == []
    assert unheard(asked[0], recalled, None) == []
    # Grandmothers go by other names.
    assert unheard(asked[1], recalled, frozenset({"grandma"})) == []


async def test_recall_tells_the_words_that_nobody_used(store: MemoryStore) -> None:
    await store.remember([round(0, "I adopted a cat called Miso.")])
    assert (await store.recall(Query("ann", "What is my dog called?"))).unknown == {"dog"}


async def test_what_came_up_is_quoted(store: MemoryStore) -> None:
    await store.remember([round(0, "I adopted a cat called Miso.")])
    for question in (
        "What is my cat called?",
        "What are my own cats called?",
        "Do I have a cat?",
        "In our last chat, what did you say about a cat?",
    ):
        assert "don't know" not in (await ask(store, question, floor=0.0))[0]


async def test_a_kind_of_things_came_up_with_what_is_of_the_kind(store: MemoryStore) -> None:
    await store.remember([round(0, "Our rabbit Clover died this morning.")])
    answer, _ = await ask(store, "Which of our pets died?", floor=0.0)
    assert "never came up" not in answer
    assert "Our rabbit Clover died" in answer


async def test_what_was_quoted_from_others_comes_last_and_says_so(store: MemoryStore) -> None:
    pasted = "Please proofread this letter:\n\nMy dentist is now Dr Peeters in Ghent."
    await store.remember([round(0, "My dentist is Dr Maes in Ghent."), round(1, pasted)])
    answer, _ = await ask(store, "Who is my dentist in Ghent?")
    assert "you said: “My dentist is Dr Maes in Ghent.”" in answer
    assert "a text that you sent said: “My dentist is now Dr Peeters in Ghent.”" in answer
    assert answer.index("Maes") < answer.index("Peeters")
    assert "no longer" not in answer


async def test_a_typed_line_is_not_taken_for_a_text_that_was_sent(store: MemoryStore) -> None:
    typed = "cancelled the gym. swimming at bellahouston tuesdays w shabnam from work instead"
    (record,) = await store.remember([round(0, typed)])
    assert {fact.speaker for fact in record.facts} == {Speaker.QUOTED}
    answer, _ = await ask(store, "do i still go to that gym?")
    assert f"you said: “{typed}”" in answer


async def test_that_a_thing_is_not_named_says_little_of_a_part_of_short_messages(
    store: MemoryStore,
) -> None:
    said = [f"Walk number {number} was fine." for number in range(24)]
    said.append("New hearing aids, Phonaks, from Dr Patel.")
    rounds = [replace(round(0, text), round_index=at) for at, text in enumerate(said)]
    await store.remember(rounds)
    answer, _ = await ask_many(store, "What brand are the hearing aids in my ears?")
    assert answer.splitlines()[1].endswith("“New hearing aids, Phonaks, from Dr Patel.”")


async def test_what_may_be_meant_is_shown_beside_not_knowing(store: MemoryStore) -> None:
    await store.remember([round(0, "I ran a half marathon in Ghent.")])
    answer, trace = await ask(store, "Where was the half marathon?", floor=1.5)
    assert answer.splitlines() == [
        UNKNOWN,
        "The closest that I find:",
        "- On 2023-05-20 (Sat) you said: “I ran a half marathon in Ghent.”",
    ]
    assert list(trace.quoted) == [round(0, "").id]


async def test_however_far_the_closest_is_shown(store: MemoryStore) -> None:
    await store.remember([round(0, "I ran a half marathon in Ghent."), round(1, "I like tea.")])
    answer, _ = await ask(store, "Where was the half marathon?", floor=99.0)
    assert answer.splitlines() == [
        UNKNOWN,
        "The closest that I find:",
        "- On 2023-05-20 (Sat) you said: “I ran a half marathon in Ghent.”",
    ]


async def test_the_day_in_a_question_hides_no_answer(store: MemoryStore) -> None:
    said = "I ran a half marathon in Ghent."
    await store.remember([round(0, said)])
    dated, bare = "Where was the half marathon on 22 May 2023?", "Where was the half marathon ?"
    (far,), (near,) = [await store.closeness(text, [said]) for text in (dated, bare)]
    assert far < near
    answer, _ = await ask(store, dated, floor=(far + near) / 2)
    assert "I don't know" not in answer
    assert said in answer


async def ask_many(store: MemoryStore, text: str) -> tuple[str, Trace]:
    recall = await store.recall(Query("ann", text, limit=20))
    return await read(store, text, list(recall.rounds))


async def test_what_was_said_later_of_the_same_thing_comes_second(store: MemoryStore) -> None:
    await store.remember(
        [
            round(0, "my car insurance with Belvara costs 612 euros a year"),
            round(1, "i love walking by the canal in the evening"),
            round(2, "i cancelled belvara and switched to Dorit"),
        ]
    )
    answer, _ = await ask(store, "How much does my car insurance cost?")
    first, second = answer.splitlines()[1:3]
    assert "612 euros" in first
    assert "switched to Dorit" in second


async def test_a_question_that_was_asked_before_stands_beside_no_statement(
    store: MemoryStore,
) -> None:
    await store.remember(
        [round(0, "My greyhound Pepper is four."), round(1, "How old is my greyhound Pepper?")]
    )
    answer, _ = await ask(store, "Tell me about my greyhound Pepper.", floor=0.0)
    assert "Pepper is four" in answer
    assert "How old" not in answer
