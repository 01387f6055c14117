"""BEAM: one long history of dated batches, and twenty questions about it in ten abilities.

The layout is that of mohammadtavakoli78/BEAM (arXiv 2510.27246): a folder for each chat, or
records.
"""

import hashlib
import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from harness.datasets.beam_chats import chat_name, questions_of
from harness.datasets.benchmark import (
    Answered,
    Benchmark,
    Given,
    KnownFile,
    KnownFolder,
    OfficialFormat,
    RubricRules,
)
from harness.datasets.dataset import ContentHash, Dataset
from harness.datasets.files import read_records, sha256_of
from harness.datasets.questions import BEAM_ABILITIES, EVENT_ORDERING, Question, digest_of
from harness.errors import DatasetError, UsageError, raising
from harness.records.digest import QuestionDigest

_BEAM = "https://raw.githubusercontent.com/mohammadtavakoli78/BEAM/main/chats"
_PUBLISHED = {"100K": 20, "500K": 35, "1M": 35, "10M": 10}
SIZES = tuple(_PUBLISHED)
_QUESTIONS = Path("probing_questions") / "probing_questions.json"
# The official scripts read the shortened chat where there is one (spelled so).
_CHATS = ("chat_trunecated.json", "chat.json")


def read_chats(path: Path) -> Iterator[dict[str, Any]]:
    """Yield each chat with `size`, `chat_id`, `chat` and `probing_questions`, folders by number.

    Raises `DatasetError` for what cannot be read, and for a folder without chats.
    """
    if not path.is_dir():
        yield from read_records(path)
        return
    for folder in _folders(path):
        size = folder.parent.name if folder.parent.name in SIZES else None
        yield {
            "size": size,
            "chat_id": folder.name,
            "chat": _read(_chat_file(folder)),
            "probing_questions": _read(folder / _QUESTIONS),
        }


def content_digest(path: Path) -> str:
    """SHA-256 of a file; for a folder, over the hashes of the files that are read."""
    if not path.is_dir():
        return sha256_of(path)
    digest = hashlib.sha256()
    for folder in _folders(path):
        for file in (_chat_file(folder), folder / _QUESTIONS):
            digest.update(f"{file.relative_to(path).as_posix()} {sha256_of(file)}\n".encode())
    return digest.hexdigest()


def size_of(path: Path) -> int:
    files = [path]
    if path.is_dir():
        files = [_chat_file(folder) for folder in _folders(path)]
    with raising(DatasetError, f"{path}: cannot be read"):
        return sum(file.stat().st_size for file in files)


def _folders(path: Path) -> list[Path]:
    found = sorted(
        {
            file.parent
            for name in _CHATS
            for depth in ("", "*/", "*/*/")
            for file in _at(path, depth, name)
        },
        key=lambda folder: (_rank(folder.parent.name), _rank(folder.name), str(folder)),
    )
    if not found:
        raise DatasetError(f"{path}: holds no chats (1/chat.json, or 100K/1/chat.json)")
    return found


def _at(path: Path, depth: str, name: str) -> Iterator[Path]:
    """Chats with questions beside them, which the plans inside a 10M chat do not have."""
    return (file for file in path.glob(f"{depth}{name}") if (file.parent / _QUESTIONS).exists())


def _rank(name: str) -> int:
    if name in SIZES:
        return SIZES.index(name)
    return int(name) if name.isdigit() else 0


def _chat_file(folder: Path) -> Path:
    return next(folder / name for name in _CHATS if (folder / name).exists())


def _read(path: Path) -> Any:
    try:
        with raising(DatasetError, f"{path}: cannot be read"):
            return json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{path}: not JSON ({error})") from error


def open_beam(given: Given) -> Dataset:
    """Keep the questions' outlines only; a chat is read again when its questions are asked."""
    path = given.path
    outlines: list[QuestionDigest] = []
    chats: set[str] = set()
    for number, record in enumerate(read_chats(path)):
        name = chat_name(record)
        if name in chats:
            raise DatasetError(f"{path}: chat {name} occurs twice")
        chats.add(name)
        outlines += map(digest_of, questions_of(record, f"{path}: chat {number}"))
    if not outlines:
        raise DatasetError(f"{path}: holds no questions")

    def read(ids: Collection[str]) -> Iterator[Question]:
        wanted = {name.partition("#")[0] for name in ids}
        for number, record in enumerate(read_chats(path)):
            if chat_name(record) in wanted:
                found = questions_of(record, f"{path}: chat {number}")
                yield from (question for question in found if question.question_id in ids)

    fingerprint = ContentHash.known(content_digest(path))
    return Dataset("beam", path.name, size_of(path), fingerprint, outlines, read)


def beam_results(run: Answered) -> Iterator[dict[str, Any]]:
    """Yield the questions of each chat by ability, with `rubric` and `llm_response`; a missing
    answer becomes an empty one, because the scorer needs one everywhere.

    The scorer takes the rubric by an answer's place in its ability, not the one in the file. So a
    run that lacks an earlier question of an ability raises `UsageError`.
    """
    chats: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for question in run.questions:
        abilities = chats.setdefault(question.history_id, {})
        asked = abilities.setdefault(question.question_type, [])
        if question.question_id.rpartition("-")[2] != str(len(asked)):
            raise UsageError(
                f"the official script scores by place, and a question before "
                f"{question.question_id} is not in this run: export a run of whole chats"
            )
        asked.append(
            {
                "question": question.question,
                "rubric": list(question.rubric),
                "llm_response": run.hypotheses.get(question.question_id, {}).get("hypothesis", ""),
            }
        )
    for chat, abilities in chats.items():
        yield {"chat": chat, "results": abilities}


def _published(size: str, count: int) -> KnownFolder:
    key, licence = f"beam-{size.lower()}", "not stated"
    names = ("chat.json", "probing_questions/probing_questions.json", "chat_trunecated.json")
    files = (
        KnownFile(
            key=key,
            dataset="beam",
            edition=size,
            file=f"beam/{size}/{number}/{name}",
            url=f"{_BEAM}/{size}/{number}/{name}",
            licence=licence,
            is_optional=name == names[-1],
        )
        for number in range(1, count + 1)
        for name in names
    )
    return KnownFolder(key, f"beam/{size}", licence, tuple(files))


BEAM = Benchmark(
    "beam",
    open_beam,
    judge="beam",
    rubrics=(
        RubricRules(
            "beam",
            1,
            ("rubric_item", "event_order"),
            lambda question: (
                "event_order" if question.question_type == EVENT_ORDERING else "rubric_item"
            ),
            ours=("event_order",),
        ),
    ),
    exports=(OfficialFormat("beam", beam_results, "BEAM", BEAM_ABILITIES, written="folder"),),
    folders=tuple(_published(size, count) for size, count in _PUBLISHED.items()),
)
