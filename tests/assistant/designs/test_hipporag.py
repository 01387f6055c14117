"""HippoRAG: what a question names leads to rounds that say nothing of it, by way of others."""

import pytest
from viewing import design_of, ranking_of, records_of

from assistant.designs.control_points import Retrieval
from assistant.designs.published.hipporag import HippoRagView
from assistant.designs.value import Ranking
from memory_store import Fact, Precision, Record, TimeRange, TimeUse

# Who breeds alpacas is told of nobody's colleague; who is the colleague is told elsewhere.
BRIDGE = "Kim Novak shares an office with Tom Baker."
ANSWER = "Tom Baker breeds alpacas near Ghent."
OTHERS = [
    "A colleague is at the zoo.",
    "A desk for my colleague.",
    "The farm of a colleague.",
    "A colleague and the orchestra.",
    "My colleague is ill.",
    "The dog of a colleague is here.",
]
SAID = [*OTHERS[:3], BRIDGE, *OTHERS[3:], ANSWER]
QUESTION = "What does the colleague of Kim Novak do?"


def said(ranking: Ranking) -> list[str]:
    return [one.value.sources[0].round.user_text for one in ranking.values]


async def test_page_rank_finds_in_two_hops_what_no_flat_search_finds() -> None:
    assert {BRIDGE, ANSWER} == set(said(await ranking_of("hipporag", SAID, QUESTION, limit=2)))
    for retrieval in (Retrieval.DENSE, Retrieval.WORDS, Retrieval.BOTH):
        flat = await ranking_of("in-context-rag", SAID, QUESTION, 7, retrieval=retrieval)
        assert ANSWER not in said(flat)


async def test_things_are_linked_that_stand_in_one_round_or_are_alike() -> None:
    texts = ["Maria Sharapova won.", "The Sharapova Maria Foundation", "Ghent has canals."]
    async with design_of("hipporag") as design:
        view = await design.view(records_of([*texts, BRIDGE]))
    assert isinstance(view, HippoRagView)
    named = {name: entity for held in view.held for entity, name in held.items()}
    assert view.graph.has_edge(named["Kim Novak"], named["Tom Baker"])
    assert not view.graph.has_edge(named["Ghent"], named["Tom Baker"])


async def test_what_few_rounds_name_counts_for_more() -> None:
    often = [f"It was Tom with {name}." for name in ("Ann", "Bea", "Cid", "Dee", "Eve")]
    texts = [*often, "It was Zita with Fay."]
    ranking = await ranking_of("hipporag", texts, "What did Tom and Zita do?")
    assert said(ranking)[0] == "It was Zita with Fay."


async def test_a_filter_by_time_leaves_what_was_said_then() -> None:
    day = records_of(SAID)[3].round.session_date.date()
    then = TimeRange(day, day, Precision.DAY, "then")
    ranking = await ranking_of("hipporag", SAID, QUESTION, 5, then, time=TimeUse.FILTER)
    assert said(ranking) == [BRIDGE]


@pytest.mark.parametrize("question", ["What?", "Was it so?", "Tell me about submarines."])
async def test_a_question_that_names_nothing_known_finds_what_is_likest(question: str) -> None:
    ranking = await ranking_of("hipporag", SAID, question)
    assert len(ranking.values) == 3
    assert ranking.values[0].similarity == 1


@pytest.mark.parametrize("texts", [[], ["I live in Ghent."], ["It is so."]])
async def test_small_and_odd_memories_have_a_graph(texts: list[str]) -> None:
    assert len((await ranking_of("hipporag", texts, "Where?")).values) == len(texts)


async def test_a_models_facts_name_things() -> None:
    record = records_of(["She told me all about it."])[0]
    fact = Fact("Mara adopted a greyhound.", source="openai/fake")
    async with design_of("hipporag") as design:
        view = await design.view([Record(record.round, (fact,))])
    assert isinstance(view, HippoRagView)
    assert "Mara adopted" in " ".join(view.held[0].values())
    assert "greyhound" in view.held[0].values()
