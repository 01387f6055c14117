"""What a memory store promises of what it keeps, on every engine."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from cat_and_bread import BREAD, CAT, MAY, OVEN, REX, found, said

from memory_store import (
    Correction,
    EnrichmentState,
    Extraction,
    Fact,
    GivenFact,
    Held,
    Listing,
    MemoryStore,
    Query,
    Round,
    Speaker,
)
from memory_store.engines import Engine
from memory_store.engines._engine import Point, UserScope
from memory_store.errors import InvalidRecord, RoundTaken


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


async def test_a_round_that_is_forgotten_while_it_is_written_over_stays_forgotten(
    store: MemoryStore, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    dog = replace(CAT, round_index=1, user_text="I adopted a dog.", turn_ids=("t3",))
    await store.remember([CAT, dog], over={})
    write = engine.upsert

    async def forgotten_before(
        points: Sequence[Point], over: Held | None = None, *, erasing: bool = False
    ) -> None:
        await engine.delete(UserScope("ann", ids=(CAT.id,)))
        await write(points, over, erasing=erasing)

    monkeypatch.setattr(engine, "upsert", forgotten_before)
    answered = [replace(one, turn_ids=(*one.turn_ids, "t2")) for one in (CAT, dog)]
    with pytest.raises(RoundTaken):
        await store.remember(answered, over={one.id: one.turn_ids for one in (CAT, dog)})
    assert CAT.id not in {record.id for record in await store.records("ann")}


async def test_blank_rounds_are_written_over_as_others_are(store: MemoryStore) -> None:
    blank = replace(CAT, user_text="", assistant_text="", turn_ids=("t1",))
    texts = replace(CAT, turn_ids=("t2",))
    for before, after in ((None, blank), (blank, texts), (texts, blank), (blank, texts)):
        over = {CAT.id: before.turn_ids} if before else {}
        await store.remember([after], over=over)
        assert [record.round for record in await store.records("ann")] == [after]
        assert await found(store, "cat Miso") == ([CAT.user_text] if after is texts else [])


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


async def test_a_session_is_named_and_named_again(store: MemoryStore) -> None:
    many = [said("ann", "long", index, f"I planted tree {index}.") for index in range(40)]
    await store.remember([*many, CAT, REX])
    named = await store.name_session("ann", "long", " The\n orchard ")
    assert {record.round.session_title for record in named} == {"The orchard"}
    titles = {one.session_id: one.title for one in await store.sessions("ann")}
    assert titles == {"long": "The orchard", "s1": ""}
    # It stays with those of its rounds that stay, and by another user's name it is not reached.
    await store.forget_round("ann", many[0].id)
    assert await store.name_session("bob", "long", "Mine") == []
    assert {one.title for one in await store.sessions("ann")} == {"The orchard", ""}
    assert (await found(store, "tree 7"))[0] == "I planted tree 7."
    await store.enrich(many[1], Extraction("a model"))
    assert (await store.session("ann", "long"))[0].round.session_title == "The orchard"
    await store.name_session("ann", "long", "")
    assert {one.title for one in await store.sessions("ann")} == {""}


async def test_a_list_without_those_that_only_ask(store: MemoryStore) -> None:
    asked = said("ann", "s1", 1, "What is my cat called?", "Miso.")
    both = said("ann", "s1", 2, "I moved to Bergen last week. What's the weather there?")
    await store.remember([CAT, asked, both])
    page = await store.listed(Listing("ann", questions=False, limit=1))
    assert page.total == 2
    rest = await store.listed(Listing("ann", questions=False, after=page.next))
    texts = [record.round.user_text for record in (*page.records, *rest.records)]
    assert sorted(texts) == sorted([CAT.user_text, both.user_text])
    assert (await store.listed(Listing("ann"))).total == 3
    named = await store.listed(Listing("ann", ids=(both.id, "nobody", REX.id)))
    assert [record.id for record in named.records] == [both.id]
    assert (await store.listed(Listing("ann", ids=("nobody",)))).total == 0
    # Whoever puts a fact into it tells something by it.
    await store.correct("ann", asked.id, Correction(MAY, facts=(GivenFact("My cat is Miso."),)))
    assert (await store.listed(Listing("ann", questions=False))).total == 3


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
    # Who comes later does not undo what somebody else has done by then.
    await store.enrich(CAT, Extraction("a model"))
    await store.enrich_again("ann", [CAT.id])
    assert await store.unenriched(EnrichmentState.PENDING) == []


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


async def test_many_rounds_are_counted_listed_and_forgotten(store: MemoryStore) -> None:
    await store.remember([said("ann", f"s{n % 7}", n, f"Note {n} of mine.") for n in range(700)])
    assert await store.count("ann") == 700
    assert sum(session.rounds for session in await store.sessions("ann")) == 700
    assert (await store.forget_user("ann")).rounds == 700
    assert await store.count("ann") == 0
