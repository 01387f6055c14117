"""What a memory store promises, on every engine."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from memory_store import (
    Days,
    EnrichmentState,
    Extraction,
    Fact,
    Held,
    InvalidRecord,
    MemoryStore,
    Query,
    Reason,
    Round,
    RoundTaken,
    Speaker,
)

MAY = datetime(2023, 5, 20, 12, tzinfo=UTC)


def said(user: str, session: str, index: int, text: str, reply: str = "", days: float = 0) -> Round:
    return Round(user, session, index, MAY + timedelta(days=days), text, reply)


CAT = said("ann", "s1", 0, "I adopted a cat called Miso.", "Lovely!")
BREAD = said("ann", "s2", 0, "How does one bake bread?", "With flour and patience.", days=1)
OVEN = said("ann", "s2", 1, "My oven is broken.", "Use a pan.", days=1)
REX = said("bob", "s1", 0, "My cat chased the dog Rex.", "Poor Rex!")


async def found(store: MemoryStore, text: str, user: str = "ann", days: Days = Days()) -> list[str]:
    recall = await store.recall(Query(user, text, days=days))
    return [hit.record.round.user_text for hit in recall.rounds]


async def test_what_was_remembered_is_found(store: MemoryStore) -> None:
    await store.remember([CAT, BREAD, OVEN])
    assert (await found(store, "What is my cat called?"))[0] == CAT.user_text
    assert (await found(store, "Is the oven still broken?"))[0] == OVEN.user_text


async def test_a_record_comes_back_as_it_was_written(store: MemoryStore) -> None:
    whole = Round(
        "ann", "s1", 3, MAY, "I like $5 “tea” — 茶.", "Noted.", "Ann", "Aide", ("t1", "t2")
    )
    await store.remember([whole])
    record = await store.round("ann", whole.id)
    assert record is not None
    assert record.round == whole
    assert [fact.text for fact in record.facts] == ["I like $5 “tea” — 茶."]
    assert record.enrichment is EnrichmentState.DONE


async def test_everybody_of_whom_something_is_kept(store: MemoryStore) -> None:
    before = set(await store.users())
    await store.remember([CAT, BREAD, REX])
    assert set(await store.users()) == before | {"ann", "bob"}
    await store.forget_user("bob")
    assert "bob" not in await store.users()


async def test_what_the_assistant_said_is_found_by_its_words(store: MemoryStore) -> None:
    await store.remember([CAT, BREAD, OVEN])
    assert (await found(store, "flour"))[0] == BREAD.user_text


async def test_writing_twice_is_writing_once(store: MemoryStore) -> None:
    await store.remember([CAT])
    await store.remember([CAT, CAT])
    assert await store.count("ann") == 1


async def test_writing_again_replaces_text_keys_and_words(store: MemoryStore) -> None:
    await store.remember([said("ann", "s1", 0, "I own a parrot named Coco.")])
    await store.remember([CAT])
    assert await store.count("ann") == 1
    recall = await store.recall(Query("ann", "parrot Coco"))
    assert recall.rounds[0].record.round == CAT
    assert recall.rounds[0].signals["words"] == 0.0


async def test_a_round_is_written_over_what_it_was_expected_to_be(store: MemoryStore) -> None:
    opened = Round("ann", "s1", 0, MAY, "I adopted a cat.", turn_ids=("t1",))
    answered = replace(opened, assistant_text="Lovely!", turn_ids=("t1", "t2"))
    await store.remember([opened], over={})
    await store.remember([opened], over={})  # a call tried again
    await store.remember([answered], over={opened.id: ("t1",)})
    assert [record.round for record in await store.session("ann", "s1")] == [answered]


@pytest.mark.parametrize(
    "over", [{}, {CAT.id: ("t1",)}, {CAT.id: ()}, {CAT.id: ("t1", "t2", "t3")}]
)
async def test_a_round_that_another_writer_changed_is_left_alone(
    store: MemoryStore, over: Held
) -> None:
    theirs = replace(CAT, turn_ids=("t1", "t2"))
    await store.remember([theirs])
    ours = replace(CAT, user_text="I adopted a dog.", turn_ids=("t1", "t9"))
    with pytest.raises(RoundTaken):
        await store.remember([ours], over=over)
    assert [record.round for record in await store.session("ann", "s1")] == [theirs]


async def test_a_round_that_another_writer_forgot_stays_forgotten(store: MemoryStore) -> None:
    with pytest.raises(RoundTaken):
        await store.remember([replace(CAT, turn_ids=("t1", "t2"))], over={CAT.id: ("t1",)})
    assert await store.count("ann") == 0


async def test_expected_rounds_are_those_of_one_user_that_are_written(store: MemoryStore) -> None:
    for rounds, over in (([CAT, REX], {}), ([CAT], {REX.id: ()})):
        with pytest.raises(InvalidRecord):
            await store.remember(rounds, over=over)
    assert await store.count("ann") == await store.count("bob") == 0


async def test_no_call_reaches_another_users_rounds(store: MemoryStore) -> None:
    await store.remember([CAT, REX])
    assert await found(store, "cat", user="bob") == [REX.user_text]
    assert await store.round("bob", CAT.id) is None
    assert [r.round for r in await store.session("bob", "s1")] == [REX]
    assert (await store.forget_round("bob", CAT.id)).rounds == 0
    assert (await store.forget_session("bob", "s2")).rounds == 0
    assert (await store.forget_user("bob")).rounds == 1
    assert await store.count("ann") == 1


async def test_a_question_of_stop_words_still_finds_by_meaning(store: MemoryStore) -> None:
    await store.remember([CAT])
    assert await found(store, "what is it about?") == [CAT.user_text]


async def test_a_user_without_memory_finds_nothing(store: MemoryStore) -> None:
    await store.remember([CAT])
    assert await found(store, "cat", user="zoe") == []
    assert await store.sessions("zoe") == []


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        (Days(last=date(2023, 5, 20)), {CAT.user_text}),
        (Days(first=date(2023, 5, 21)), {BREAD.user_text, OVEN.user_text}),
        (Days(date(2023, 5, 20), date(2023, 5, 21)), {r.user_text for r in (CAT, BREAD, OVEN)}),
        (Days(date(2023, 6, 1), date(2023, 6, 2)), set()),
    ],
)
async def test_explicit_days_cut_both_keys_and_words(
    store: MemoryStore, days: Days, expected: set[str]
) -> None:
    await store.remember([CAT, BREAD, OVEN])
    assert set(await found(store, "cat bread oven", days=days)) == expected


async def test_a_day_holds_its_first_and_last_moment(store: MemoryStore) -> None:
    midnight = MAY.replace(hour=0)
    rounds = [
        Round("ann", "s", 0, midnight, "first tea"),
        Round("ann", "s", 1, midnight + timedelta(hours=23, minutes=59), "last tea"),
        Round("ann", "s", 2, midnight + timedelta(days=1), "tomorrow's tea"),
    ]
    await store.remember(rounds)
    day = Days(midnight.date(), midnight.date())
    assert set(await found(store, "tea", days=day)) == {"first tea", "last tea"}


TODAY = date(2023, 6, 14)  # a Wednesday


async def lifted(store: MemoryStore, text: str, signal: str) -> list[str]:
    recall = await store.recall(Query("ann", text, asked_on=TODAY))
    return [hit.record.round.user_text for hit in recall.rounds if hit.signals[signal]]


async def test_a_time_in_the_question_lifts_what_was_said_then(store: MemoryStore) -> None:
    await store.remember([CAT, said("ann", "s3", 0, "The cat sleeps.", days=22)])
    assert await lifted(store, "What did my cat do on June 11?", "said_then") == ["The cat sleeps."]
    assert len(await found(store, "What did my cat do on June 11?")) == 2


async def test_a_time_in_the_question_lifts_what_happened_then(store: MemoryStore) -> None:
    # Said on Saturday 20 May; last Tuesday was the 16th.
    vet = said("ann", "s3", 0, "I took the cat to the vet last Tuesday.")
    await store.remember([CAT, vet])
    question = "Where did I take the cat on May 16?"
    assert await lifted(store, question, "happened_then") == [vet.user_text]
    assert await lifted(store, question, "said_then") == []


async def test_a_time_that_names_every_round_lifts_none(store: MemoryStore) -> None:
    await store.remember([CAT, OVEN, BREAD])
    assert await lifted(store, "What did I do in the last few months?", "said_then") == []


async def test_a_round_that_states_something_of_the_user_is_lifted(store: MemoryStore) -> None:
    request = said("ann", "s3", 0, "Which cheese goes with figs?")
    stated = said("ann", "s4", 0, "I love figs from my garden. Which cheese goes with them?")
    await store.remember([request, stated])
    about = await explained(store, "figs and cheese")
    assert about[stated.user_text]["personal"].because == ("I love figs from my garden.",)
    assert about[request.user_text]["personal"].value == 0.0


async def test_without_the_day_of_the_question_time_lifts_nothing(store: MemoryStore) -> None:
    await store.remember([said("ann", "s3", 0, "I took the cat to the vet yesterday.")])
    recall = await store.recall(Query("ann", "What did I do yesterday?"))
    assert recall.time_range is None
    assert recall.rounds[0].signals["happened_then"] == 0.0


async def test_the_days_of_a_fact_come_back(store: MemoryStore) -> None:
    await store.remember([said("ann", "s3", 0, "I took the cat to the vet last Tuesday.")])
    (record,) = await store.session("ann", "s3")
    assert record.facts[0].event_dates == (Days(date(2023, 5, 16), date(2023, 5, 16)),)


async def test_a_cut_that_ends_before_the_time_asked_for_is_still_a_cut(store: MemoryStore) -> None:
    await store.remember([CAT, said("ann", "s3", 0, "The cat sleeps.", days=22)])
    until_may = Days(last=date(2023, 5, 31))
    recall = await store.recall(Query("ann", "cat on June 11", days=until_may, asked_on=TODAY))
    assert [hit.record.round for hit in recall.rounds] == [CAT]


async def test_rounds_gather_to_their_sessions(store: MemoryStore) -> None:
    await store.remember([CAT, BREAD, OVEN])
    recall = await store.recall(Query("ann", "bake bread in a broken oven"))
    best = recall.sessions[0]
    assert best.session_id == "s2"
    assert {hit.record.id for hit in best.rounds} == {BREAD.id, OVEN.id}
    assert best.similarity == max(hit.similarity for hit in best.rounds)
    assert len({session.session_id for session in recall.sessions}) == len(recall.sessions)


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


async def test_blank_rounds_are_kept_though_nothing_finds_them(store: MemoryStore) -> None:
    blank = said("ann", "s1", 1, "", "")
    await store.remember([CAT, blank])
    assert [record.round for record in await store.session("ann", "s1")] == [CAT, blank]
    assert await found(store, "cat") == [CAT.user_text]


async def test_sessions_are_listed_oldest_first_with_their_rounds(store: MemoryStore) -> None:
    await store.remember([BREAD, OVEN, CAT])
    first, second = await store.sessions("ann")
    assert (first.session_id, first.rounds, first.started_at) == ("s1", 1, MAY)
    assert (second.session_id, second.rounds) == ("s2", 2)
    assert second.enrichment[EnrichmentState.DONE] == 2


async def test_enrichment_joins_the_record_and_its_keys(store: MemoryStore) -> None:
    await store.remember([CAT, BREAD], enrichment=EnrichmentState.PENDING)
    waiting = await store.unenriched(EnrichmentState.PENDING)
    assert {record.id for record in waiting} == {CAT.id, BREAD.id}
    fact = Fact("I own a feline companion.", Speaker.USER, "a model")
    extraction = Extraction("a model", (fact,), ("pets",), "A cat was adopted.")
    for _ in range(2):
        await store.enrich(CAT, extraction)
    record = await store.round("ann", CAT.id)
    assert record is not None
    assert [f.text for f in record.facts] == [CAT.user_text, fact.text]
    assert (record.enrichment, record.attempts, record.extractor) == ("done", 2, "a model")
    assert (record.keyphrases, record.summary) == (("pets",), "A cat was adopted.")
    recall = await store.recall(Query("ann", "feline companion"))
    assert recall.rounds[0].record.round == CAT
    assert recall.rounds[0].signals["dense"] > 0.9
    assert [r.id for r in await store.unenriched(EnrichmentState.PENDING)] == [BREAD.id]


async def test_an_extraction_of_what_was_written_differently_is_not_stored(
    store: MemoryStore,
) -> None:
    await store.remember([CAT], enrichment=EnrichmentState.PENDING)
    changed = said("ann", "s1", 0, "Never mind.")
    await store.remember([changed], enrichment=EnrichmentState.PENDING)
    assert await store.enrich(CAT, Extraction("a model")) is None
    await store.forget_round("ann", CAT.id)
    assert await store.enrich(changed, Extraction("a model")) is None
    assert await store.count("ann") == 0


async def test_a_failed_enrichment_says_why_and_can_be_done_again(store: MemoryStore) -> None:
    await store.remember([CAT], enrichment=EnrichmentState.PENDING)
    await store.enrichment_failed(CAT, "a model", "too long", most_attempts=2)
    (waiting,) = await store.unenriched(EnrichmentState.PENDING)
    assert (waiting.attempts, waiting.failure, waiting.round) == (1, "too long", CAT)
    await store.enrichment_failed(BREAD, "a model", "not there", most_attempts=2)
    await store.enrichment_failed(CAT, "a model", "too long", most_attempts=2)
    (summary,) = await store.sessions("ann")
    assert summary.enrichment[EnrichmentState.FAILED] == 1
    (failure,) = summary.failures
    assert (failure.round_id, failure.attempts, failure.failure) == (CAT.id, 2, "too long")
    assert (await found(store, "cat called Miso"))[0] == CAT.user_text
    await store.enrich_again("ann", [CAT.id])
    (again,) = await store.unenriched(EnrichmentState.PENDING)
    assert again.attempts == 0


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


async def test_forgetting_is_exact_and_leaves_nothing_to_find(store: MemoryStore) -> None:
    await store.remember([CAT, BREAD, OVEN])
    assert (await store.forget_round("ann", BREAD.id)).rounds == 1
    assert (await store.forget_round("ann", BREAD.id)).rounds == 0
    assert await store.round("ann", BREAD.id) is None
    assert BREAD.user_text not in await found(store, "bread flour")
    assert (await store.forget_session("ann", "s2")).rounds == 1
    assert (await store.forget_user("ann")).rounds == 1
    assert await found(store, "cat bread oven") == []


async def test_text_that_is_no_id_names_no_round(store: MemoryStore) -> None:
    await store.remember([CAT])
    for text in ("", "nonsense", CAT.id.upper(), "0"):
        assert await store.round("ann", text) is None
        assert (await store.forget_round("ann", text)).rounds == 0


async def test_ids_with_quotes_and_slashes_stay_apart(store: MemoryStore) -> None:
    users = ['a"b', "a/b", "a b", "a\nb", "ä", "*"]
    await store.remember([said(user, "s/1?", 0, f"I am {user}.") for user in users])
    for user in users:
        assert [record.round.user_id for record in await store.session(user, "s/1?")] == [user]


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


async def test_many_rounds_are_counted_listed_and_forgotten(store: MemoryStore) -> None:
    await store.remember([said("ann", f"s{n % 7}", n, f"Note {n} of mine.") for n in range(700)])
    assert await store.count("ann") == 700
    assert sum(session.rounds for session in await store.sessions("ann")) == 700
    assert (await store.forget_user("ann")).rounds == 700
    assert await store.count("ann") == 0


async def test_closeness_prefers_the_nearer_text(store: MemoryStore) -> None:
    near, far = await store.closeness("my cat Miso", ["The cat is Miso.", "Bread is baked."])
    assert near > far
    assert await store.closeness("anything", []) == []
