"""The packaged encoder can be taught again from the repository, and measured."""

import shutil
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from random import Random
from types import ModuleType

import pytest
from safetensors.numpy import load_file

from benchmarks.encoder import overlap
from benchmarks.encoder.examples import HELD_OUT, UNANSWERED, Example, of_lives, pairs
from benchmarks.encoder.recall import closest, of_examples
from memory_store import RecallSettings
from memory_store.embedding import Embedder, HashEncoder, ModelEncoder
from supply_chain.eight_bits import WEIGHTS, base_folder, write

TAUGHT = [
    Example("whats my dog called", ("biscuit ate a sock again",), ("dogs need walks",), "fact"),
    Example("who do i work for", ("started at Globex on monday",), ("work is work",), "fact"),
    Example("where is the key", ("the spare one is under the pot",), ("keys get lost",), "fact"),
    Example("when is the vet", ("biscuit sees her on friday",), ("vets cost a lot",), "fact"),
]


@pytest.fixture
def training() -> ModuleType:
    """The module, which imports torch: whoever only collects the tests does without."""
    return import_module("benchmarks.encoder.training")


def test_every_example_has_a_question_and_messages_that_do_and_do_not_answer_it() -> None:
    examples = [*pairs(), *pairs(HELD_OUT), *of_lives()]
    assert len(examples) > 3000
    for one in examples:
        assert one.question.strip()
        assert one.positives
        assert one.negatives
        assert not set(one.positives) & set(one.negatives), one.question


def test_nothing_is_both_taught_and_judged() -> None:
    taught_on = {text for one in pairs() for text in (one.question, *one.positives)}
    judged = {text for one in pairs(HELD_OUT) for text in one.positives}
    assert not taught_on & judged


def test_no_text_is_twice_in_a_batch(training: ModuleType) -> None:
    rows = [(f"q{n // 2}", f"p{n}", f"n{n // 3}") for n in range(40)]
    seen = list(training.batches(rows, 8, Random(1)))
    assert sum(map(len, seen)) > 30
    for batch in seen:
        texts = [text for row in batch for text in row]
        assert len(texts) == len(set(texts))


def test_runs_that_are_shared_are_found() -> None:
    said = "I bought a red bicycle for my sister on Monday"
    assert overlap.shared(iter([said]), f"He says: {said.upper()}, and rode it.")
    assert not overlap.shared(iter([said]), "I bought a red bicycle for my aunt on Monday")


@pytest.mark.slow
@pytest.mark.weights
async def test_a_network_is_taught_averaged_and_written(
    tmp_path: Path, training: ModuleType
) -> None:
    base = base_folder()
    embedder = Embedder(HashEncoder())
    recipe = training.TrainingRecipe(epochs=2.0, batch=4, negatives=1)
    rows = training.Rows(TAUGHT, recipe, await training.vectors_of(TAUGHT, embedder))
    await embedder.close()
    assert sorted(row[0] for row in rows.epoch()) == sorted(one.question for one in TAUGHT)
    steps = list(training.taught(rows, base, recipe, tmp_path / "taught.safetensors"))
    assert all(later > earlier for (earlier, *_), (later, *_) in pairwise(steps))
    training.averaged(base, [tmp_path / "taught.safetensors"], 0.5, tmp_path / WEIGHTS)
    name = "encoder.layer.5.output.dense.weight"
    of = {file: load_file(tmp_path / file)[name] for file in ("taught.safetensors", WEIGHTS)}
    first = load_file(base / WEIGHTS)[name]
    assert abs(of[WEIGHTS] - (first + of["taught.safetensors"]) / 2).max() < 1e-6
    assert abs(of[WEIGHTS] - first).max() > 0
    words = "embeddings.word_embeddings.weight"
    assert (
        load_file(tmp_path / "taught.safetensors")[words] == load_file(base / WEIGHTS)[words]
    ).all()
    shutil.copy(base / "config.json", tmp_path)
    write(tmp_path, tmp_path / "new.onnx")
    encoder = ModelEncoder(str(tmp_path / "new.onnx"))
    assert encoder.identity.name.startswith("new ")


async def test_held_out_examples_are_asked_of_everybodys_messages() -> None:
    embedder = Embedder(HashEncoder())
    found = [one async for one in of_examples(TAUGHT, embedder, RecallSettings())]
    await embedder.close()
    assert len(found) == len(TAUGHT)
    assert max(one.rounds for one in found) <= 2 * len(TAUGHT)


async def test_a_floor_sees_the_closest_sentence_of_what_was_told() -> None:
    embedder = Embedder(HashEncoder())
    asked = Example("what do dogs need", (), ("Hello there. Dogs need walks.",), "unanswered")
    other = asked._replace(negatives=("Hello.",))
    near, far = [
        max([found async for found in closest([one], embedder, RecallSettings())])
        for one in (asked, other)
    ]
    await embedder.close()
    assert near > far + 0.3


def test_what_nothing_answers_has_messages_that_stand_near() -> None:
    asked = pairs(UNANSWERED)
    assert len(asked) >= 400
    for one in asked:
        assert not one.positives
        assert len(one.negatives) >= 3
