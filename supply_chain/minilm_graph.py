"""Write the graph of the packaged MiniLM for ONNX Runtime: `make graph`.

The graph holds operations only. Each weight is named by its place in the file that the package of
the weights carries, which ONNX Runtime maps into memory.

Linear layers multiply 8-bit numbers (docs/decisions/0020-eight-bits.md). The graph rounds the
weights itself; ONNX Runtime does so once, when it loads the model.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import ModelProto, NodeProto, TensorProto, helper

from memory_store.embedding.minilm import (
    GRAPH,
    WEIGHTS,
    open_session,
    packaged_folder,
    weights_header,
)

Values = npt.NDArray[np.float32]

# Fused operations of ONNX Runtime, beside those of the standard.
_FUSED = "com.microsoft"
_OPSETS = (("", 18), (_FUSED, 1))
_IR_VERSION = 9
# No value of GELU is below this.
_LEAST_GELU = -0.17
# Keeps a row of zeros from being divided by its largest value.
_TINY = 1e-12
# Every tenth word of the vocabulary behind its special tokens, in texts of 128 tokens.
_FIRST_WORD, _STEP, _TOKENS = 1000, 10, 128
_AXES = {"last": -1, "first": 0, "second": 1}
_FLOATS = {
    "one": 1.0,
    "63": 63.0,
    "127": 127.0,
    "255": 255.0,
    "64 and a half": 64.5,
    "half": 0.5,
    "least of GELU": _LEAST_GELU,
    "tiny": _TINY,
}
_BYTES = {"byte 0": 0, "byte 64": 64}


@dataclass(frozen=True)
class _Rows:
    """Rows of numbers in 8 bits: `value` = `scale` * (`bytes` - `zero`), a scale for each row."""

    bytes: str
    zero: str
    scale: str


@dataclass
class _Graph:
    """Operations in their order, and the weights they name."""

    epsilon: float
    largest: Mapping[str, Values]
    """Of some norms the largest value that each of their numbers takes; without them, as if all
    were of one size."""
    nodes: list[NodeProto] = field(default_factory=list)
    weights: list[str] = field(default_factory=list)
    norms: dict[str, str] = field(default_factory=dict)
    """The outputs of the norms, by name."""

    def add(
        self, operation: str, *inputs: str, domain: str = "", unused: int = 0, **attributes: Any
    ) -> str:
        """An operation; the name of its first output, the only one that is used."""
        name = f"{operation}_{len(self.nodes)}"
        outputs = [name, *(f"{name}_{number}" for number in range(unused))]
        self.nodes.append(helper.make_node(operation, inputs, outputs, domain=domain, **attributes))
        return name

    def fused(self, operation: str, *inputs: str, **attributes: Any) -> str:
        return self.add(operation, *inputs, domain=_FUSED, **attributes)

    def weight(self, name: str) -> str:
        self.weights.append(name)
        return name

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

    def layer(self, layer: str, sizes: str | None = None) -> tuple[str, str]:
        """The weights of a linear layer in 8 bits, a column for each output, and their scales. For
        inputs that were divided by `sizes`, the weights are multiplied by them."""
        weight = self.weight(f"{layer}.weight")
        if sizes:
            weight = self.add("Mul", weight, sizes)
        weight = self.add("Transpose", weight, perm=[1, 0])
        largest = self.add("ReduceMax", self.add("Abs", weight), "first", keepdims=0)
        scales = self.add("Div", largest, "127")
        rounded = self.add("Round", self.add("Div", weight, scales))
        return self.add("Cast", rounded, to=TensorProto.INT8), scales

    def product(self, rows: _Rows, weights: tuple[str, str]) -> str:
        inputs = (rows.bytes, weights[0], "one", weights[1], rows.zero)
        return self.add("Mul", self.fused("MatMulIntegerToFloat", *inputs), rows.scale)

    def norm_of_sum(self, x: str, y: str, norm: str, bias: str) -> str:
        parts = [self.weight(f"{norm}.{part}") for part in ("weight", "bias")]
        total = self.add("Add", self.add("Add", x, y), bias)
        # Faster here than the fused one.
        x = self.add("LayerNormalization", total, *parts, axis=-1, epsilon=self.epsilon)
        self.norms[norm] = x
        return x


def minilm_graph(folder: Path) -> ModelProto:
    """Ids of tokens, and which of them are some, to the mean of each text's vectors."""
    return _model(folder, _largest(folder))


def _model(folder: Path, largest: Mapping[str, Values], *, shows_norms: bool = False) -> ModelProto:
    config = json.loads((folder / "config.json").read_text())
    graph = _Graph(config["layer_norm_eps"], largest)
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
    header = weights_header(folder)
    weights = [*_constants(), *_external(graph.weights, header)]
    for norm, values in largest.items():
        sizes = np.sqrt(values).astype(np.float32).tolist()
        weights.append(helper.make_tensor(norm, TensorProto.FLOAT, [len(sizes)], sizes))
    shown = graph.norms.values() if shows_norms else ()
    outputs = [rows, *(helper.make_tensor_value_info(x, TensorProto.FLOAT, None) for x in shown)]
    model = helper.make_model(
        helper.make_graph(graph.nodes, "MiniLM", numbers, outputs, initializer=weights),
        opset_imports=[helper.make_opsetid(*one) for one in _OPSETS],
        ir_version=_IR_VERSION,
    )
    helper.set_model_props(model, {"weights": hashlib.sha256(header).hexdigest()})
    return model


