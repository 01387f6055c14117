"""The encoders: near texts are near, and the real one reads real weights."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from memory_store import (
    EmbeddingFailed,
    Encoder,
    HashEncoder,
    SentenceTransformerEncoder,
    TextKind,
)

TEXTS = ["My cat is called Miso.", "What is the name of my cat?", "The stock market fell sharply."]


@pytest.fixture(scope="module")
def minilm() -> SentenceTransformerEncoder:
    return SentenceTransformerEncoder()


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
def test_minilm_finds_meaning(minilm: SentenceTransformerEncoder) -> None:
    assert_meaningful(minilm)
    assert (minilm.identity.name, minilm.identity.dimension) == ("all-MiniLM-L6-v2", 384)


@pytest.mark.weights
def test_minilm_encodes_alike_alone_in_company_and_in_threads(
    minilm: SentenceTransformerEncoder,
) -> None:
    texts = [f"{text} {'and so on ' * number}" for number, text in enumerate(TEXTS * 4)]
    together = minilm.encode(texts, TextKind.DOCUMENT)
    with ThreadPoolExecutor(2) as threads:
        alone = list(threads.map(lambda text: minilm.encode([text], TextKind.DOCUMENT)[0], texts))
    assert np.abs(together - np.stack(alone)).max() < 1e-5


@pytest.mark.weights
def test_a_model_that_is_not_there_is_named(tmp_path_factory: pytest.TempPathFactory) -> None:
    nowhere = str(tmp_path_factory.mktemp("empty"))
    with pytest.raises(EmbeddingFailed, match=nowhere):
        SentenceTransformerEncoder(nowhere)
