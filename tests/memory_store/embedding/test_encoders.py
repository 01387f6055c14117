"""The encoders: near texts are near, and the real one reads real weights."""

import hashlib
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

from memory_store.embedding import (
    ENCODERS,
    PACKAGED,
    Encoder,
    HashEncoder,
    ModelEncoder,
    TextKind,
)
from memory_store.embedding.minilm import FOLDER, from_file
from memory_store.errors import EmbeddingFailed
from supply_chain.eight_bits import base_folder, encoder

TEXTS = ["My cat is called Miso.", "What is the name of my cat?", "The stock market fell sharply."]


@cache
def packaged(name: str = PACKAGED) -> ModelEncoder:
    """A packaged encoder, loaded once."""
    return ModelEncoder(name)


def test_each_packaged_encoder_has_its_file_and_each_file_its_encoder() -> None:
    assert {file.stem for file in FOLDER.glob("*.onnx")} == set(ENCODERS)


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
@pytest.mark.parametrize("name", ENCODERS)
def test_a_packaged_encoder_finds_meaning(name: str) -> None:
    minilm = packaged(name)
    assert_meaningful(minilm)
    assert (minilm.identity.name, minilm.identity.dimension) == (name, 384)


@pytest.mark.weights
def test_minilm_encodes_alike_alone_in_company_and_in_threads() -> None:
    minilm = packaged()
    texts = [f"{text} {'and so on ' * number}" for number, text in enumerate(TEXTS * 4)]
    together = minilm.encode(texts, TextKind.DOCUMENT)
    with ThreadPoolExecutor(2) as threads:
        alone = list(threads.map(lambda text: minilm.encode([text], TextKind.DOCUMENT)[0], texts))
    cosines = (together * np.stack(alone)).sum(axis=1)
    assert cosines.min() > 0.99999


@pytest.mark.slow
@pytest.mark.weights
def test_the_packaged_base_is_what_sentence_transformers_makes_of_it() -> None:
    texts = [*TEXTS, "", "?", "ünïcode É ☃ 漢字", "word " * 400, "[SEP] a##b\tc\n"]
    library = ModelEncoder(str(base_folder()))
    ours = packaged("all-MiniLM-L6-v2")
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
        "import sys; from memory_store.embedding import ModelEncoder, TextKind; "
        "ModelEncoder().encode(['warm'], TextKind.QUERY); "
        "large = {'torch', 'transformers', 'sentence_transformers', 'sklearn'}; "
        "print(large & set(sys.modules))"
    )
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert said.stdout.strip() == "set()"


@pytest.mark.weights
def test_the_base_is_the_one_that_its_script_writes() -> None:
    file = FOLDER / "all-MiniLM-L6-v2.onnx"
    shipped, made = ModelProto.FromString(file.read_bytes()), encoder(base_folder())
    sizes, as_made = measured_taken_out(shipped), measured_taken_out(made)
    assert shipped == made
    # Measured with the model, they differ a little from processor to processor.
    assert sizes.keys() == as_made.keys() != set()
    for name, values in sizes.items():
        assert values == pytest.approx(as_made[name], rel=0.1)
    assert file.stat().st_size < 24_000_000


def measured_taken_out(model: ModelProto) -> dict[str, Any]:
    """The sizes of inputs, by their name; the model is left without them, and without the weights
    that were multiplied by them."""
    held = [one for one in model.graph.initializer if one.name.endswith(".sizes")]
    scaled = [one for one in model.graph.initializer if ".intermediate.dense." in one.name]
    for one in [*held, *scaled]:
        model.graph.initializer.remove(one)
    return {one.name: to_array(one) for one in held}


@pytest.mark.parametrize("kept", [b"", b"no graph at all"])
def test_a_file_that_is_no_encoder_is_named(kept: bytes, tmp_path: Path) -> None:
    file = tmp_path / "damaged.onnx"
    file.write_bytes(kept)
    with pytest.raises(ValueError, match=r"damaged\.onnx"):
        from_file(file)


@pytest.mark.weights
def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingFailed, match=str(tmp_path)):
        ModelEncoder(str(tmp_path))


def test_a_folder_that_is_not_there_is_named_without_loading_anything(tmp_path: Path) -> None:
    code = (
        "import sys; from memory_store.embedding import ModelEncoder\n"
        "from memory_store.errors import EmbeddingFailed\n"
        f"try: ModelEncoder({str(tmp_path / 'typo')!r})\n"
        "except EmbeddingFailed as error: print(error, 'torch' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    assert "typo" in told
    assert told.rstrip().endswith("False")


def test_the_card_tells_each_file() -> None:
    card = (FOLDER / "README.md").read_text()
    for name in ENCODERS:
        digest = hashlib.sha256((FOLDER / f"{name}.onnx").read_bytes()).hexdigest()
        assert f"| `{name}` |" in card
        assert digest in card
