"""Makes `memory_store/language/kinds.npz` from the labelled examples.

A message that is wrongly taken for a wish not to keep it is lost. So this kind is also told apart
from ordinary messages, among which it is as rare as in life. The kinds that tell and that ask are
also learned from short statements and from the questions that they answer.
"""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, vstack
from sklearn.linear_model import LogisticRegression

import memory_store.language.kinds
from memory_store.language.kinds import BUCKETS, Kind, Kinds, features

NUMBERS = Path(memory_store.language.kinds.__file__).parent / "kinds.npz"
EXAMPLES = Path(__file__).parent / "examples"
ORDINARY = Path(__file__).parent.parent / "memory_pairs"
_ORDINARY_FILES = "[a-d].jsonl"
_SHORT_FILES = ("b.jsonl", "plain_*.jsonl")
# The most words of a short statement, and the most statements and questions that are learned from.
_SHORT, _MOST_SHORT = 25, 3000
_SEED = 1
HELD_OUT = ("declan", "marisol")
"""People whose messages are left out of training in measurements, which so say how well the model
does with other people's messages. The shipped numbers are trained on everybody's messages."""
_STRENGTH = 30.0
_STEPS = 127
_RARE_TOLERANCE = 1e-6


class LabelledMessage(NamedTuple):
    """A person's message and its kind; it may `also` be of other kinds."""

    text: str
    kind: Kind
    also: Sequence[Kind]
    language: str
    person: str


def examples(folder: Path = EXAMPLES) -> list[LabelledMessage]:
    """All examples, by person."""
    return [
        LabelledMessage(
            line["text"],
            Kind(line["kind"]),
            [Kind(one) for one in line.get("also", ())],
            line["language"],
            file.stem,
        )
        for file in sorted(folder.glob("*.jsonl"))
        for line in map(json.loads, file.read_text("utf-8").splitlines())
    ]


def ordinary(folder: Path = ORDINARY) -> list[str]:
    """Messages and questions without any wish not to keep them."""
    lines = (
        json.loads(line)
        for file in sorted(folder.glob(_ORDINARY_FILES))
        for line in file.read_text("utf-8").splitlines()
    )
    return [text for line in lines for text in (line["q"], *line["pos"], *line["neg"])]


class Short(NamedTuple):
    """Short questions, which only ask, and statements, which only tell."""

    questions: Sequence[str]
    statements: Sequence[str]

    @property
    def fragments(self) -> list[str]:
        """The questions without a question mark, which could be taken for statements."""
        return [one for one in self.questions if "?" not in one]


def short(folder: Path = ORDINARY) -> Short:
    """A seeded draw of the short questions and statements in the files of short statements."""
    files = sorted(file for names in _SHORT_FILES for file in folder.glob(names))
    lines = [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]
    told = {text for line in lines for text in line["pos"]}
    statements = {one for one in told if "?" not in one and len(one.split()) <= _SHORT}
    draw = random.Random(_SEED)
    return Short(
        *(
            draw.sample(sorted(texts), min(_MOST_SHORT, len(texts)))
            for texts in ({line["q"] for line in lines}, statements)
        )
    )


def trained(of: Sequence[LabelledMessage], others: Sequence[str], beside: Short) -> Kinds:
    """Train the model on these examples, with a separate judgement for each kind. The messages of a
    kind weigh together as much as all other messages, except for wishes not to keep, which are as
    rare as among `of` and `others`. The kinds that tell and ask are also learned from `beside`."""
    labelled = _matrix([one.text for one in of])
    asked = {Kind.ASKS: beside.questions, Kind.TELLS: beside.fragments}
    every = vstack([labelled, _matrix(others)])
    weights, bias = [], []
    for kind in Kind:
        is_kind = [kind in (one.kind, *one.also) for one in of]
        model = LogisticRegression(C=_STRENGTH, max_iter=3000)
        if kind is Kind.KEEPS_OUT:
            # A rare kind needs this: the usual tolerance stops before the kind is told apart.
            model.set_params(tol=_RARE_TOLERANCE).fit(every, is_kind + [False] * len(others))
        elif kind in asked:
            is_kind += [kind is Kind.ASKS] * len(asked[kind])
            is_kind += [kind is Kind.TELLS] * len(beside.statements)
            texts = _matrix([*asked[kind], *beside.statements])
            model.set_params(class_weight="balanced").fit(vstack([labelled, texts]), is_kind)
        else:
            model.set_params(class_weight="balanced").fit(labelled, is_kind)
        weights.append(model.coef_[0])
        bias.append(model.intercept_[0])
    return Kinds(np.stack(weights, axis=1).astype(np.float32), np.asarray(bias, dtype=np.float32))


def _matrix(texts: Sequence[str]) -> csr_matrix:
    rows = [features(text) for text in texts]
    return csr_matrix(
        (
            np.concatenate([np.full(len(row), 1 / len(row) ** 0.5) for row in rows]),
            np.concatenate(rows).astype(np.int32),
            np.cumsum([0, *map(len, rows)]).astype(np.int32),
        ),
        shape=(len(rows), BUCKETS),
    )


def save(model: Kinds, file: Path) -> None:
    """Write the numbers, rounded to steps of a hundredth or so; the rounding changes no kind."""
    scale = np.abs(model.weights).max() / _STEPS
    weights = np.round(model.weights / scale).astype(np.int8)
    np.savez_compressed(file, weights=weights, scale=np.float32(scale), bias=model.bias)


def main() -> None:
    """Write the numbers."""
    save(trained(examples(), ordinary(), short()), NUMBERS)


if __name__ == "__main__":
    main()
