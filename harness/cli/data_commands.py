"""The commands that bring data in, describe it and take results out: `download`, `sample`, `stats`,
`export`, `schema`.
"""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from harness.cli import options
from harness.cli.output import progress, results
from harness.datasets.benchmark import KnownFile
from harness.datasets.description import describe
from harness.datasets.download import Downloaded, download, files_of
from harness.datasets.registry import KNOWN_FILES, KNOWN_FOLDERS, open_dataset
from harness.datasets.sample import sample_json
from harness.errors import NotPublished, UsageError
from harness.export.run_schema import schema_text
from harness.export.stage import FORMATS, ExportOptions, export
from harness.records.run_dir import RunDir
from harness.report.table import Table, number, percent, print_tables

_COLUMNS = ("n", "mean", "least", "median", "p90", "most")


def stats_command(
    dataset: options.DatasetName,
    file: options.DataFile = None,
    conversations: options.Conversations = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Describe a data set: questions, histories, evidence, dates, repetitions."""
    found = describe(open_dataset(dataset, file, conversations=conversations))
    if as_json:
        print(json.dumps(found, ensure_ascii=False, indent=1))
        return
    print_tables(results(), tables(found))


def tables(found: dict[str, Any]) -> list[Table]:
    counts, asked = found["counts"], found["counts"]["questions"]
    lines = [(name.replace("_", " "), str(count)) for name, count in counts.items()]
    if found["dates"]:
        lines += [("first day", found["dates"][0]), ("last day", found["dates"][-1])]
    types = [(k, str(n), percent(n / asked)) for k, n in found["types"].items()]
    measures = [
        (_label(name), number(values["n"]), *(short(values[c]) for c in _COLUMNS[1:]))
        for name, values in found["measures"].items()
    ]
    return [
        Table(
            f"Data set {found['dataset']}", ("what", "count"), lines, f"SHA-256 {found['sha256']}"
        ),
        Table("Questions by type", ("type", "questions", "%"), types),
        Table(
            "Measures", ("what", *_COLUMNS), measures, "A token is four characters; 12k are 12,000."
        ),
    ]


def _label(name: str) -> str:
    return name.replace(" per ", "/").replace("days from evidence", "days, evidence")


def short(value: float) -> str:
    """A figure that fits a column: 168k, 6,783, 237 or 4.95; --json has all digits."""
    if value >= 10_000:
        return f"{value / 1000:,.0f}k"
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}".rstrip("0").rstrip(".")


NONCOMMERCIAL = "CC BY-NC"


def download_command(
    keys: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE]...", help="Files to download. Without any, lists what there is."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder to put them into.")] = Path("datasets"),
    mirror: Annotated[str | None, typer.Option(help="Scheme and host to use instead.")] = None,
) -> None:
    """Download published data files and verify their hashes. Existing files are only verified."""
    if not keys:
        _list()
        return
    console = progress()
    for known in [known for key in keys for known in files_of(key)]:
        if known.licence.startswith(NONCOMMERCIAL):
            console.print(f"{known.key}: {known.licence}, not for commercial use", highlight=False)
        try:
            done = _fetch(known, out, mirror, console)
        except NotPublished:
            if not known.is_optional:
                raise
            continue
        note = "verified" if done.is_verified else "no published hash is known to compare it with"
        print(f"{known.key}: {done.path}, SHA-256 {done.sha256}, {note}")


def export_command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A run directory.")],
    kind: Annotated[str, typer.Option("--format", help=f"One of {', '.join(FORMATS)}.")],
    out: Annotated[
        Path | None, typer.Option(help="Where to write it; mlflow has a store of its own.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option(help="The run's data file, for a retrieval log.", dir_okay=False)
    ] = None,
    fill_missing: Annotated[
        bool, typer.Option("--fill-missing", help="Add empty answers for missing ones.")
    ] = False,
    name: Annotated[
        str, typer.Option(help="Prefix of the keys in the format locomo; file name in beam.")
    ] = "aide_memoire",
    tracking_uri: Annotated[
        str | None,
        typer.Option(help="MLflow's server or database (default: as MLflow is set up)."),
    ] = None,
) -> None:
    """Write a run's answers or rankings as the official scripts, Inspect or MLflow read them."""
    chosen = ExportOptions(file=file, fill=fill_missing, name=name, tracking=tracking_uri)
    exported = export(RunDir(directory), kind, out, chosen)
    print(f"{exported.records} records: {', '.join(map(str, exported.places))}")


def schema_command() -> None:
    """Print the JSON schema of the files of a run directory."""
    print(schema_text(), end="")


def sample_command(
    out: Annotated[Path, typer.Option(help="Where to write it (.json).")],
) -> None:
    """Write the built-in sample set in LongMemEval format."""
    try:
        out.write_text(sample_json(), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--out {out}: cannot be written ({error.strerror or error})") from error
    print(out)


def _list() -> None:
    for known in KNOWN_FILES:
        size = "size unknown" if known.size is None else f"{known.size / 1e6:,.1f} MB"
        print(f"{known.key:24} {known.file:26} {size:>14}  {known.licence}")
    for folder in KNOWN_FOLDERS:
        named = f"{sum(not file.is_optional for file in folder.files)} files"
        print(f"{folder.key:24} {folder.folder:26} {named:>14}  {folder.licence}")
    print("give one or more of these names")


def _fetch(known: KnownFile, out: Path, mirror: str | None, console: Console) -> Downloaded:
    with _bar(console) as bar:
        task = bar.add_task(known.file, total=known.size)

        def went_on(here: int, total: int | None) -> None:
            bar.update(task, completed=here, total=total)

        return download(known, out, mirror=mirror, progress=went_on)


def _bar(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        console=console,
        disable=not console.is_terminal,
    )
