"""How a model of sentence-transformers is loaded and told what it reads: with weights
that a package carries."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from memory_store.embedding import (
    Device,
    ModelEncoder,
    ModelOptions,
    TextKind,
)
from memory_store.errors import EmbeddingFailed
from supply_chain.eight_bits import base_folder

pytestmark = pytest.mark.weights
TEXT = "My cat is called Miso."
PROMPTS = {"s2p_query": "Instruct: find the passage. Query: ", "s2s_query": "Compare: "}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with prompts of its own, as Stella has them."""
    folder = tmp_path_factory.mktemp("models") / "stella"
    shutil.copytree(base_folder(), folder)
    file = folder / "config_sentence_transformers.json"
    config = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps(config | {"prompts": PROMPTS}))
    return folder


def of(model: Path, **options: str) -> ModelEncoder:
    return ModelEncoder(str(model), ModelOptions(device=Device.CPU, **options))


def test_a_prompt_is_named_or_written_out(model: Path) -> None:
    named = of(model, query_prompt="s2p_query")
    written = of(model, query_prompt=PROMPTS["s2p_query"])
    plain = of(model)
    asked = named.encode([TEXT], TextKind.QUERY)
    assert np.allclose(asked, written.encode([TEXT], TextKind.QUERY))
    assert np.allclose(
        asked, plain.encode([PROMPTS["s2p_query"] + TEXT], TextKind.QUERY), atol=1e-5
    )
    assert not np.allclose(asked, plain.encode([TEXT], TextKind.QUERY), atol=1e-2)
    assert np.allclose(
        named.encode([TEXT], TextKind.DOCUMENT), plain.encode([TEXT], TextKind.DOCUMENT), atol=1e-5
    )


def test_prompts_are_part_of_the_vector_space(model: Path) -> None:
    spaces = {of(model).identity.name, of(model, query_prompt="s2p_query").identity.name}
    assert len(spaces) == 2
    assert of(model).identity.kinds_alike
    assert not of(model, query_prompt="s2p_query").identity.kinds_alike


def test_a_prompt_that_the_model_does_not_know_is_named(model: Path) -> None:
    with pytest.raises(EmbeddingFailed, match=r"no prompt 's2p'; it knows .*s2p_query"):
        of(model, query_prompt="s2p")


def test_the_device_is_chosen(model: Path) -> None:
    import torch

    if torch.cuda.is_available():
        on_gpu = ModelEncoder(str(model), ModelOptions(device=Device.CUDA))
        cosine = on_gpu.encode([TEXT], TextKind.QUERY) @ of(model).encode([TEXT], TextKind.QUERY).T
        assert on_gpu.batch_size > of(model).batch_size
        assert cosine[0, 0] > 0.999
    else:
        with pytest.raises(EmbeddingFailed, match="no GPU"):
            ModelEncoder(str(model), ModelOptions(device=Device.CUDA))
        assert ModelEncoder(str(model)).path == "torch"


def test_the_packaged_model_takes_no_prompts() -> None:
    with pytest.raises(EmbeddingFailed, match="has no prompts"):
        ModelEncoder(options=ModelOptions(query_prompt="query: "))


def test_code_of_a_models_authors_runs_only_where_it_is_allowed(
    model: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "with_code"
    shutil.copytree(model, folder)
    ran = tmp_path / "ran"
    (folder / "own.py").write_text(
        "from pathlib import Path\nfrom sentence_transformers.models import Transformer\n"
        f"Path({str(ran)!r}).touch()\nclass Own(Transformer):\n    pass\n"
    )
    modules = json.loads((folder / "modules.json").read_text())
    modules[0]["type"] = "own.Own"
    (folder / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(EmbeddingFailed):
        of(folder)
    assert not ran.exists()
    allowed = ModelOptions(device=Device.CPU, remote_code=True)
    assert ModelEncoder(str(folder), allowed).encode([TEXT], TextKind.QUERY).shape == (1, 384)
    assert ran.exists()
