"""`python -m benchmarks.large FOLDER`: one large memory, embedded or on a Qdrant server, measured.

What was done is kept in FOLDER: a second call goes on where the first one stopped.
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
from benchmarks.large.measuring import Figures, LargeMemory
from benchmarks.memories import Crowd
from benchmarks.server import qdrant
from benchmarks.store import Size
from memory_store.engines import EdgeEngine, ServerEngine

_Step = Callable[[LargeMemory], Coroutine[Any, Any, Figures]]
STEPS: Mapping[str, _Step] = {
    "asked": measuring.asked,
    "restarted": measuring.restarted,
    "backed_up": measuring.backed_up,
    "forgotten": measuring.forgotten,
    "scrubbed": measuring.scrubbed,
}
"""What is measured, in this order: the last two change the memory."""
_EMBEDDED_ONLY = ("scrubbed",)
# Real histories have two or three keys a round.
_MILLION = Size(Crowd(1_000_000, 10_000, as_people=True), (2, 3))


async def measure(folder: Path, size: Size, *, server: bool) -> dict[str, Figures]:
    """The figures of every step; those that are in `figures.json` are not measured again."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "figures.json"
    figures: dict[str, Figures] = json.loads(file.read_text()) if file.exists() else {}
    with _placed(folder, size, server) as (memory, engine):
        if "filled" not in figures:
            figures["filled"] = await fill(engine, size.crowd, folder / "progress.json", size.keys)
            file.write_text(json.dumps(figures, indent=2))
        for name, step in STEPS.items():
            if name in figures or (server and name in _EMBEDDED_ONLY):
                continue
            figures[name] = await step(memory)
            file.write_text(json.dumps(figures, indent=2))
            print(name, figures[name], flush=True)
    return figures


@contextmanager
def _placed(
    folder: Path, size: Size, server: bool
) -> Iterator[tuple[LargeMemory, EdgeEngine | ServerEngine]]:
    """Where the memory is, and what writes to it; a server's own files are in the folder, too."""
    if not server:
        yield LargeMemory(folder, size.crowd), EdgeEngine(folder)
        return
    kept = folder / "qdrant"
    kept.mkdir(exist_ok=True)
    with qdrant(kept) as running:
        settings = {
            "qdrant_url": f"http://127.0.0.1:{running.port}",
            "qdrant__grpc_port": str(running.grpc_port),
        }
        yield LargeMemory(folder, size.crowd, settings, running.process_id), running.engine()


def main() -> None:
    """Measure, and print a table of everything."""
    parser = argparse.ArgumentParser(prog="benchmarks.large")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--size", type=to_size, default=_MILLION, help="as of `benchmarks`")
    parser.add_argument("--server", action="store_true", help="on a Qdrant server")
    arguments = parser.parse_args()
    figures = asyncio.run(measure(arguments.folder, arguments.size, server=arguments.server))
    table = Table("step", "figure", "value", title=str(arguments.size.crowd))
    for step, values in figures.items():
        for name, value in values.items():
            table.add_row(step, name, f"{value:,.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
