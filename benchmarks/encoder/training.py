"""Teaches the base network that a question lies near the messages that hold its answer.

Contrastive learning (van den Oord et al. 2018): among a batch's messages, a question's own message
should be the nearest. As in the product, a message counts by its nearest key: its text, or a
statement in it. Training alone makes the network forget what it knew of other texts, so the weights
of several runs are averaged with the base's weights (Wortsman et al. 2022). The vectors of single
words stay as they are.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModel, AutoTokenizer

from benchmarks.encoder.examples import Example
from memory_store import Record, Round
from memory_store._facts import rule_facts
from memory_store._keys import keys_of
from memory_store.embedding import Embedder, TextKind
from supply_chain.eight_bits import WEIGHTS

Row = tuple[str, ...]
Vectors = dict[str, npt.NDArray[np.float32]]
_SAID_ON = datetime(2025, 1, 1, tzinfo=UTC)
# The number of texts of similar length that are read together.
_TOGETHER = 32


@dataclass(frozen=True)
class TrainingRecipe:
    """How one run is taught. Chosen by what helps inside the product's fusion:
    docs/decisions/0022."""

    seed: int = 1
    epochs: float = 5.0
    batch: int = 256
    rate: float = 1e-4
    negatives: int = 4
    """Hard negatives of each question, besides the other messages of the batch."""
    warm_up: float = 0.1
    temperature: float = 0.05
    tokens: int = 128
    """The most tokens of a text that the network reads while it is taught."""
    most_positives: int = 4
    sentences: float = 0.5
    """Share of the messages that are read by their nearest key, not as a whole."""
    pool: int = 6
    """The negatives of a row are drawn from this many nearest negatives."""


RUNS = (
    TrainingRecipe(),
    TrainingRecipe(seed=2, batch=512, rate=1.5e-4),
    TrainingRecipe(seed=3, batch=1024, rate=2e-4, negatives=3, epochs=6.0),
)
KEPT = 0.4
"""Share of the base in the average with the runs."""


class Rows:
    """Draws the rows of all examples (question, positive, negatives) anew for each epoch."""

    def __init__(
        self, examples: Sequence[Example], recipe: TrainingRecipe, vectors: Vectors
    ) -> None:
        """`vectors` are the base's vectors of every question and key."""
        self._recipe = recipe
        self._draw = random.Random(recipe.seed)
        self._nearest = [_nearest(one, vectors) for one in examples if one.positives]

    def epoch(self) -> list[Row]:
        """A row for each example's positives (at most `most_positives`), in a new order."""
        rows = [row for one in self._nearest for row in self._rows(*one)]
        self._draw.shuffle(rows)
        return rows

    def _rows(
        self, question: str, positives: Sequence[tuple[str, str]], negatives: Sequence[str]
    ) -> Iterator[Row]:
        recipe, draw = self._recipe, self._draw
        hard = list(negatives[: recipe.pool])
        for nearest, whole in draw.sample(positives, min(recipe.most_positives, len(positives))):
            draw.shuffle(hard)
            key = nearest if draw.random() < recipe.sentences else whole
            yield (question, key, *(hard[n % len(hard)] for n in range(recipe.negatives)))


def _nearest(example: Example, vectors: Vectors) -> tuple[str, list[tuple[str, str]], list[str]]:
    """The question, each positive as its nearest key and as a whole, and the nearest key of each
    negative; the nearest negatives come first."""
    asked = vectors[example.question]

    def near(key: str) -> float:
        return float(vectors[key] @ asked)

    positives = [(max(keys(one), key=near), keys(one)[0]) for one in example.positives]
    negatives = sorted((max(keys(one), key=near) for one in example.negatives), key=near)
    return example.question, positives, negatives[::-1]


@cache
def keys(message: str) -> list[str]:
    """The texts by which the product finds a message; the first is the message itself."""
    round = Round("u", "s", 0, _SAID_ON, message, "")
    return [key.text for key in keys_of(Record(round, rule_facts(round)))]


async def vectors_of(examples: Sequence[Example], embedder: Embedder) -> Vectors:
    """The vectors of every question and of every key of every message, by text."""
    messages = {text for one in examples for text in (*one.positives, *one.negatives)}
    texts = sorted({key for one in messages for key in keys(one)} | {e.question for e in examples})
    rows = await embedder.embed(texts, TextKind.DOCUMENT)
    return dict(zip(texts, rows, strict=True))


