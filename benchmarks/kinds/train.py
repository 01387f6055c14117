"""Makes `memory_store/language/kinds.npz` from the labelled examples.

To obey a wish not to keep loses a message where it is no such wish. This kind is also told apart
from ordinary messages, in which it is as rare as in life. What tells and what asks is also learned
from short statements and the questions that they answer.
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
# Words of a statement that is short, and how many of these, and of the questions, are learned from.
_SHORT, _MOST_SHORT = 25, 3000
_SEED = 1
HELD_OUT = ("declan", "marisol")
"""People left out of training where it is measured: they say how well it does with others'. The
numbers that are shipped are trained on everybody's."""
_STRENGTH = 30.0
_STEPS = 127
_RARE_TOLERANCE = 1e-6


class LabelledMessage(NamedTuple):
    """A message of somebody's, and what it is."""

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
    """Messages and questions that ask for nothing to be kept out."""
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
        """The questions without a mark, which could be taken for statements."""
        return [one for one in self.questions if "?" not in one]


def short(folder: Path = ORDINARY) -> Short:
    """Some of those of the files of short statements."""
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
    """The model that follows from these examples: for each kind a judgement of its own. Those that
    are of a kind count together as much as all others, but for what is not to be kept, which is as
    rare as among these and the `others`. What tells and asks is learned from those `beside` too."""
    labelled = _matrix([one.text for one in of])
    asked = {Kind.ASKS: beside.questions, Kind.TELLS: beside.fragments}
    every = vstack([labelled, _matrix(others)])
    weights, bias = [], []
    for kind in Kind:
        is_kind = [kind in (one.kind, *one.also) for one in of]
        model = LogisticRegression(C=_STRENGTH, max_iter=3000)
        if kind is Kind.KEEPS_OUT:
            # So rare a kind is still far from told apart where the gradient first is small.
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
    """Write the numbers, in steps of a hundredth or so, which changes no kind."""
    scale = np.abs(model.weights).max() / _STEPS
    weights = np.round(model.weights / scale).astype(np.int8)
    np.savez_compressed(file, weights=weights, scale=np.float32(scale), bias=model.bias)


def main() -> None:
    """Write the numbers."""
    save(trained(examples(), ordinary(), short()), NUMBERS)


if __name__ == "__main__":
    main()