def _largest(folder: Path) -> dict[str, Values]:
    """How large the inputs of the widest layers get: of 384, two or three are always some ten times
    as large as the others, and would leave these few of 8 bits. Which ones, any text tells; here
    it is the vocabulary."""
    model = _model(folder, {}, shows_norms=True)
    names = [one for one in _norms(folder) if ".attention." in one]
    session = open_session(model.SerializeToString(), folder)
    vocabulary = json.loads((folder / "config.json").read_text())["vocab_size"]
    ids = np.arange(_FIRST_WORD, vocabulary, _STEP, dtype=np.int32)
    ids = ids[: len(ids) // _TOKENS * _TOKENS].reshape(-1, _TOKENS)
    _, *norms = session.run(None, {"ids": ids, "mask": np.ones_like(ids)})
    found = dict(zip(_norms(folder), norms, strict=True))
    return {name: np.abs(found[name]).max(axis=(0, 1)).round(1) for name in names}


def _norms(folder: Path) -> list[str]:
    """The names of the norms behind the linear layers, in their order."""
    config = json.loads((folder / "config.json").read_text())
    return [
        f"encoder.layer.{number}.{part}.LayerNorm"
        for number in range(config["num_hidden_layers"])
        for part in ("attention.output", "output")
    ]


def _embedded(graph: _Graph) -> str:
    # Every token is of the first type: a text is no pair of sentences.
    types = graph.add("Sub", "ids", "ids")
    names = ["word_embeddings", "position_embeddings", "token_type_embeddings"]
    parts = [f"{name}.weight" for name in names] + ["LayerNorm.weight", "LayerNorm.bias"]
    weights = [graph.weight(f"embeddings.{part}") for part in parts]
    return graph.fused(
        "EmbedLayerNormalization", "ids", types, *weights, unused=1, epsilon=graph.epsilon
    )


def _layer(graph: _Graph, x: str, layer: str, heads: int) -> str:
    out = f"{layer}attention.output"
    attended = graph.rows(_attended(graph, x, f"{layer}attention.self.", heads))
    projected = graph.product(attended, graph.layer(f"{out}.dense"))
    bias = graph.weight(f"{out}.dense.bias")
    x = graph.norm_of_sum(x, projected, f"{out}.LayerNorm", bias)
    sizes = f"{out}.LayerNorm" if f"{out}.LayerNorm" in graph.largest else None
    even = graph.add("Div", x, sizes) if sizes else x
    wide = graph.product(graph.rows(even), graph.layer(f"{layer}intermediate.dense", sizes))
    wide = graph.fused("BiasGelu", wide, graph.weight(f"{layer}intermediate.dense.bias"))
    weights = graph.layer(f"{layer}output.dense")
    narrow = graph.product(graph.rows_of_gelu(wide), weights)
    bias = _with_least_gelu(graph, weights, graph.weight(f"{layer}output.dense.bias"))
    return graph.norm_of_sum(x, narrow, f"{layer}output.LayerNorm", bias)


def _attended(graph: _Graph, x: str, attention: str, heads: int) -> str:
    """Some inputs of attention are far larger than others, and its weights tell small differences:
    one byte is too little for each."""
    rows = graph.rows(x)
    rest = graph.rest(x, rows)
    parts = [f"{attention}{part}" for part in ("query", "key", "value")]
    projected = [_in_two_parts(graph, rows, rest, part) for part in parts]
    biases = graph.add("Concat", *(graph.weight(f"{part}.bias") for part in parts), axis=0)
    return graph.fused("MultiHeadAttention", *projected, biases, "mask", num_heads=heads)


def _in_two_parts(graph: _Graph, rows: _Rows, rest: _Rows, layer: str) -> str:
    weights = graph.layer(layer)
    return graph.add("Add", graph.product(rows, weights), graph.product(rest, weights))


def _with_least_gelu(graph: _Graph, weights: tuple[str, str], bias: str) -> str:
    """The bias, with what the least value of GELU adds to every row."""
    as_used = graph.add("Mul", graph.add("Cast", weights[0], to=TensorProto.FLOAT), weights[1])
    of_one = graph.add("ReduceSum", as_used, "first", keepdims=0)
    return graph.add("Add", bias, graph.add("Mul", of_one, "least of GELU"))


def _mean(graph: _Graph, x: str) -> None:
    """Of the vectors of each text's own tokens."""
    counted = graph.add("Cast", "mask", to=TensorProto.FLOAT)
    total = graph.add("MatMul", graph.add("Unsqueeze", counted, "second"), x)
    count = graph.add("ReduceSum", counted, "second", keepdims=1)
    rows = helper.make_node("Div", [graph.add("Squeeze", total, "second"), count], ["rows"])
    graph.nodes.append(rows)


def _constants() -> list[TensorProto]:
    axes = [helper.make_tensor(name, TensorProto.INT64, [1], [at]) for name, at in _AXES.items()]
    floats = [helper.make_tensor(name, TensorProto.FLOAT, [], [x]) for name, x in _FLOATS.items()]
    numbers = [helper.make_tensor(name, TensorProto.UINT8, [], [x]) for name, x in _BYTES.items()]
    return axes + floats + numbers


def _external(names: list[str], header: bytes) -> list[TensorProto]:
    """The weights as places in their file, whose header (safetensors) lists them."""
    listed = json.loads(header[8:])
    return [_place(name, listed[name], len(header)) for name in names]


def _place(name: str, entry: dict[str, Any], start: int) -> TensorProto:
    if entry["dtype"] != "F32":
        raise ValueError(f"{name} is {entry['dtype']} and not F32")
    first, end = entry["data_offsets"]
    place = {"location": WEIGHTS, "offset": start + first, "length": end - first}
    tensor = TensorProto(
        name=name,
        data_type=TensorProto.FLOAT,
        dims=entry["shape"],
        data_location=TensorProto.EXTERNAL,
    )
    for key, value in place.items():
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def main() -> None:
    """Write the graph beside the module that runs it."""
    GRAPH.write_bytes(minilm_graph(packaged_folder()).SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