def batches(rows: Sequence[Row], size: int, draw: random.Random) -> Iterator[list[Row]]:
    """All rows in a new order, in batches without repeated texts: a text that occurs twice in a
    batch would be right and wrong at once."""
    waiting = list(rows)
    draw.shuffle(waiting)
    while len(waiting) >= size // 2:
        batch: list[Row] = []
        texts: set[str] = set()
        later: list[Row] = []
        for row in waiting:
            if len(batch) == size or not texts.isdisjoint(row):
                later.append(row)
            else:
                batch.append(row)
                texts.update(row)
        if len(batch) < size // 2:
            return
        waiting = later
        yield batch


class Learner:
    """The network while it is taught, on a graphics card where there is one."""

    def __init__(self, folder: Path, recipe: TrainingRecipe) -> None:
        torch.manual_seed(recipe.seed)
        self._recipe = recipe
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        self._tokenizer = AutoTokenizer.from_pretrained(folder)
        network = AutoModel.from_pretrained(folder, add_pooling_layer=False)
        network.get_input_embeddings().requires_grad_(requires_grad=False)
        self.network = network.to(self._device).train()
        taught = [one for one in network.parameters() if one.requires_grad]
        self._optimizer = torch.optim.AdamW(taught, recipe.rate)

    def step(self, batch: Sequence[Row], done: float) -> float:
        """Learn from a batch; `done` is the share of steps done. Returns the loss before it."""
        recipe = self._recipe
        for group in self._optimizer.param_groups:
            group["lr"] = recipe.rate * min(1.0, (done + 1e-3) / recipe.warm_up) * (1.0 - done)
        texts = [row[column] for column in range(len(batch[0])) for row in batch]
        once = list(dict.fromkeys(texts))
        places = {text: place for place, text in enumerate(once)}
        rows = self._rows(once)[[places[text] for text in texts]]
        asked, messages = rows[: len(batch)], rows[len(batch) :]
        likeness = asked @ messages.T / recipe.temperature
        right = torch.arange(len(batch), device=self._device)
        loss = torch.nn.functional.cross_entropy(likeness, right)
        self._optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self._optimizer.step()
        return float(loss.detach())

    def weights(self) -> dict[str, torch.Tensor]:
        """The network's weights, by the names that its folder gives them."""
        return {name: x.cpu().contiguous() for name, x in self.network.state_dict().items()}

    def _rows(self, texts: list[str]) -> torch.Tensor:
        """A vector of unit length for each text; texts of similar length are read together."""
        ids = self._tokenizer(texts, truncation=True, max_length=self._recipe.tokens)["input_ids"]
        order = sorted(range(len(texts)), key=lambda n: len(ids[n]))
        together = _TOGETHER if self._device == "cpu" else len(order)
        means = []
        for start in range(0, len(order), together):
            group = [ids[n] for n in order[start : start + together]]
            padded = self._tokenizer.pad({"input_ids": group}, return_tensors="pt")
            padded = padded.to(self._device)
            with torch.autocast(self._device, torch.bfloat16, enabled=self._device != "cpu"):
                hidden = self.network(**padded).last_hidden_state
            mask = padded["attention_mask"][..., None].float()
            means.append((hidden.float() * mask).sum(1) / mask.sum(1))
        rows = torch.nn.functional.normalize(torch.cat(means), dim=1)
        return rows[torch.tensor(order, device=self._device).argsort()]


def taught(
    rows: Rows, base: Path, recipe: TrainingRecipe, file: Path
) -> Iterator[tuple[int, int, float]]:
    """Teach the network of `base` and write its weights to `file`. Yields after each step the steps
    done, all steps, and the loss."""
    learner, draw = Learner(base, recipe), random.Random(recipe.seed)
    epoch = rows.epoch()
    total, done = int(len(epoch) // recipe.batch * recipe.epochs), 0
    while done < total:
        for batch in islice(batches(epoch, recipe.batch, draw), total - done):
            loss = learner.step(batch, done / total)
            done += 1
            yield done, total, loss
        epoch = rows.epoch()
    save_file(learner.weights(), file)


def averaged(base: Path, networks: Sequence[Path], kept: float, file: Path) -> None:
    """Write the networks' mean weights, averaged with the base's weights at the share `kept`."""
    others = [load_file(one) for one in networks]
    mean = {
        name: value * kept + sum(one[name] for one in others) / len(others) * (1 - kept)
        if name in others[0]
        else value
        for name, value in load_file(base / WEIGHTS).items()
    }
    save_file({name: value.contiguous() for name, value in mean.items()}, file)
