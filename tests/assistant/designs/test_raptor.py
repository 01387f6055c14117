"""RAPTOR: clusters of clusters, found among all nodes or from the root downwards."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from pydantic import SecretStr
from scripted_model import Reply, ScriptedModel
from viewing import design_of, ranking_of, records_of

from assistant import Settings
from assistant.designs.control_points import Retrieval, ValueKind
from assistant.designs.summaries import Summariser
from assistant.designs.tree import Node, Tree
from assistant.designs.value import View
from assistant.models.chat_model import UsageCounts
from assistant.models.gateway import gateway
from memory_store import (
    Days,
    Precision,
    Record,
    TimeRange,
    TimeUse,
)
from memory_store.language import ENGLISH

TOPICS = {
    "garden": "planted tomatoes, watered seedlings and weeded beds in the garden",
    "violin": "practised violin scales and a violin sonata for the orchestra",
    "marathon": "ran kilometres training for the marathon with new running shoes",
    "kitchen": "baked sourdough bread with rye flour in the kitchen oven",
}
SAID = [f"On walk {n} I {said}, attempt {n}." for n in range(5) for said in TOPICS.values()]


async def grown(texts: Sequence[str]) -> Tree:
    async with design_of("raptor") as design:
        return tree_of(await design.view(records_of(texts)))


def tree_of(view: View) -> Tree:
    # It imports scikit-learn: whoever only collects the tests does without.
    from assistant.designs.published.raptor import RaptorView

    assert isinstance(view, RaptorView)
    return view.tree


def topics(records: Sequence[Record]) -> set[str]:
    return {topic for topic in TOPICS for record in records if topic in record.round.user_text}


def height(node: Node) -> int:
    return 1 + max(map(height, node.below), default=-1)


async def test_clusters_are_of_one_topic_and_stand_below_clusters_of_clusters() -> None:
    tree = await grown(SAID)
    (root,) = tree.top
    assert height(root) >= 2
    assert len(root.value.sources) == len(SAID)
    lowest = [node for node in tree.nodes if height(node) == 1]
    assert len(lowest) >= len(TOPICS)
    assert all(len(topics(node.value.sources)) == 1 for node in lowest)


async def test_the_same_rounds_make_the_same_tree() -> None:
    first, second = await grown(SAID), await grown(SAID)
    assert [node.value for node in first.nodes] == [node.value for node in second.nodes]


@pytest.mark.parametrize("retrieval", [Retrieval.TREE, Retrieval.WALK])
async def test_a_summary_is_read_and_names_its_rounds(retrieval: Retrieval) -> None:
    ranking = await ranking_of("raptor", SAID, TOPICS["violin"], limit=30, retrieval=retrieval)
    summary = next(one for one in ranking.values if one.value.kind is ValueKind.SUMMARY)
    (read,) = summary.value.read(summary.similarity, summary.signals)
    assert "violin" in read.record.round.user_text
    assert set(read.sources) == {record.id for record in summary.value.sources}
    assert len(read.sources) > 1
    days = summary.value.said_on
    assert read.record.round.user_name == f"Summary of {days.first} to {days.last}"


@pytest.mark.parametrize("retrieval", [Retrieval.TREE, Retrieval.WALK])
async def test_rounds_of_a_summary_come_the_nearest_first(retrieval: Retrieval) -> None:
    ranking = await ranking_of("raptor", SAID, SAID[-1], limit=30, retrieval=retrieval)
    (everything,) = [one for one in ranking.values if len(one.value.sources) == len(SAID)]
    assert everything.nearest[0].round.user_text == SAID[-1]
    assert {one.id for one in everything.nearest} == {one.id for one in everything.value.sources}


async def test_a_walk_leaves_out_what_stands_below_other_clusters() -> None:
    every = await ranking_of("raptor", SAID * 2, TOPICS["kitchen"], 200, retrieval=Retrieval.TREE)
    walked = await ranking_of("raptor", SAID * 2, TOPICS["kitchen"], 200, retrieval=Retrieval.WALK)
    rounds = [one.value for one in walked.values if one.value.kind is ValueKind.ROUND]
    assert rounds
    assert all("sourdough" in value.text for value in rounds)
    assert len(walked.values) < len(every.values)


@pytest.mark.parametrize("retrieval", [Retrieval.TREE, Retrieval.WALK])
async def test_a_filter_by_time_leaves_what_was_said_then(retrieval: Retrieval) -> None:
    day = records_of(SAID)[6].round.session_date.date()
    then = TimeRange(day, day, Precision.DAY, "then")
    ranking = await ranking_of(
        "raptor", SAID, "baked bread", 30, then, retrieval=retrieval, time=TimeUse.FILTER
    )
    found = [one.value for one in ranking.values]
    assert SAID[6] in [value.sources[0].round.user_text for value in found if not value.number]
    assert all(value.is_of(Days(day, day)) for value in found)


@pytest.mark.parametrize("texts", [[], ["I live in Ghent."], SAID[:3], ["The same."] * 20])
async def test_small_and_odd_memories_have_a_tree(texts: list[str]) -> None:
    tree = await grown(texts)
    assert len(tree.top) == bool(texts)
    found = await ranking_of("raptor", texts, "Where do I live?", retrieval=Retrieval.WALK)
    assert bool(found.values) == bool(texts)


async def test_a_model_summarises_clusters_and_their_summaries(
    model: ScriptedModel, tmp_path: Path
) -> None:
    model.on("summarise_texts").always(lambda sent: Reply((f"{len(sent.last)} characters.",)))
    settings = Settings(
        data_dir=tmp_path,
        extract_model="openai/fake",
        extract_model_base_url=model.url,
        extract_model_api_key=SecretStr("k"),
    )
    writer = gateway(settings, "extract", UsageCounts())
    assert writer
    summariser = Summariser(ENGLISH, writer)
    async with design_of("raptor", summariser) as design:
        view = await design.view(records_of(SAID))
    await writer.close()
    above = [node for node in tree_of(view).nodes if node.below]
    assert all(node.value.text.endswith(" characters.") for node in above)
    assert summariser.made == {"openai/fake": len(above)}
    asked = [sent.last for sent in model.requests("summarise_texts")]
    assert any("characters." in one for one in asked)
    assert any("violin" in one for one in asked)
