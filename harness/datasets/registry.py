"""The data sets: each declares itself in its module, and is listed here.

Users bring their own as a class that is named on the command line. The class is called with the
file (a `Path`, or None) and has a method `questions()` that gives
`harness.datasets.questions.Question` objects, those of one history together. The method is called
each time the questions are needed and must give the same ones.
"""

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict
from importlib.metadata import entry_points
from pathlib import Path
from typing import Protocol

from harness.datasets.beam import BEAM
from harness.datasets.benchmark import Benchmark, Given
from harness.datasets.cases import CASES
from harness.datasets.convomem import CONVOMEM
from harness.datasets.dataset import ContentHash, Dataset, size_of
from harness.datasets.dialsim import DIALSIM
from harness.datasets.halumem import HALUMEM
from harness.datasets.lives import LONG, SHORT
from harness.datasets.locomo import LOCOMO, LOCOMO_REFINED
from harness.datasets.locomo_plus import LOCOMO_PLUS
from harness.datasets.longmemeval import LONGMEMEVAL
from harness.datasets.pairs import PAIRS
from harness.datasets.perltqa import PERLTQA
from harness.datasets.personamem import PERSONAMEM, PERSONAMEM_V2
from harness.datasets.pools import DULEMON, MEMORYBANK, MEMORYBANK_CHATS, MSC, MSC_SELF_INSTRUCT
from harness.datasets.questions import Question, digest_of
from harness.datasets.sample import SAMPLE
from harness.datasets.selection import QuestionSource
from harness.errors import DatasetError, UsageError

BENCHMARKS: dict[str, Benchmark] = {
    one.name: one
    for one in (
        *(LONGMEMEVAL, LOCOMO, LOCOMO_REFINED, LOCOMO_PLUS, BEAM),
        *(PERSONAMEM, PERSONAMEM_V2, HALUMEM, PERLTQA, MEMORYBANK, DIALSIM, CONVOMEM),
        *(MSC_SELF_INSTRUCT, MSC, DULEMON, MEMORYBANK_CHATS),
        *(PAIRS, CASES, SHORT, LONG, SAMPLE),
    )
}
ENTRY_POINTS = "aide_memoire_harness.datasets"
"""The group of entry points under which other packages register data sets."""
KNOWN_FILES = tuple(file for one in BENCHMARKS.values() for file in one.files)
KNOWN_FOLDERS = tuple(folder for one in BENCHMARKS.values() for folder in one.folders)
# Data sets that look like one of ours, and why they cannot be read.
_REFUSED = {
    "longmemeval-v2": "LongMemEval-V2 holds trajectories of agents, no chats: it cannot be replayed"
}


def open_source(source: QuestionSource) -> Dataset:
    """Open a source's data, unfiltered; `UsageError` for a pool, of which nothing is asked."""
    if source.dataset in BENCHMARKS and BENCHMARKS[source.dataset].is_pool:
        raise UsageError(
            f"{source.dataset} is a pool of chats: nothing is asked of it; "
            "`harness stats` describes it"
        )
    return open_dataset(source.dataset, source.file, source.gold, source.conversations)


def open_dataset(
    name: str, file: Path | None, gold: Path | None = None, conversations: Path | None = None
) -> Dataset:
    """A data set ready to be read; `gold` corrects LoCoMo's labels, `conversations` are those that
    LoCoMo-Plus's cues are told in.

    Raises `UsageError` for a name or file that does not fit, `DatasetError` for damaged data; of a
    very large file only the beginnings of its records are looked at here.
    """
    known = BENCHMARKS.get(name)
    if gold is not None and not (known and known.takes_gold):
        raise UsageError(f"--gold corrects locomo and locomo-refined, not {name}")
    if conversations is not None and not (known and known.takes_conversations):
        raise UsageError(f"--conversations is for locomo-plus, not {name}")
    if known is None:
        return _of_others(name, file)
    if known.file == "built in" and file is not None:
        raise UsageError(f"{name} is built in: leave --file out")
    if known.file == "needed" and file is None:
        raise UsageError(f"--dataset {name} needs --file")
    return known.opens(Given(name, file, gold, conversations))


def edition_of(sha256: str) -> str | None:
    """The edition of the published file with this hash, None for any other file."""
    return next((known.edition for known in KNOWN_FILES if known.sha256 == sha256), None)


class Plugin(Protocol):
    def questions(self) -> Iterable[Question]:
        """All questions, in the same order each time."""


def _of_others(name: str, file: Path | None) -> Dataset:
    if name in _REFUSED:
        raise UsageError(_REFUSED[name])
    of_others = {one.name: one.value for one in entry_points(group=ENTRY_POINTS)}
    place = of_others.get(name, name)
    if ":" not in place:
        known = f"{', '.join((*BENCHMARKS, *of_others))}, or module:Class"
        raise UsageError(f"unknown data set {name!r}, expected one of {known}")
    plugin = load_plugin(place, file)
    outlines = [digest_of(question) for question in plugin.questions()]
    if not outlines:
        raise DatasetError(f"{name}: holds no questions")

    def read(ids: Collection[str]) -> Iterator[Question]:
        return (question for question in plugin.questions() if question.question_id in ids)

    if file is None:
        fingerprint = ContentHash.known(content_hash(plugin.questions()))
        return Dataset(name, None, 0, fingerprint, outlines, read)
    return Dataset(name, file.name, size_of(file), ContentHash.of_file(file), outlines, read)


def load_plugin(name: str, file: Path | None) -> Plugin:
    """The object of `module:Class` or `path/to/file.py:Class`; `UsageError` where there is none."""
    place, _, attribute = name.rpartition(":")
    try:
        module = (
            _from_file(Path(place)) if place.endswith(".py") else importlib.import_module(place)
        )
        kind = getattr(module, attribute)
    except (ImportError, AttributeError, OSError, SyntaxError) as error:
        raise UsageError(f"--dataset {name}: {error}") from error
    plugin: Plugin = kind(file)
    if not hasattr(plugin, "questions"):
        raise UsageError(f"--dataset {name}: {attribute} has no method questions()")
    return plugin


def content_hash(questions: Iterable[Question]) -> str:
    """SHA-256 over all that the questions say, for a data set that has no file."""
    digest = hashlib.sha256()
    for question in questions:
        digest.update(repr(asdict(question)).encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


def _from_file(path: Path) -> object:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    # `dataclass` looks the module of a class up in `sys.modules`.
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module
