"""Write the graph of the packaged MiniLM for ONNX Runtime: `make graph`.

The graph holds operations only. Each weight is named by its place in the file that the package of
the weights carries, which ONNX Runtime maps into memory.
"""

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onnx import ModelProto, NodeProto, TensorProto, helper

from memory_store.embedding.minilm import GRAPH, WEIGHTS, packaged_folder, weights_header

# Fused operations of ONNX Runtime, beside those of the standard.
_FUSED = "com.microsoft"
_OPSETS = (("", 18), (_FUSED, 1))
_IR_VERSION = 9


@dataclass
class _Graph:
    """Operations in their order, and the weights they name."""

    epsilon: float
    nodes: list[NodeProto] = field(default_factory=list)
    weights: list[str] = field(default_factory=list)

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

    def product(self, x: str, layer: str) -> str:
        """With the weights of a linear layer, which lie output by output."""
        weight = self.add("Transpose", self.weight(f"{layer}.weight"), perm=[1, 0])
        return self.add("MatMul", x, weight)

    def norm_of_sum(self, x: str, y: str, norm: str, bias: str) -> str:
        parts = [self.weight(name) for name in (f"{norm}.weight", f"{norm}.bias", bias)]
        return self.fused("SkipLayerNormalization", x, y, *parts, epsilon=self.epsilon)


def minilm_graph(folder: Path) -> ModelProto:
    """Ids of tokens, and which of them are some, to the mean of each text's vectors."""
    config = json.loads((folder / "config.json").read_text())
    graph = _Graph(config["layer_norm_eps"])
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
    weights = [helper.make_tensor("second", TensorProto.INT64, [1], [1])]
    weights += _external(graph.weights, header)
    model = helper.make_model(
        helper.make_graph(graph.nodes, "MiniLM", numbers, [rows], initializer=weights),
        opset_imports=[helper.make_opsetid(*one) for one in _OPSETS],
        ir_version=_IR_VERSION,
    )
    helper.set_model_props(model, {"weights": hashlib.sha256(header).hexdigest()})
    return model


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
    parts = [f"{layer}attention.self.{part}" for part in ("query", "key", "value")]
    weights = graph.add("Concat", *(graph.weight(f"{part}.weight") for part in parts), axis=0)
    biases = graph.add("Concat", *(graph.weight(f"{part}.bias") for part in parts), axis=0)
    inputs = (x, graph.add("Transpose", weights, perm=[1, 0]), biases, "mask")
    attended = graph.fused("Attention", *inputs, num_heads=heads)
    out = f"{layer}attention.output"
    projected = graph.product(attended, f"{out}.dense")
    x = graph.norm_of_sum(x, projected, f"{out}.LayerNorm", f"{out}.dense.bias")
    wide = graph.product(x, f"{layer}intermediate.dense")
    wide = graph.fused("BiasGelu", wide, graph.weight(f"{layer}intermediate.dense.bias"))
    narrow = graph.product(wide, f"{layer}output.dense")
    return graph.norm_of_sum(x, narrow, f"{layer}output.LayerNorm", f"{layer}output.dense.bias")


def _mean(graph: _Graph, x: str) -> None:
    """Of the vectors of each text's own tokens."""
    counted = graph.add("Cast", "mask", to=TensorProto.FLOAT)
    total = graph.add("MatMul", graph.add("Unsqueeze", counted, "second"), x)
    count = graph.add("ReduceSum", counted, "second", keepdims=1)
    rows = helper.make_node("Div", [graph.add("Squeeze", total, "second"), count], ["rows"])
    graph.nodes.append(rows)


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
