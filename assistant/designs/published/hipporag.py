"""HippoRAG: a graph of the things that rounds talk about. Things of one round are linked, and so
are things with similar names. The things of a question spread over the graph by personalised
PageRank. A round counts by what reaches the things in it, also by way of rounds in between.

Gutiérrez et al., "HippoRAG: Neurobiologically Inspired Long-Term Memory for Large Language Models"
(NeurIPS 2024). In place of triples, things are names (by capitals) and phrases (by statistics), or
those that the extract model found.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any

import networkx
import numpy as np

from assistant.designs.control_points import Choices, Retrieval
from assistant.designs.design import Design, embedded
from assistant.designs.value import Ranked, Ranking, Value, View, ViewQuestion, in_time
from memory_store import Record
from memory_store.embedding import Matrix
from memory_store.language import Rarity, key_phrases, named_terms
from memory_store.scheduler import aside

# The authors' numbers: how alike the names of one thing are, and how probably a walk goes on.
_ALIKE = 0.8
_GOES_ON = 0.5
# A name is two words with capitals, or one within a sentence: at its beginning it may be any word.
_WORD = r"[A-Z][\w’'-]*"
_NAME = re.compile(rf"\b{_WORD}(?: (?:of |the |de |van )?{_WORD})+|(?<=[\w,;] ){_WORD}")
_MOST_NAMES = 12
_PHRASES_OF_A_ROUND = 16
_PHRASES_OF_A_FACT = 3
_PHRASES_OF_A_QUESTION = 5
_ROWS_AT_ONCE = 1_000
_BY_RULES = "rule"

Entity = frozenset[int]
"""A thing, by the stems of its name."""
# The names of the roles stand in every round, and are no things.
_ROLES = [frozenset(named_terms(role)) for role in ("user", "assistant")]


class HippoRag(Design):
    """A graph of things, ranked from those of the question."""

    name = "hipporag"
    paper = "Gutiérrez et al. 2024, arXiv:2405.14831"
    choices = Choices(retrieval=Retrieval.PAGERANK)
    retrievals = (Retrieval.PAGERANK,)
    fixed = ("keys", "merged", "query")

    def described(self) -> dict[str, Any]:
        """The choices, with things as the keys and as the query."""
        return super().described() | {"keys": ["entity"], "query": "entity"}

    async def index(
        self, records: Sequence[Record], values: Sequence[Value], rarity: Rarity
    ) -> View:
        size = sum(len(value.text) for value in values)
        held = await aside(size, lambda: [self._entities(value, rarity) for value in values])
        names = {entity: name for entities in held for entity, name in entities.items()}
        rows = await embedded(self, list(names.values()))
        graph = await aside(len(names) ** 2, _graph, held, list(names), rows)
        return HippoRagView(self, values, rarity, held, list(names), rows, graph)

    def _entities(self, value: Value, rarity: Rarity) -> dict[Entity, str]:
        """The things that a value talks about, each with its name."""
        names = Counter(_names(value.text)).most_common(_MOST_NAMES)
        phrases = self.phrases(value, rarity, _PHRASES_OF_A_ROUND)
        # Facts that rules found are in the words of the round itself, and name nothing more.
        stated = (fact.text for fact in value.facts if fact.source != _BY_RULES)
        facts = (key_phrases(text, rarity, _PHRASES_OF_A_FACT) for text in stated)
        return _known([*(name for name, _ in names), *phrases, *chain.from_iterable(facts)])


@dataclass(frozen=True, slots=True)
class HippoRagView:
    """Values by the entities they hold (`held`), and the graph of all of them (`entities`, each
    with a vector of its name)."""

    design: Design
    values: Sequence[Value]
    rarity: Rarity
    held: Sequence[Mapping[Entity, str]]
    entities: Sequence[Entity]
    rows: Matrix
    graph: networkx.Graph

    async def search(self, asked: ViewQuestion) -> Ranking:
        started = await self._of_question(asked.text)
        rank = await aside(self.graph.number_of_edges(), _page_rank, self.graph, started)
        reached = [sum(rank[one] * self._specific(one) for one in held) for held in self.held]
        most = max(reached, default=0.0) or 1.0
        found = [
            Ranked(value, self.design.weigh(value, score / most, asked), {"pagerank": score / most})
            for value, score in zip(self.values, reached, strict=True)
        ]
        return in_time(found, asked, self.design.chosen.time)

    async def _of_question(self, question: str) -> dict[Entity, float]:
        """The entities that a question names, or, if no round has them, those most like them; each
        weighs more the fewer rounds have it."""
        phrases = key_phrases(question, self.rarity, _PHRASES_OF_A_QUESTION)
        named = _known([*_names(question), *phrases]) or {frozenset(): question}
        if not self.entities:
            return {}
        unknown = [name for entity, name in named.items() if entity not in self.graph]
        rows = await embedded(self.design, unknown)
        nearest = [self.entities[int(np.argmax(self.rows @ row))] for row in rows]
        found = [*(entity for entity in named if entity in self.graph), *nearest]
        return {entity: self._specific(entity) for entity in found}

    def _specific(self, entity: Entity) -> float:
        return 1 / float(self.graph.nodes[entity]["rounds"])


def _graph(
    held: Sequence[Mapping[Entity, str]], entities: Sequence[Entity], rows: Matrix
) -> networkx.Graph:
    """Entities linked by how many rounds hold both, and by how alike their names are."""
    graph = networkx.Graph()
    counts = Counter(entity for one in held for entity in one)
    graph.add_nodes_from((entity, {"rounds": counts[entity]}) for entity in entities)
    together = ((*pair, 1.0) for one in held for pair in combinations(one, 2))
    for one, other, weight in chain(together, _alike(entities, rows)):
        known = graph.get_edge_data(one, other, {"weight": 0.0})
        graph.add_edge(one, other, weight=known["weight"] + weight)
    return graph


def _alike(entities: Sequence[Entity], rows: Matrix) -> Iterator[tuple[Entity, Entity, float]]:
    """Pairs of entities whose names are alike, each with the cosine of the names."""
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        cosines = rows[start : start + _ROWS_AT_ONCE] @ rows.T
        for at, other in np.argwhere(cosines >= _ALIKE):
            if start + at < other:
                yield entities[start + at], entities[other], float(cosines[at, other])


def _page_rank(graph: networkx.Graph, started: Mapping[Entity, float]) -> Mapping[Entity, float]:
    if not started:
        return {}
    rank: Mapping[Entity, float] = networkx.pagerank(
        graph, alpha=_GOES_ON, personalization=dict(started)
    )
    return rank


def _names(text: str) -> list[str]:
    return [name for name in _NAME.findall(text) if named_terms(name)]


def _known(names: Iterable[str]) -> dict[Entity, str]:
    """The first name of each entity, by the stems; a role, or a name without stems, is none."""
    known: dict[Entity, str] = {}
    for name in names:
        if (stems := frozenset(named_terms(name))) and stems not in _ROLES:
            known.setdefault(stems, name)
    return known
