"""`python -m benchmarks.encoder train` teaches the packaged encoder anew from the examples;
`… recall ENCODER DATASET=FILE …` says what an encoder finds inside the product's fusion;
`… floors ENCODER` how many questions each `quote_floor` denies, of those answered and of others."""

import argparse
import asyncio
import os
import shutil
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.encoder.examples import HELD_OUT, UNANSWERED, of_lives, pairs
from benchmarks.encoder.recall import EvidencePlace, closest, latest, of_examples, recall_of
from harness.datasets.registry import open_dataset
from memory_store import RecallSettings, Weights
from memory_store.embedding import (
    ENCODERS,
    DiskCache,
    Embedder,
    ModelEncoder,
)
from supply_chain.eight_bits import WEIGHTS, base_folder, write

_BASE = "all-MiniLM-L6-v2"
_CACHE_BYTES = 4 << 30
_CUTS = (5, 10, 25, 50)
_REPORT = 20
_FLOORS = [n / 100 for n in range(16, 62, 3)]
_WIDTH = 120
_EXAMPLES = "examples"
_NOTHING = dict.fromkeys((field.name for field in fields(Weights)), 0.0)
_SETTINGS = {
    "": RecallSettings(),
    "dense keys alone": RecallSettings(Weights(**{**_NOTHING, "dense": 1.0})),
    "words of rounds alone": RecallSettings(Weights(**{**_NOTHING, "words": 1.0})),
}
"""The settings of the product's recall, and of the baselines."""


def main() -> None:
    """Train, or measure."""
    parser = argparse.ArgumentParser(prog="benchmarks.encoder", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    train = commands.add_parser("train", help="a day on two cores, minutes on a graphics card")
    train.add_argument("--out", type=Path, default=Path("runs/encoder"))
    measure = commands.add_parser("recall", help="all evidence among the first k")
    measure.add_argument("encoder", help=f"one of {', '.join(ENCODERS)}, or a file")
    measure.add_argument("sets", nargs="+", help="DATASET=FILE, lives, or examples (held out)")
    measure.add_argument("--baselines", action="store_true", help="also words, dense, last said")
    measure.add_argument("--cache", type=Path, default=Path("runs/encoder-vectors"))
    floors = commands.add_parser("floors", help="what each `quote_floor` denies")
    floors.add_argument("encoder")
    given = parser.parse_args()
    if given.command == "floors":
        asyncio.run(_floors(given.encoder))
    elif given.command == "train":
        asyncio.run(_train(given.out))
    else:
        asyncio.run(_measure(given))


async def _train(out: Path) -> None:
    # Imported here because torch takes seconds, and measuring does without.
    from benchmarks.encoder.training import KEPT, RUNS, Rows, averaged, taught, vectors_of

    base, console = base_folder(), Console()
    examples = [*pairs(), *of_lives()]
    out.mkdir(parents=True, exist_ok=True)
    embedder = Embedder(ModelEncoder(_BASE), workers=os.cpu_count() or 1)
    vectors = await vectors_of(examples, embedder)
    await embedder.close()
    files = [out / f"taught-{recipe.seed}.safetensors" for recipe in RUNS]
    for recipe, file in zip(RUNS, files, strict=True):
        console.print(f"{len(examples)} examples; {recipe}")
        for done, total, loss in taught(Rows(examples, recipe, vectors), base, recipe, file):
            if done % _REPORT == 0 or done == total:
                console.print(f"step {done} of {total}: loss {loss:.3f}")
    averaged(base, files, KEPT, out / WEIGHTS)
    shutil.copy(base / "config.json", out)
    write(out, out / "encoder.onnx")
    console.print(f"written: {out / 'encoder.onnx'}")


async def _floors(encoder: str) -> None:
    """Judge by closeness alone; the product also denies names and things that never came up."""
    embedder = Embedder(ModelEncoder(encoder), workers=os.cpu_count() or 1)
    told, never = [
        [near async for near in closest(pairs(folder), embedder, RecallSettings())]
        for folder in (HELD_OUT, UNANSWERED)
    ]
    await embedder.close()
    table = Table("floor", f"told ({len(told)}), denied", f"never told ({len(never)}), admitted")
    for floor in _FLOORS:
        shares = (sum(near < floor for near in of) / len(of) for of in (told, never))
        table.add_row(f"{floor:.2f}", *(f"{share:.3f}" for share in shares))
    Console().print(table)


async def _measure(given: argparse.Namespace) -> None:
    encoder, cache = given.encoder, given.cache
    name = encoder if encoder in ENCODERS else Path(encoder).stem
    model = ModelEncoder(encoder)
    cache.parent.mkdir(parents=True, exist_ok=True)
    kept = DiskCache(cache.with_name(f"{cache.name}-{name}"), max_bytes=_CACHE_BYTES)
    embedder = Embedder(model, workers=os.cpu_count() or 1, disk_cache=kept)
    table = Table("set", "questions", "rounds all@5/10/25/50", "sessions all@5/10")
    for one in given.sets:
        dataset, _, file = one.partition("=")
        for label, settings in (_SETTINGS if given.baselines else {"": RecallSettings()}).items():
            if dataset == _EXAMPLES:
                found = [f async for f in of_examples(pairs(HELD_OUT), embedder, settings)]
            else:
                opened = open_dataset(dataset, Path(file) if file else None)
                found = [f async for f in recall_of(opened, embedder, settings)]
            _add(table, f"{one} {label}", found)
        if given.baselines and dataset != _EXAMPLES:
            opened = open_dataset(dataset, Path(file) if file else None)
            _add(table, f"{one} what was said last", [*latest(opened)])
    await embedder.close()
    Console(width=_WIDTH).print(f"{name}, {model.path}", table)


def _add(table: Table, label: str, found: Sequence[EvidencePlace]) -> None:
    rounds = "/".join(f"{_share(found, 'rounds', k):.3f}" for k in _CUTS)
    sessions = "/".join(f"{_share(found, 'sessions', k):.3f}" for k in _CUTS[:2])
    table.add_row(label, str(len(found)), rounds, sessions)


def _share(found: Sequence[EvidencePlace], what: str, cut: int) -> float:
    """The share of questions whose evidence is all among the first `cut`."""
    places = [one.rounds if what == "rounds" else one.sessions for one in found]
    return sum(place <= cut for place in places) / max(1, len(places))


main()
