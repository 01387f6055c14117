"""MemWalker: the rounds in the order of time, summaries of runs of them above, and so on to one
root. A question is walked down from the root: a language model chooses the way and may go back;
where there is none, nearness chooses.

Chen et al., "Walking Down the Memory Maze: Beyond Context Limit through Interactive Reading"
(2023). The authors' model answers on its way. Here it only finds rounds, and is shown only the days
of the parts that it left.
"""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from assistant.designs.control_points import Choices, Retrieval
from assistant.designs.design import Design
from assistant.designs.tree import Node, Tree, with_summaries
from assistant.designs.value import Ranking, Value, View, ViewQuestion
from assistant.errors import AssistantError
from assistant.models.chat_model import Message
from assistant.models.gateway import Gateway
from assistant.models.structured import Shape
from assistant.prompts.fence import fenced_json
from assistant.prompts.prompt_file import Prompt, load_prompt
from memory_store import Record
from memory_store.language import Rarity

PROMPT: Prompt = load_prompt("walk_memory")
# The authors put as many together as a model reads at once, up to eight.
_TOGETHER = 8
_MOST_CALLS = 12
_MOST_CHARACTERS = 2_000
_MOST_WHY = 120


class MemWalker(Design):
    """A tree by time, walked down."""

    name = "memwalker"
    paper = "Chen et al. 2023, arXiv:2310.05029"
    choices = Choices(retrieval=Retrieval.WALK)
    retrievals = (Retrieval.WALK,)

    def described(self) -> dict[str, Any]:
        """The summaries of parts are searched and read beside the values."""
        return super().described() | with_summaries(self.chosen)

    async def index(
        self, records: Sequence[Record], values: Sequence[Value], rarity: Rarity
    ) -> View:
        return MemWalkerView(self, await Tree.grown(self, values, rarity, runs))


async def runs(nodes: Sequence[Node]) -> list[Sequence[Node]]:
    """Nodes that follow each other, in groups of nearly the same number."""
    count = -(-len(nodes) // _TOGETHER)
    bounds = [len(nodes) * at // count for at in range(count + 1)]
    return [nodes[start:end] for start, end in pairwise(bounds)]


@dataclass(frozen=True, slots=True)
class MemWalkerView:
    """Finds by walking down a tree."""

    design: Design
    tree: Tree

    async def search(self, asked: ViewQuestion) -> Ranking:
        nearness = await self.tree.nearness(asked)
        walk = _Walk(self.tree, asked, nearness)
        if self.design.tools.guide is not None and self.tree.top:
            try:
                await walk.guided_by(self.design.tools.guide)
            except AssistantError as error:
                walk.steps.append(f"the model failed: {error.message}")
            if not walk.chosen:
                self.design.tools.fallbacks["guide"] += 1
        if not walk.chosen:
            walk.by_nearness()
        ranking = self.tree.ranking(walk.seen, nearness, asked, walk.chosen)
        return replace(ranking, steps=tuple(walk.steps))


@dataclass(slots=True)
class _Walk:
    """One way through the tree: the leaves it has come to, those chosen, and what was done."""

    tree: Tree
    asked: ViewQuestion
    nearness: Mapping[int, float]
    seen: list[Node] = field(default_factory=list)
    chosen: Sequence[Node] = ()
    steps: list[str] = field(default_factory=list)

    async def guided_by(self, model: Gateway) -> None:
        """Go where a model says, until it chooses leaves, has no way left, or has been asked often
        enough."""
        is_open = self.tree.open_to(self.asked)
        path, tried = list(self.tree.top), list[Node]()
        calls = 0
        while path and calls < _MOST_CALLS:
            here = path[-1]
            parts = [one for one in here.below or [here] if is_open(one) and one not in tried]
            if not parts:
                path.pop()
                continue
            calls += 1
            left = [node for node in tried if node not in path]
            asking = _messages(self.asked, parts, left)
            choice = await model.ask(asking, _shape(parts), {"temperature": 0.0})
            self._note(here, choice)
            if not parts[0].below:
                self.seen += parts
                self.chosen = choice.parts
            if self.chosen:
                return
            if not choice.parts:
                path.pop()
                continue
            tried.append(choice.parts[0])
            path.append(choice.parts[0])

    def by_nearness(self) -> None:
        """Open the nearest of all nodes reached so far, wherever it is in the tree, until as many
        leaves are found as are wanted."""
        is_open = self.tree.open_to(self.asked)
        self.seen.clear()
        waiting = [(0.0, node.place) for node in self.tree.top]
        last: Node | None = None
        while waiting and len(self.seen) < self.asked.limit:
            here = self.tree.nodes[heapq.heappop(waiting)[1]]
            if not here.below:
                self.seen.append(here)
                continue
            went_back = last is not None and here not in last.below
            how = "went back, opened" if went_back else "opened"
            self.steps.append(f"{how} {_days(here)} (nearness {self.nearness[here.place]:.3f})")
            last = here
            for part in filter(is_open, here.below):
                heapq.heappush(waiting, (-self.nearness[part.place], part.place))

    def _note(self, here: Node, choice: "_Choice") -> None:
        chose = ", ".join(map(_days, choice.parts))
        did = f"the model chose {chose}" if chose else "the model went back"
        self.steps.append(f"at {_days(here)} {did}" + (f": {choice.why}" if choice.why else ""))


@dataclass(frozen=True, slots=True)
class _Choice:
    """The parts that a model chose, none to go back, and why."""

    parts: Sequence[Node]
    why: str


def _messages(asked: ViewQuestion, parts: Sequence[Node], left: Sequence[Node]) -> list[Message]:
    shown = {
        "question": asked.text,
        "asked on": str(asked.on) if asked.on else None,
        "parts": [
            {"number": number, "days": _days(part), "text": part.value.text[:_MOST_CHARACTERS]}
            for number, part in enumerate(parts, 1)
        ],
        "looked at before": [_days(node) for node in left],
    }
    return [Message("system", PROMPT.render()), Message("user", fenced_json(shown))]


def _shape(parts: Sequence[Node]) -> Shape[_Choice]:
    def read(found: Mapping[str, Any]) -> _Choice:
        numbers = found.get("open") or []
        known = range(1, len(parts) + 1)
        if not isinstance(numbers, list) or not all(number in known for number in numbers):
            raise ValueError(f'"open" must be a list of numbers from 1 to {len(parts)}')
        why = " ".join(str(found.get("why") or "").split())
        chosen = [parts[int(number) - 1] for number in dict.fromkeys(numbers)]
        return _Choice(chosen, why[:_MOST_WHY])

    return Shape("way", _SCHEMA, read)


_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "open": {"type": "array", "items": {"type": "integer"}},
        "why": {"type": "string"},
    },
    "required": ["open", "why"],
    "additionalProperties": False,
}


def _days(node: Node) -> str:
    days, count = node.value.said_on, len(node.value.sources)
    span = f"{days.first}" if days.first == days.last else f"{days.first} to {days.last}"
    return span if count == 1 else f"{span} ({count} rounds)"
