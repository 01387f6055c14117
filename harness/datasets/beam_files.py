"""Where BEAM chats lie: a list in one file, or folders in the layout of the official repository.

A folder holds chats (`1/chat.json`, `1/probing_questions/probing_questions.json`), or sizes of them
(`100K/1/…`), or is a chat itself. Chats are read one at a time, however large they are.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.datasets.files import read_records, sha256_of
from harness.errors import DatasetError

SIZES = ("100K", "500K", "1M", "10M")
_QUESTIONS = Path("probing_questions") / "probing_questions.json"
# The official scripts read the shortened chat where there is one (spelled so).
_CHATS = ("chat_trunecated.json", "chat.json")


def read_chats(path: Path) -> Iterator[dict[str, Any]]:
    """Every chat with `size`, `chat_id`, `chat` and `probing_questions`; folders by number.

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
    """SHA-256 of a file; of a folder over those of the files that are read."""
    if not path.is_dir():
        return sha256_of(path)
    digest = hashlib.sha256()
    for folder in _folders(path):
        for file in (_chat_file(folder), folder / _QUESTIONS):
            digest.update(f"{file.relative_to(path).as_posix()} {sha256_of(file)}\n".encode())
    return digest.hexdigest()


def size_of(path: Path) -> int:
    """Bytes of what is read."""
    files = [path]
    if path.is_dir():
        files = [file for folder in _folders(path) for file in (_chat_file(folder),)]
    try:
        return sum(file.stat().st_size for file in files)
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read ({error.strerror or error})") from error


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
    """Chats with questions: the plans of a 10M chat are folders with a chat, too."""
    return (file for file in path.glob(f"{depth}{name}") if (file.parent / _QUESTIONS).exists())


def _rank(name: str) -> int:
    if name in SIZES:
        return SIZES.index(name)
    return int(name) if name.isdigit() else 0


def _chat_file(folder: Path) -> Path:
    return next(folder / name for name in _CHATS if (folder / name).exists())


def _read(path: Path) -> Any:
    try:
        with path.open(encoding="utf-8-sig") as file:
            return json.load(file)
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read ({error.strerror or error})") from error
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{path}: not JSON ({error})") from error
