"""RAPTOR: rounds are clustered by meaning, each cluster is summarised, the summaries are clustered
again, and so on to one root. Nodes are found among all at once (`tree`), or from the root downwards
(`walk`).

Sarthi et al., "RAPTOR: Recursive Abstractive Processing for Tree-Organized Retrieval" (ICLR 2024).
Principal components stand in for UMAP, one clustering of diagonal Gaussians for two, and eleven
nodes or fewer make one cluster.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

from assistant.designs.control_points import Choices, Retrieval
from assistant.designs.design import Design
from assistant.designs.tree import Node, Tree, with_summaries
from assistant.designs.value import Ranking, Value, View, ViewQuestion
from memory_store import Record
from memory_store.embedding import Matrix
from memory_store.language import Rarity
from memory_store.scheduler import aside

# The authors' numbers: dimensions in which values are clustered, the least probability of belonging
# to a cluster, the seed, and how many nodes of a layer are walked on from.
_DIMENSIONS = 10
_BELONGS = 0.1
_SEED = 224
_WIDTH = 5
# The authors try every number of clusters up to 50.
_CLUSTERS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48)
# A cluster with more characters is clustered again, so that one summary can be of all of it.
_MOST_CHARACTERS = 24_000
_FEW = _DIMENSIONS + 1


class Raptor(Design):
    """A tree by meaning, whatever the time."""

    name = "raptor"
    paper = "Sarthi et al. 2024, arXiv:2401.18059"
    choices = Choices(retrieval=Retrieval.TREE)
    retrievals = (Retrieval.TREE, Retrieval.WALK)

    def described(self) -> dict[str, Any]:
        """Summaries of clusters are read and found beside the values."""
        return super().described() | with_summaries(self.chosen)

    async def index(
        self, records: Sequence[Record], values: Sequence[Value], rarity: Rarity
    ) -> View:
        return RaptorView(await Tree.grown(self, values, rarity, clusters))


@dataclass(frozen=True, slots=True)
class RaptorView:
    tree: Tree

    async def search(self, asked: ViewQuestion) -> Ranking:
        nearness = await self.tree.nearness(asked)
        found: Sequence[Node] = self.tree.nodes
        if self.tree.index.design.chosen.retrieval is Retrieval.WALK:
            is_open = self.tree.open_to(asked)
            layer, walked = list(self.tree.top), dict[int, Node]()
            while layer:
                walked |= {node.place: node for node in layer}
                below = {child.place: child for node in layer for child in node.below}
                nearest = sorted(filter(is_open, below.values()), key=lambda n: -nearness[n.place])
                layer = nearest[:_WIDTH]
            found = list(walked.values())
        return self.tree.ranking(found, nearness, asked)


async def clusters(nodes: Sequence[Node]) -> list[list[Node]]:
    """The nodes, clustered by meaning; one may belong to several clusters. A few make only one."""
    found = await aside(len(nodes) * _DIMENSIONS**2, _clusters, nodes)
    distinct = {tuple(node.place for node in cluster): cluster for cluster in found}
    # A layer above is smaller than the one below, or there would be no root.
    return list(distinct.values()) if len(distinct) < len(nodes) else [list(nodes)]


def _clusters(nodes: Sequence[Node]) -> list[list[Node]]:
    rows = np.stack([node.centre for node in nodes])
    if len(np.unique(rows, axis=0)) <= _FEW:
        return [list(nodes)]
    parts = [
        [node for node, is_in in zip(nodes, inside, strict=True) if is_in]
        for inside in _mixture(rows)
    ]
    return [
        cluster
        for part in parts
        for cluster in (_clusters(part) if _is_long(part) and len(part) < len(nodes) else [part])
        if cluster
    ]


def _mixture(rows: Matrix) -> Matrix:
    """For each cluster, which rows belong to it: a mixture of Gaussians, as many as the Bayesian
    information criterion prefers."""
    numbers = [number for number in _CLUSTERS if number <= len(rows) // 2]
    # Threads of the linear algebra cost many times what they save on so few numbers.
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        reduced = PCA(min(_DIMENSIONS, rows.shape[1]), random_state=_SEED).fit_transform(rows)
        mixtures = [
            GaussianMixture(number, covariance_type="diag", random_state=_SEED).fit(reduced)
            for number in numbers
        ]
        best = min(mixtures, key=lambda mixture: float(mixture.bic(reduced)))
        probable = best.predict_proba(reduced).T
    return np.asarray((probable > _BELONGS) | (probable == probable.max(axis=0)))


def _is_long(nodes: Sequence[Node]) -> bool:
    return sum(len(node.value.text) for node in nodes) > _MOST_CHARACTERS
