"""What a recall finds, in which order and why, on every engine."""

from dataclasses import replace
from datetime import date

import pytest
from cat_and_bread import BREAD, CAT, MAY, OVEN, found, said

from memory_store import (
    Days,
    MemoryStore,
    Query,
    Reason,
)
from memory_store.errors import InvalidRecord


async def test_what_was_remembered_is_found(store: MemoryStore) -> None:
    await store.remember([CAT, BREAD, OVEN])
    assert (await found(store, "What is my cat called?"))[0] == CAT.user_text
    assert (await found(store, "Is the oven still broken?"))[0] == OVEN.user_text


async def test_what_the_assistant_said_is_found_by_its_words(store: MemoryStore) -> None:
    await store.remember([CAT, BREAD, OVEN])
    assert (await found(store, "flour"))[0] == BREAD.user_text


async def test_a_question_of_stop_words_still_finds_by_meaning(store: MemoryStore) -> None:
    await store.remember([CAT])
    assert await found(store, "what is it about?") == [CAT.user_text]


async def test_a_user_without_memory_finds_nothing(store: MemoryStore) -> None:
    await store.remember([CAT])
    assert await found(store, "cat", user="zoe") == []
    assert await store.sessions("zoe") == []


TODAY = date(2023, 6, 14)  # a Wednesday


async def test_an_answer_counts_as_near_as_the_question_right_before_it(store: MemoryStore) -> None:
    asked, told = "How long have you been married, Mel? What a dress!", "Five years already!"
    talk = [
        ("Caroline", "Good morning! The garden is full of bees today."),
        ("Melanie", "I love bees. I made honey last year."),
        ("Caroline", asked),
        ("Melanie", told),
        ("Melanie", "I must feed the dog now."),
    ]
    await store.remember(
        [
            replace(said("ann", "s1", number, text), user_name=name)
            for number, (name, text) in enumerate(talk)
        ]
    )
    about = await explained(store, "How long has Melanie been married?")
    assert list(about)[:2] == [asked, told]
    assert about[told]["answers"].value > 0.3
    assert [text for text, reasons in about.items() if reasons["answers"].value] == [told]


async def test_a_turn_around_something_near_is_lifted_where_several_people_speak(
    store: MemoryStore,
) -> None:
    near, beside, far = "We went camping at the lake.", "Glad you had fun!", "Nice to see you!"
    talk = [
        ("Bo", near),
        ("Mel", beside),
        ("Bo", "So."),
        ("Mel", "Yes."),
        ("Bo", "Ok."),
        ("Mel", far),
    ]
    turns = [
        replace(said("ann", "s1", number, text), user_name=name)
        for number, (name, text) in enumerate(talk)
    ]
    alone = [replace(turn, session_id="s2", user_name=None) for turn in turns]
    await store.remember([*turns, *alone])
    recall = await store.recall(Query("ann", "camping at the lake", 20))
    lifted = {
        (one.record.round.session_id, one.record.round.user_text): one.signals["neighbours"]
        for one in recall.rounds
    }
    assert lifted["s1", beside] > 0.3
    assert lifted["s1", near] == lifted["s1", far] == 0.0
    assert not any(value for (session, _), value in lifted.items() if session == "s2")


async def test_an_overview_begins_with_the_beginnings_of_near_sessions(store: MemoryStore) -> None:
    opening = "Let us plan my garden and my tomatoes."
    later = "Which soil suits tomatoes in my garden?"
    elsewhere = "Good morning, which bread shall I bake?"
    garden = [opening, *("Fine, and then?" for _ in range(6)), later]
    await store.remember(said("ann", "s1", number, text) for number, text in enumerate(garden))
    await store.remember([said("ann", "s2", 0, elsewhere)])
    about = await explained(store, "Can you summarise what we said of tomatoes in my garden?")
    lifts = {text: about[text]["opening"].value for text in (opening, later, elsewhere)}
    assert next(iter(about)) == opening
    assert lifts[opening] > 0.3
    assert lifts[later] == pytest.approx(lifts[opening] / 2)
    assert lifts[elsewhere] < lifts[opening] / 2
    of_one = await explained(store, "Which soil suits tomatoes?")
    assert next(iter(of_one)) == later
    assert not any(reasons["opening"].value for reasons in of_one.values())


