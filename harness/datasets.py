"""Data sets by name: where their questions come from and how their content is identified."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.errors import UsageError
from harness.files import read_records, sha256_of
from harness.longmemeval import Instance, iterate_instances
from harness.questions import Question
from harness.sample import build_sample

DATASETS = ("longmemeval", "sample")


@dataclass(frozen=True, slots=True)
class Dataset:
    """Questions with the identity of the bytes they were read from.

    `file` is the file's name without folders; `sha256` is that of the file, or of the built-in
    set's JSON.
    """

    name: str
    file: str | None
    sha256: str
    questions: list[Question]


@dataclass(frozen=True, slots=True)
class OpenDataset:
    """A data set whose instances are read when they are asked for, once; else like `Dataset`."""

    name: str
    file: str | None
    sha256: str
    instances: Iterator[Instance]


def load_dataset(name: str, file: Path | None) -> Dataset:
    """Read a data set; raises like `open_dataset`."""
    opened = open_dataset(name, file)
    questions = [instance.question for instance in opened.instances]
    return Dataset(opened.name, opened.file, opened.sha256, questions)


def open_dataset(name: str, file: Path | None) -> OpenDataset:
    """Begin to read a data set; raises `UsageError` for a name or file that does not go, else
    `DatasetError`, while reading too.
    """
    if name == "sample":
        if file is not None:
            raise UsageError("the sample data set is built in: leave --file out")
        return _sample()
    if name == "longmemeval":
        if file is None:
            raise UsageError("--dataset longmemeval needs --file")
        instances = iterate_instances(read_records(file), source=str(file))
        return OpenDataset(name, file.name, sha256_of(file), instances)
    raise UsageError(f"unknown data set {name!r}, expected one of {', '.join(DATASETS)}")


def sample_json() -> str:
    """The built-in set as a LongMemEval file: the same text every time."""
    return json.dumps(build_sample(), ensure_ascii=False, indent=1) + "\n"


def _sample() -> OpenDataset:
    text = sample_json()
    instances = iterate_instances(json.loads(text), source="sample")
    return OpenDataset("sample", None, hashlib.sha256(text.encode()).hexdigest(), instances)
