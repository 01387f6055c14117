"""`python -m benchmarks.large FOLDER`: one large memory, embedded or on Qdrant servers, measured.

FOLDER keeps the memory and the figures: a second call goes on where the first one stopped. With
`--growing` the memory is one user's and is searched while it is written.
"""

import argparse
import asyncio
import json
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.__main__ import to_size
from benchmarks.large import measuring
from benchmarks.large.filling import fill
from benchmarks.large.growing import grown
from benchmarks.large.losing import node_lost
from benchmarks.large.measuring import Figures, LargeMemory
from benchmarks.memories import Crowd
from benchmarks.nodes import cluster
from benchmarks.store import Size
from memory_store.engines import EdgeEngine, ServerEngine

_Step = Callable[[LargeMemory], Coroutine[Any, Any, Figures]]
STEPS: Mapping[str, _Step] = {
    "asked": measuring.asked,
    "restarted": measuring.restarted,
    "backed_up": measuring.backed_up,
    "node_lost": node_lost,
    "forgotten": measuring.forgotten,
    "scrubbed": measuring.scrubbed,
}
"""The measurements in their order; the last three change the memory."""
_REPLICAS = 2
# Real histories have two or three keys a round.
_MILLION = Size(Crowd(1_000_000, 10_000, as_people=True), (2, 3))


async def measure(folder: Path, size: Size, nodes: int) -> dict[str, Figures]:
    """The figures of every step; those that are in `figures.json` are not measured again."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "figures.json"
    figures: dict[str, Figures] = json.loads(file.read_text()) if file.exists() else {}
    with _placed(folder, size, nodes) as (memory, engine):
        if "filled" not in figures:
            figures["filled"] = await fill(engine, size.crowd, folder / "progress.json", size.keys)
            file.write_text(json.dumps(figures, indent=2))
        for name, step in STEPS.items():
            if name in figures or not _is_for(name, nodes):
                continue
            figures[name] = await step(memory)
            file.write_text(json.dumps(figures, indent=2))
            print(name, figures[name], flush=True)
    return figures


async def grow(folder: Path, size: Size, nodes: int) -> dict[str, Figures]:
    """The figures of one user's memory while it grows."""
    folder.mkdir(parents=True, exist_ok=True)
    with _placed(folder, size, nodes) as (_, engine):
        return await grown(engine, size.crowd.rounds, size.keys)


def _is_for(step: str, nodes: int) -> bool:
    """Whether a step can be done on this many nodes; 0 is the embedded engine."""
    return {"node_lost": nodes > 1, "scrubbed": not nodes}.get(step, True)


@contextmanager
def _placed(
    folder: Path, size: Size, nodes: int
) -> Iterator[tuple[LargeMemory, EdgeEngine | ServerEngine]]:
    """The memory, and the engine that writes to it; servers keep their files in the folder, too."""
    if not nodes:
        yield LargeMemory(folder, size.crowd), EdgeEngine(folder)
        return
    with cluster(folder / "qdrant", nodes) as running:
        url = ",".join(node.url for node in running)
        port, replication = running[0].grpc_port, min(nodes, _REPLICAS)
        settings = {
            "qdrant_url": url,
            "qdrant__grpc_port": str(port),
            "qdrant__shards": str(nodes),
            "qdrant__replication": str(replication),
        }
        engine = ServerEngine(
            url, grpc_port=port, timeout=60, shards=nodes, replication=replication
        )
        yield LargeMemory(folder, size.crowd, settings, running), engine


def main() -> None:
    """Measure, and print a table of everything."""
    parser = argparse.ArgumentParser(prog="benchmarks.large")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--size", type=to_size, default=_MILLION, help="as of `benchmarks`")
    parser.add_argument(
        "--nodes", type=int, default=0, help="of a Qdrant server; none: the embedded engine"
    )
    parser.add_argument("--growing", action="store_true", help="searched while it is written")
    arguments = parser.parse_args()
    doing = grow if arguments.growing else measure
    figures = asyncio.run(doing(arguments.folder, arguments.size, arguments.nodes))
    table = Table("step", "figure", "value", title=str(arguments.size.crowd))
    for step, values in figures.items():
        for name, value in values.items():
            table.add_row(step, name, f"{value:,.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