async def test_nobody_answers_their_own_question_or_an_assistants(store: MemoryStore) -> None:
    asked = "How long have I been married?"
    own = [
        replace(said("ann", "s1", number, text), user_name=name)
        for number, (name, text) in enumerate(
            [("Mel", asked), ("Mel", "Five years already!"), ("Bo", "Hello there.")]
        )
    ]
    of_one = [said("ann", "s2", 0, asked), said("ann", "s2", 1, "Six years already!")]
    await store.remember([*own, *of_one])
    about = await explained(store, asked)
    assert not any(reasons["answers"].value for reasons in about.values())


async def test_who_is_named_is_heard_before_who_talks_to_them(store: MemoryStore) -> None:
    told = "I painted a lake at dawn."
    answered = "Caroline, your painted lake is lovely, Caroline!"
    talk = [("Caroline", told), ("Melanie", answered), ("Melanie", "I painted a lake, too.")]
    await store.remember(
        replace(said("ann", "s1", number, text), user_name=name)
        for number, (name, text) in enumerate(talk)
    )
    about = await explained(store, "What did Caroline paint?")
    assert next(iter(about)) == told
    assert about[told]["speaker"].because == ("Caroline",)
    assert about[answered]["speaker"].value == 0.0
    assert about[answered]["words"].because == ("paint",)


async def test_rounds_gather_to_their_sessions(store: MemoryStore) -> None:
    await store.remember([CAT, BREAD, OVEN])
    recall = await store.recall(Query("ann", "bake bread in a broken oven"))
    best = recall.sessions[0]
    assert best.session_id == "s2"
    assert {hit.record.id for hit in best.rounds} == {BREAD.id, OVEN.id}
    assert best.similarity == max(hit.similarity for hit in best.rounds)
    assert len({session.session_id for session in recall.sessions}) == len(recall.sessions)


async def test_more_rounds_come_where_they_are_short(store: MemoryStore) -> None:
    long = [said("ann", "long", number, f"Tea {number}. " + "good " * 200) for number in range(6)]
    short = [said("bob", "short", number, f"Tea {number}.") for number in range(30)]
    await store.remember([*long, *short])

    async def number(user: str, **limits: int) -> int:
        query = Query(user, "tea", limit=3, sessions=False, **limits)
        return len((await store.recall(query)).rounds)

    assert (await number("ann"), await number("ann", short_limit=20)) == (3, 3)
    assert (await number("bob"), await number("bob", short_limit=20)) == (3, 14)
    assert await number("bob", short_limit=10) == 10


@pytest.mark.parametrize("wrong", [{"short_limit": 2}, {"short_limit": 20, "sessions": True}])
def test_a_limit_for_short_rounds_that_cannot_be_meant_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(InvalidRecord, match="short_limit"):
        Query("ann", "tea", limit=3, **{"sessions": False} | wrong)


async def test_a_long_session_does_not_crowd_out_others(store: MemoryStore) -> None:
    talk = [
        said("ann", "long", number, f"Tea number {number} was fine tea.") for number in range(9)
    ]
    await store.remember([*talk, said("ann", "short", 0, "Tea?")])
    recall = await store.recall(Query("ann", "tea", limit=2))
    assert len(recall.rounds) == 2
    assert {session.session_id for session in recall.sessions} == {"long", "short"}


async def test_recall_is_best_first_and_repeatable(store: MemoryStore) -> None:
    await store.remember([said("ann", f"s{n}", 0, "The very same words.") for n in range(20)])
    first = await store.recall(Query("ann", "same words", limit=20))
    again = await store.recall(Query("ann", "same words", limit=20))
    ids = [hit.record.id for hit in first.rounds]
    assert ids == [hit.record.id for hit in again.rounds]
    assert ids == sorted(ids)


