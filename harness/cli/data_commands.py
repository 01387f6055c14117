"""The commands that bring data in and take results out: `download` and `export`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from harness.datasets.download import Downloaded, download, find_known
from harness.datasets.known import KNOWN_FILES, KnownFile
from harness.export.stage import FORMATS, ExportOptions, export
from harness.runs.run_dir import RunDir

NONCOMMERCIAL = "CC BY-NC"


def download_command(
    keys: Annotated[
        list[str] | None, typer.Argument(metavar="[FILE]...", help="Which; none lists them.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="The folder to put them into.")] = Path(
        "datasets"
    ),
    mirror: Annotated[
        str | None, typer.Option("--mirror", help="Scheme and host to use instead.")
    ] = None,
) -> None:
    """Fetch published data files and check their hashes; a file that is there is checked only."""
    if not keys:
        _list()
        return
    console = Console(stderr=True)
    for known in [find_known(key) for key in keys]:
        if known.licence.startswith(NONCOMMERCIAL):
            console.print(f"{known.key}: {known.licence}, not for commercial use", highlight=False)
        print(_outcome(known, _fetch(known, out, mirror, console)))


def export_command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A run directory.")],
    kind: Annotated[str, typer.Option("--format", help=f"One of {', '.join(FORMATS)}.")],
    out: Annotated[Path, typer.Option("--out", help="Where to write it.")],
    file: Annotated[
        Path | None,
        typer.Option("--file", help="The run's data file, for a retrieval log.", dir_okay=False),
    ] = None,
    fill_missing: Annotated[
        bool, typer.Option("--fill-missing", help="Add empty answers for missing ones.")
    ] = False,
    name: Annotated[
        str, typer.Option("--name", help="What the keys of the format locomo begin with.")
    ] = "aide_memoire",
) -> None:
    """Write a run's answers or rankings as the official scripts read them."""
    options = ExportOptions(file=file, fill=fill_missing, name=name)
    print(f"{export(RunDir(directory), kind, out, options)} records: {out}")


def _list() -> None:
    for known in KNOWN_FILES:
        size = "size unknown" if known.size is None else f"{known.size / 1e6:,.1f} MB"
        print(f"{known.key:24} {known.file:26} {size:>14}  {known.licence}")
    print("give one or more of these names")


def _fetch(known: KnownFile, out: Path, mirror: str | None, console: Console) -> Downloaded:
    with _bar(console) as bar:
        task = bar.add_task(known.file, total=known.size)

        def progress(here: int, total: int | None) -> None:
            bar.update(task, completed=here, total=total)

        return download(known, out, mirror=mirror, progress=progress)


def _outcome(known: KnownFile, done: Downloaded) -> str:
    note = "verified" if done.is_verified else "no published hash is known to compare it with"
    return f"{known.key}: {done.path}, SHA-256 {done.sha256}, {note}"


def _bar(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        console=console,
        disable=not console.is_terminal,
    )
