"""The encoders: near texts are near, and the real one reads real weights."""

import json
import logging
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

from memory_store import (
    EmbeddingFailed,
    Encoder,
    EncoderPath,
    HashEncoder,
    ModelEncoder,
    TextKind,
)
from memory_store.embedding import int8, model_encoder
from memory_store.embedding.bert import Bert
from memory_store.embedding.graph import as_graph
from memory_store.embedding.minilm import load_minilm, packaged_folder
from memory_store.embedding.probes import probe_texts
from memory_store.embedding.text_model import Features

TEXTS = ["My cat is called Miso.", "What is the name of my cat?", "The stock market fell sharply."]


needs_int8 = pytest.mark.skipif(
    not int8.is_fast(), reason="this processor has no fast eight-bit arithmetic"
)


@cache
def packaged(path: EncoderPath) -> ModelEncoder:
    """The packaged model, loaded once a path."""
    return ModelEncoder(path=path)


@pytest.fixture(params=[EncoderPath.FP32, pytest.param(EncoderPath.INT8, marks=needs_int8)])
def minilm(request: pytest.FixtureRequest) -> ModelEncoder:
    encoder = packaged(request.param)
    assert encoder.path == request.param
    return encoder


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
def test_minilm_finds_meaning(minilm: ModelEncoder) -> None:
    assert_meaningful(minilm)
    assert (minilm.identity.name, minilm.identity.dimension) == ("all-MiniLM-L6-v2", 384)


@pytest.mark.weights
def test_minilm_encodes_alike_alone_in_company_and_in_threads(
    minilm: ModelEncoder,
) -> None:
    texts = [f"{text} {'and so on ' * number}" for number, text in enumerate(TEXTS * 4)]
    together = minilm.encode(texts, TextKind.DOCUMENT)
    with ThreadPoolExecutor(2) as threads:
        alone = list(threads.map(lambda text: minilm.encode([text], TextKind.DOCUMENT)[0], texts))
    cosines = (together * np.stack(alone)).sum(axis=1)
    # In eight bits, company changes which way a byte is rounded.
    assert cosines.min() > (0.99999 if minilm.path == EncoderPath.FP32 else 0.999)


@pytest.mark.weights
def test_the_packaged_model_is_what_sentence_transformers_makes_of_it() -> None:
    texts = [*TEXTS, "", "?", "ünïcode É ☃ 漢字", "word " * 400, "[SEP] a##b\tc\n"]
    library = ModelEncoder(str(packaged_folder()))
    ours = packaged(EncoderPath.FP32)
    for kind in TextKind:
        expected = library.encode(texts, kind)
        assert np.abs(ours.encode(texts, kind) - expected).max() < 1e-5
    assert ours.identity.dimension == library.identity.dimension
    assert ours.identity.kinds_alike == library.identity.kinds_alike


@pytest.mark.weights
def test_the_packaged_model_needs_no_large_library() -> None:
    code = (
        "import sys; from memory_store import ModelEncoder, TextKind; "
        "ModelEncoder().encode(['warm'], TextKind.QUERY); "
        "print({'transformers', 'sentence_transformers', 'sklearn'} & set(sys.modules))"
    )
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert said.stdout.strip() == "set()"


@pytest.mark.weights
@pytest.mark.parametrize("changed", [{"model_type": "roberta"}, {"hidden_act": "relu"}])
def test_weights_of_another_architecture_are_refused(
    changed: dict[str, str], tmp_path: Path
) -> None:
    config = json.loads((packaged_folder() / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | changed))
    with pytest.raises(ValueError, match="another kind"):
        Bert.load(tmp_path)


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


@pytest.mark.weights
@pytest.mark.parametrize(
    "texts",
    [["hello"], ["", "?", *TEXTS], ["word " * 400, "x"], [f"I paid ${n}." for n in range(16)]],
    ids=["one", "of many lengths", "longer than is read", "many"],
)
def test_as_a_graph_the_network_gives_the_same_vectors(texts: list[str]) -> None:
    model = load_minilm("x")
    example = model.tokenizer(["Only an example of another length."], TextKind.DOCUMENT)
    features = model.tokenizer(texts, TextKind.DOCUMENT)
    with torch.inference_mode():
        plain = model.network(features)
        assert torch.equal(as_graph(model.network, example)(features), plain)


def test_a_network_that_is_no_graph_runs_as_it_is(caplog: pytest.LogCaptureFixture) -> None:
    class Picky(torch.nn.Module):
        def forward(self, features: Features) -> torch.Tensor:
            raise RuntimeError("not traced")

    network = Picky()
    with caplog.at_level(logging.WARNING):
        assert as_graph(network, {"ids": torch.zeros(1)}) is network
    assert "step by step: not traced" in caplog.text


@pytest.mark.weights
@needs_int8
def test_eight_bits_agree_with_the_plain_path_on_other_texts() -> None:
    plain, faster = packaged(EncoderPath.FP32), packaged(EncoderPath.AUTO)
    assert (plain.path, faster.path) == ("fp32", "int8")
    assert plain.identity == faster.identity
    texts = [*TEXTS, "", "?", "ünïcode ☃ 漢字", "word " * 400, *(f"I paid ${n}." for n in range(9))]
    rows = [encoder.encode(texts, TextKind.DOCUMENT) for encoder in (plain, faster)]
    cosines = (rows[0] * rows[1]).sum(axis=1)
    assert cosines.mean() > 0.998
    assert cosines.min() > 0.98


@pytest.mark.weights
@pytest.mark.parametrize(
    ("fast", "enough", "said"),
    [(True, 0.99999, "mean cosine of only 0.99"), (False, 0.999, "no fast eight-bit")],
)
def test_a_path_that_cannot_be_taken_is_said(
    fast: bool,
    enough: float,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(model_encoder, "_ENOUGH_COSINE", enough)
    monkeypatch.setattr(int8, "is_fast", lambda: fast)
    with caplog.at_level(logging.WARNING):
        encoder = ModelEncoder(path=EncoderPath.INT8)
    assert encoder.path == "fp32"
    assert said in caplog.text
    assert_meaningful(encoder)


def test_probe_texts_are_checked_on_others_than_they_were_learned_from() -> None:
    learning, checking = map(set, probe_texts())
    assert len(learning) == len(checking) == 12
    assert not learning & checking