async def test_a_newer_statement_comes_before_the_one_it_replaces(store: MemoryStore) -> None:
    lived = said("ann", "s1", 0, "I live in Ghent.")
    moved = said("ann", "s4", 0, "I just moved to Bruges.", days=30)
    await store.remember([lived, moved, BREAD])
    asked = await store.recall(Query("ann", "I live in which town, Ghent?"))
    newest, older = asked.rounds[:2]
    assert (newest.record.round, older.record.round) == (moved, lived)
    assert older.record.facts[0].superseded_by is not None
    assert [link.text for link in newest.record.facts[0].supersedes] == ["I live in Ghent."]
    assert newest.signals["replaces"] > 0
    then = await found(store, "Where do I live?", days=Days(last=MAY.date()))
    assert then == ["I live in Ghent."]


async def test_a_long_paste_is_found_beyond_the_encoders_window(store: MemoryStore) -> None:
    paste = " ".join(f"Paragraph {n} says nothing at all." for n in range(60)) + " Zanzibar trip."
    await store.remember([CAT, said("ann", "s3", 0, paste)])
    assert (await found(store, "Zanzibar"))[0] == paste


async def explained(store: MemoryStore, text: str) -> dict[str, dict[str, Reason]]:
    """The reasons of every value found, by what the user said, then by signal."""
    recall = await store.recall(Query("ann", text, asked_on=TODAY, explained=True))
    for hit in recall.rounds:
        parts = [reason.contribution for reason in hit.reasons]
        assert sum(parts) == pytest.approx(hit.similarity)
        assert {reason.signal: reason.value for reason in hit.reasons} == hit.signals
    best = {session.session_id: session.rounds[0] for session in recall.sessions}
    for session in recall.sessions:
        parts = [reason.contribution for reason in best[session.session_id].reasons]
        assert sum(parts) == pytest.approx(session.similarity)
    return {
        hit.record.round.user_text: {reason.signal: reason for reason in hit.reasons}
        for hit in recall.rounds
    }


async def test_the_reasons_of_a_value_add_up_to_its_similarity(store: MemoryStore) -> None:
    await store.remember([CAT, BREAD, OVEN, said("ann", "s1", 1, "", "")])
    assert set(await explained(store, "Did my cat bake bread in May?")) == {
        CAT.user_text,
        BREAD.user_text,
        OVEN.user_text,
    }


async def test_reasons_name_the_key_the_words_and_the_time(store: MemoryStore) -> None:
    trip = "Ghent was lovely. I saw an opera last Tuesday. My train was late."
    await store.remember([CAT, OVEN, BREAD, said("ann", "s3", 0, trip)])
    about = await explained(store, "Which opera did I see on May 16, 2023?")
    assert about[trip]["dense"].because == ("I saw an opera last Tuesday.",)
    assert about[trip]["words"].because == ("opera",)
    assert about[trip]["happened_then"].because == ("I saw an opera last Tuesday.",)
    assert about[trip]["said_then"].because == ()
    assert about[CAT.user_text]["words"].because == ()
    ovens = await explained(store, "flour for the oven")
    assert ovens[OVEN.user_text]["words"].because == ("oven",)
    assert ovens[OVEN.user_text]["session_words"].because == ("flour", "oven")
    then = await explained(store, "What was broken on May 21?")
    assert then[OVEN.user_text]["said_then"].because == ("on May 21",)


async def test_a_recall_gives_reasons_only_when_asked(store: MemoryStore) -> None:
    await store.remember([CAT])
    recall = await store.recall(Query("ann", "cat"))
    assert recall.rounds[0].reasons == ()


async def test_closeness_prefers_the_nearer_text(store: MemoryStore) -> None:
    near, far = await store.closeness("my cat Miso", ["The cat is Miso.", "Bread is baked."])
    assert near > far
    assert await store.closeness("anything", []) == []
