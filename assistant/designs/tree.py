"""A tree of summaries: values below, summaries of groups of them above, and so on to the root."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assistant.designs.control_points import Choices, KeySource, ValueKind, with_values
from assistant.designs.design import Design, FlatView, embedded
from assistant.designs.value import Ranked, Ranking, Value, ViewQuestion, in_time, of_summary
from memory_store import Record, TimeUse, windows
from memory_store.embedding import Matrix
from memory_store.language import Rarity

# Read by the encoder in place of a value without words.
_WORDLESS = "-"
# A chosen value comes before all that are merely near.
_CHOSEN = 1.0
_NONE: Matrix = np.zeros((0, 0), dtype=np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A value, or a summary of the nodes below; `place` is its row among all, leaves first."""

    place: int
    value: Value
    rows: Matrix
    """One vector for each key."""
    below: tuple["Node", ...] = ()

    @property
    def centre(self) -> Matrix:
        """The mean of its vectors."""
        return np.asarray(self.rows.mean(axis=0))


Group = Callable[[Sequence[Node]], Awaitable[Sequence[Sequence[Node]]]]
"""Groups the nodes of a layer, into fewer groups than nodes; each group gets a node above it."""


@dataclass(frozen=True, slots=True)
class Tree:
    """Every node, the leaves first and the root last, with an index of all of them."""

    nodes: Sequence[Node]
    index: FlatView

    @classmethod
    async def grown(
        cls, design: Design, leaves: Sequence[Value], rarity: Rarity, group: Group
    ) -> "Tree":
        """The tree over these values, layer by layer."""
        keys = [await design.keys(leaf, rarity) for leaf in leaves]
        nodes = await _nodes(design, 0, leaves, keys) if leaves else []
        layer: Sequence[Node] = nodes
        while len(layer) > 1:
            groups = await group(layer)
            joined = [one for one in groups if len(one) > 1]
            above = await _above(design, len(nodes), joined, rarity)
            # A node without company goes up as it is: a summary of it alone would say no more.
            layer = [*above, *(one[0] for one in groups if len(one) == 1)]
            layer = sorted(layer, key=lambda node: _when(node.value.sources[0]))
            nodes = [*nodes, *above]
        rows = np.concatenate([node.rows for node in nodes]) if nodes else _NONE
        owners = [node.place for node in nodes for _ in node.rows]
        values = [node.value for node in nodes]
        return cls(nodes, FlatView(design, values, rarity, rows, owners, (), design.weigh))

    @property
    def top(self) -> Sequence[Node]:
        """The node above all others; empty if there are no values."""
        return self.nodes[-1:]

    @property
    def leaves(self) -> Sequence[Node]:
        return [node for node in self.nodes if not node.below]

    async def nearness(self, asked: ViewQuestion) -> Mapping[int, float]:
        design, cosines = self.index.design, await self.index.cosines(asked)
        return {n.place: design.weigh(n.value, cosines[n.place], asked) for n in self.nodes}

    def ranking(
        self,
        found: Iterable[Node],
        nearness: Mapping[int, float],
        asked: ViewQuestion,
        chosen: Sequence[Node] = (),
    ) -> Ranking:
        """These nodes, best first; those chosen before the others. Their rounds are as near as the
        leaves they are in."""
        places = {node.place for node in chosen}
        then = [_ranked(node, nearness[node.place], node.place in places) for node in found]
        ranking = in_time(then, asked, self.index.design.chosen.time)
        by_round = {r.id: nearness[leaf.place] for leaf in self.leaves for r in leaf.value.sources}
        return replace(
            ranking,
            values=[
                replace(
                    one,
                    nearest=sorted(one.value.sources, key=lambda r: by_round[r.id], reverse=True),
                )
                for one in ranking.values
            ],
        )

    def open_to(self, asked: ViewQuestion) -> Callable[[Node], bool]:
        """A test whether a node may be walked to: if time filters, it holds something of the time
        asked about, unless no leaf does."""
        days = asked.range.days if asked.range else None
        if self.index.design.chosen.time is not TimeUse.FILTER or days is None:
            return lambda node: True
        then = {leaf.place for leaf in self.leaves if leaf.value.is_of(days)}
        for node in self.nodes:  # those below come first
            if any(child.place in then for child in node.below):
                then.add(node.place)
        return lambda node: not then or node.place in then


def with_summaries(chosen: Choices) -> dict[str, Any]:
    """Value and keys of a tree, as a design describes them: those chosen, and the summaries."""
    return {
        "value": with_values(chosen.value, ValueKind.SUMMARY),
        "keys": list(dict.fromkeys((*chosen.keys, KeySource.SUMMARY))),
    }


async def _above(
    design: Design, start: int, groups: Sequence[Sequence[Node]], rarity: Rarity
) -> list[Node]:
    texts = await asyncio.gather(*(_summary(design, group, rarity) for group in groups))
    summaries = [
        of_summary(text, _sources(group), start + number)
        for number, (text, group) in enumerate(zip(texts, groups, strict=True))
    ]
    keys = [list(windows(text)) for text in texts]
    return await _nodes(design, start, summaries, keys, groups)


async def _summary(design: Design, group: Sequence[Node], rarity: Rarity) -> str:
    summariser = design.tools.summariser
    if all(node.value.kind is ValueKind.ROUND for node in group):
        return await summariser.of_rounds(_sources(group), rarity)
    return await summariser.of_texts([node.value.text for node in group], rarity)


async def _nodes(
    design: Design,
    start: int,
    values: Sequence[Value],
    keys: Sequence[Sequence[str]],
    below: Sequence[Sequence[Node]] = (),
) -> list[Node]:
    kept = [texts or [_WORDLESS] for texts in keys]
    rows = await embedded(design, [text for texts in kept for text in texts])
    parts = np.split(rows, np.cumsum([len(texts) for texts in kept])[:-1])
    under = below or [()] * len(values)
    return [
        Node(start + at, value, part, tuple(children))
        for at, (value, part, children) in enumerate(zip(values, parts, under, strict=True))
    ]


def _ranked(node: Node, nearness: float, is_chosen: bool) -> Ranked:
    signals = {"dense": nearness} | ({"chosen": _CHOSEN} if is_chosen else {})
    return Ranked(node.value, sum(signals.values()), signals)


def _sources(group: Iterable[Node]) -> list[Record]:
    """The rounds of all nodes of a group, each once, oldest first."""
    found = {record.id: record for node in group for record in node.value.sources}
    return sorted(found.values(), key=_when)


def _when(record: Record) -> tuple[object, ...]:
    return record.round.session_date, record.round.session_id, record.round.round_index
