"""A network as one graph, which torch runs without the interpreter between its operations.

An encoder works beside threads that need the interpreter too. Run step by step, a network asks for
it after each of a hundred operations, and waits each time until another thread lets go of it.
"""

import logging
import warnings
from collections.abc import Callable

import torch
from torch import nn

from memory_store.embedding.text_model import Features

_log = logging.getLogger(__name__)


def as_graph(network: nn.Module, example: Features) -> nn.Module:
    """The network for texts of any number and length, which `example` must not depend on.

    The network itself where torch can no longer do this: it only takes longer under load.
    """
    try:
        # Torch would rather have networks compiled, for which a machine needs a compiler.
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore", DeprecationWarning)
            trace: Callable[..., nn.Module] = torch.jit.trace
            graph: nn.Module = torch.jit.freeze(
                trace(network.eval(), (dict(example),), check_trace=False)
            )
            return graph
    except (AttributeError, RuntimeError) as error:
        _log.warning("the embedding model runs step by step: %s", error)
        return network
