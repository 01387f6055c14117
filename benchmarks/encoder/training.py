"""Teaches the base network that a question lies near the messages that hold its answer.

Contrastive learning (van den Oord et al. 2018): of a batch's messages, a question's own is to be
the nearest. As in the product, a message counts by its nearest key: its text, or a statement in it.
Trained alone the network forgets what it knew of other texts, so its weights are averaged with
those it began with (Wortsman et al. 2022).
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
# Texts of like length that are read together.
_TOGETHER = 32


@dataclass(frozen=True)
class Recipe:
    """How it is taught. Chosen by what helps inside the product's fusion: docs/decisions/0022."""

    epochs: float = 2.0
    batch: int = 64
    negatives: int = 2
    """Hard ones of each question, beside those of the batch."""
    rate: float = 5e-5
    warm_up: float = 0.1
    temperature: float = 0.05
    tokens: int = 128
    """Read of a text while it is taught."""
    most_positives: int = 4
    sentences: float = 0.5
    """Share of the messages that are read by their nearest key, not as a whole."""
    life_pool: int = 6
    """From so many of a person's nearest other messages hard negatives are drawn."""
    kept: float = 0.5
    """Share of the base in the average."""
    seed: int = 1


def rows_of(examples: Sequence[Example], recipe: Recipe, vectors: Vectors) -> list[Row]:
    """The rows of all examples: question, positive, negatives; in an order drawn by the seed.
    `vectors` are the base's, of every question and key."""
    draw = random.Random(recipe.seed)
    rows = [row for example in examples for row in _rows(example, recipe, vectors, draw)]
    draw.shuffle(rows)
    return rows


def _rows(example: Example, recipe: Recipe, vectors: Vectors, draw: random.Random) -> Iterator[Row]:
    asked = vectors[example.question]

    def nearest(message: str) -> str:
        return max(keys(message), key=lambda key: float(vectors[key] @ asked))

    hard = sorted(
        map(nearest, example.negatives), key=lambda key: float(vectors[key] @ asked), reverse=True
    )[: recipe.life_pool]
    for positive in example.positives[: recipe.most_positives]:
        key = nearest(positive) if draw.random() < recipe.sentences else keys(positive)[0]
        draw.shuffle(hard)
        yield (example.question, key, *(hard[n % len(hard)] for n in range(recipe.negatives)))


@cache
def keys(message: str) -> list[str]:
    """Under which texts the product finds a message; the first is the message itself."""
    round = Round("u", "s", 0, _SAID_ON, message, "")
    return [key.text for key in keys_of(Record(round, rule_facts(round)))]


async def vectors_of(examples: Sequence[Example], embedder: Embedder) -> Vectors:
    """Of every question and every key of every message."""
    messages = {text for one in examples for text in (*one.positives, *one.negatives)}
    texts = sorted({key for one in messages for key in keys(one)} | {e.question for e in examples})
    rows = await embedder.embed(texts, TextKind.DOCUMENT)
    return dict(zip(texts, rows, strict=True))


def batches(rows: Sequence[Row], size: int, draw: random.Random) -> Iterator[list[Row]]:
    """All rows in a new order, no text twice in a batch: it would be right and wrong at once."""
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
    """The network while it is taught."""

    def __init__(self, folder: Path, recipe: Recipe) -> None:
        torch.manual_seed(recipe.seed)
        self._recipe = recipe
        self._tokenizer = AutoTokenizer.from_pretrained(folder)
        self.network = AutoModel.from_pretrained(folder, add_pooling_layer=False).train()
        self._optimizer = torch.optim.AdamW(self.network.parameters(), recipe.rate)

    def step(self, batch: Sequence[Row], done: float) -> float:
        """Learn from a batch, this share of all steps being done; the loss before it."""
        recipe = self._recipe
        for group in self._optimizer.param_groups:
            group["lr"] = recipe.rate * min(1.0, (done + 1e-3) / recipe.warm_up) * (1.0 - done)
        rows = self._rows([row[column] for column in range(len(batch[0])) for row in batch])
        asked, messages = rows[: len(batch)], rows[len(batch) :]
        likeness = asked @ messages.T / recipe.temperature
        loss = torch.nn.functional.cross_entropy(likeness, torch.arange(len(batch)))
        self._optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self._optimizer.step()
        return float(loss.detach())

    def weights(self) -> dict[str, torch.Tensor]:
        """By name, as its folder names them."""
        return {name: x.contiguous() for name, x in self.network.state_dict().items()}

    def _rows(self, texts: list[str]) -> torch.Tensor:
        """A row of unit length a text, those of like length read together."""
        ids = self._tokenizer(texts, truncation=True, max_length=self._recipe.tokens)["input_ids"]
        order = sorted(range(len(texts)), key=lambda n: len(ids[n]))
        rows: dict[int, torch.Tensor] = {}
        for start in range(0, len(order), _TOGETHER):
            group = order[start : start + _TOGETHER]
            padded = self._tokenizer.pad(
                {"input_ids": [ids[n] for n in group]}, return_tensors="pt"
            )
            hidden = self.network(**padded).last_hidden_state
            mask = padded["attention_mask"][..., None].float()
            means = (hidden * mask).sum(1) / mask.sum(1)
            rows |= dict(zip(group, torch.nn.functional.normalize(means, dim=1), strict=True))
        return torch.stack([rows[n] for n in range(len(texts))])


def taught(
    rows: Sequence[Row], base: Path, recipe: Recipe, file: Path
) -> Iterator[tuple[int, int, float]]:
    """Teach the network in the folder, and write its weights; yields steps done, all, and loss."""
    learner, draw = Learner(base, recipe), random.Random(recipe.seed)
    an_epoch = sum(1 for _ in batches(rows, recipe.batch, random.Random(recipe.seed)))
    total, done = int(an_epoch * recipe.epochs), 0
    while done < total:
        for batch in islice(batches(rows, recipe.batch, draw), total - done):
            loss = learner.step(batch, done / total)
            done += 1
            yield done, total, loss
    save_file(learner.weights(), file)


def averaged(base: Path, networks: Sequence[Path], kept: float, file: Path) -> None:
    """Write the mean of the networks' weights with the base's at its share."""
    others = [load_file(one) for one in networks]
    mean = {
        name: value * kept + sum(one[name] for one in others) / len(others) * (1 - kept)
        if name in others[0]
        else value
        for name, value in load_file(base / WEIGHTS).items()
    }
    save_file({name: value.contiguous() for name, value in mean.items()}, file)
