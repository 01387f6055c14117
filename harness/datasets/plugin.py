"""Data sets that others bring: a class of theirs, named on the command line.

The class is called with the file (a `Path`, or None) and has a method `questions()` that gives
`harness.datasets.questions.Question` objects, those of one history together. It is called each
time the questions are needed and must give the same ones.
"""

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Protocol

from harness.datasets.questions import Question
from harness.errors import UsageError


class Plugin(Protocol):
    """What the class must offer."""

    def questions(self) -> Iterable[Question]:
        """All questions, in the same order each time."""


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
    # Data classes look their module up by name.
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module
