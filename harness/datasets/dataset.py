"""A data set as the stages of a run see it: identified at once, its questions read when needed."""

import hashlib
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Generic, TypeVar

from harness.datasets.files import sha256_of
from harness.datasets.questions import Question, digest_of
from harness.errors import DatasetError, raising
from harness.records.digest import QuestionDigest
from harness.records.schema import GoldRecord

T = TypeVar("T")


class Gradual(Generic[T]):
    """Items of an iterable that a thread of its own begins to read at once.

    If the iterable fails, every reader that gets to the end raises its error.
    """

    def __init__(self, items: Iterable[T]) -> None:
        self._found: list[T] = []
        self._problem: Exception | None = None
        self._ended = False
        self._news = threading.Condition()
        # A daemon, so that an interrupted run ends without waiting for it.
        threading.Thread(target=self._fill, args=(items,), name="scan", daemon=True).start()

    @property
    def is_complete(self) -> bool:
        """Whether the iterable was read to its end, or failed."""
        return self._ended

    def __iter__(self) -> Iterator[T]:
        """Items in order, waiting for those that are not there yet."""
        place = 0
        while True:
            with self._news:
                self._news.wait_for(lambda at=place: self._ended or at < len(self._found))  # type: ignore[misc]
                if place == len(self._found):
                    if self._problem is not None:
                        raise self._problem
                    return
                item = self._found[place]
            yield item
            place += 1

    def _fill(self, items: Iterable[T]) -> None:
        try:
            for item in items:
                self._add(item)
        except Exception as problem:  # whatever it is, the readers raise it
            self._problem = problem
        with self._news:
            self._ended = True
            self._news.notify_all()

    def _add(self, item: T) -> None:
        with self._news:
            self._found.append(item)
            self._news.notify_all()


# Files up to this size (bytes) are read and hashed whole before a run starts.
CHECKED_WHOLE = 512 << 20


class ContentHash:
    """SHA-256 of the data in hex digits: known at once, or still computed beside other work."""

    def __init__(self, digits: list[str] | Gradual[str]) -> None:
        self._digits = digits

    @classmethod
    def of_file(cls, path: Path) -> "ContentHash":
        """Begin to hash a file; an error is raised when the digits are asked for."""
        return cls(Gradual(map(sha256_of, [path])))

    @classmethod
    def of_files(cls, files: Sequence[Path]) -> "ContentHash":
        """The digest of several files: the hash of their hashes and names."""
        text = "".join(f"{sha256_of(file)}  {file.name}\n" for file in files)
        return cls.of_text(text)

    @classmethod
    def of_text(cls, text: str) -> "ContentHash":
        return cls.known(hashlib.sha256(text.encode()).hexdigest())

    @classmethod
    def known(cls, sha256: str) -> "ContentHash":
        return cls([sha256])

    @property
    def is_known(self) -> bool:
        return isinstance(self._digits, list) or self._digits.is_complete

    def sha256(self) -> str:
        """Return the digits, once they are computed."""
        return next(iter(self._digits))


@dataclass(frozen=True, slots=True)
class Dataset:
    """Questions in file order with the identity of the bytes they come from.

    `file` is the file's name without folders, None for a built-in set; `size` is in bytes. `listed`
    are the questions' outlines; those of a large file are found gradually. `read` gives the
    questions with the given ids in file order; it may raise `DatasetError` while it is iterated.
    """

    name: str
    file: str | None
    size: int
    fingerprint: ContentHash
    listed: list[QuestionDigest] | Gradual[QuestionDigest]
    read: Callable[[Collection[str]], Iterator[Question]] = field(repr=False)
    gold: GoldRecord | None = None

    @property
    def is_listed(self) -> bool:
        return isinstance(self.listed, list) or self.listed.is_complete

    @property
    def outlines(self) -> list[QuestionDigest]:
        """All outlines; waits for those of a large file, and raises what is wrong with the file."""
        return list(self.listed)

    def early_sha256(self) -> str | None:
        """The hash before a run starts; None for a large file whose hashing is not over."""
        early = self.size <= CHECKED_WHOLE or self.fingerprint.is_known
        return self.fingerprint.sha256() if early else None

    def histories(self, ids: Collection[str]) -> Iterator[list[Question]]:
        """Yield the questions of these ids in lists, one for each history."""
        for _, questions in groupby(self.read(ids), key=lambda question: question.history_id):
            yield list(questions)


def size_of(file: Path) -> int:
    """Bytes of a file; raises `DatasetError` where it cannot be read."""
    with raising(DatasetError, f"{file}: cannot be read"):
        return file.stat().st_size


def held(
    name: str,
    file: Path | None,
    size: int,
    fingerprint: ContentHash,
    questions: list[Question],
    gold: GoldRecord | None = None,
) -> Dataset:
    def read(ids: Collection[str]) -> Iterator[Question]:
        return (question for question in questions if question.question_id in ids)

    outlines = [digest_of(question) for question in questions]
    return Dataset(name, file.name if file else None, size, fingerprint, outlines, read, gold)


def read_each_time(
    name: str,
    file: Path,
    reads: Callable[[Path], Iterator[Question]],
    files: Callable[[Path], list[Path]] | None = None,
) -> Dataset:
    """A data set whose questions are read again whenever they are needed; `files` lists all files
    that it is read from where there may be more than one.
    """
    size = size_of(file)
    outlines = [digest_of(question) for question in reads(file)]
    if not outlines:
        raise DatasetError(f"{file}: holds no questions")
    seen: set[str] = set()
    for outline in outlines:
        if outline.question_id in seen:
            raise DatasetError(f"{file}: question_id {outline.question_id!r} occurs twice")
        seen.add(outline.question_id)

    def read(ids: Collection[str]) -> Iterator[Question]:
        return (question for question in reads(file) if question.question_id in ids)

    several = files(file) if files else []
    fingerprint = ContentHash.of_files(several) if len(several) > 1 else ContentHash.of_file(file)
    return Dataset(name, file.name, size, fingerprint, outlines, read)
