"""The layouts by the names of their data sets."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.datasets.formats import (
    convomem,
    dialsim,
    halumem,
    memorybank,
    perltqa,
    personamem,
    pools,
)
from harness.datasets.questions import Question


def _alone(file: Path) -> list[Path]:
    return [file]


@dataclass(frozen=True, slots=True)
class Format:
    """`read` gives the questions of a file, those of one history together; `files` are all that it
    reads; a pool has histories of which nothing is asked.
    """

    read: Callable[[Path], Iterator[Question]]
    files: Callable[[Path], list[Path]] = _alone
    is_pool: bool = False


FORMATS = {
    "personamem": Format(personamem.v1_questions, personamem.v1_files),
    "personamem-v2": Format(personamem.v2_questions, personamem.v2_files),
    "halumem": Format(halumem.questions),
    "perltqa": Format(perltqa.questions, perltqa.files),
    "memorybank": Format(memorybank.questions, memorybank.files),
    "dialsim": Format(dialsim.questions),
    "convomem": Format(convomem.questions),
    "msc-self-instruct": Format(pools.msc_self_instruct),
    "msc": Format(pools.msc, is_pool=True),
    "dulemon": Format(pools.dulemon, is_pool=True),
    "memorybank-chats": Format(memorybank.chats, is_pool=True),
}
# Their questions are answered by naming an option.
WITH_OPTIONS = ("personamem", "personamem-v2", "dialsim")
# What looks like one of them and is not: why it cannot be read.
REFUSED = {
    "longmemeval-v2": "LongMemEval-V2 holds trajectories of agents, no chats: it cannot be replayed"
}
