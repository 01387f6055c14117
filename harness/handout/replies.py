"""Replies that came back: text files named by id, or lines, such as a batch API's result file."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from harness.datasets.files import SUFFIXES, read_records
from harness.errors import DatasetError
from harness.handout.folder import REPLIES, PromptFolder
from harness.text import encodable

_TEXT = ".txt"
_IDS, _TEXTS = ("custom_id", "id"), ("reply", "text")


@dataclass(frozen=True, slots=True)
class HandedReply:
    """What was replied to one prompt; tokens are known of a model's only."""

    text: str
    finish_reason: str = "stop"
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Replies:
    """By prompt id; `failed` says of requests that a batch could not answer why not."""

    by_id: Mapping[str, HandedReply] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)


class _Read(NamedTuple):
    where: str
    id: str
    reply: HandedReply | None
    problem: str = ""


def read_replies(folder: PromptFolder, given: Sequence[Path] = ()) -> Replies:
    """The replies to a folder's prompts, from the `given` files and folders, else from its own.

    Raises `DatasetError` for a reply to a prompt that was not exported, for two different replies
    to one prompt, and for what cannot be read.
    """
    folder.require()
    known = folder.ids
    by_id: dict[str, HandedReply] = {}
    failed: dict[str, str] = {}
    own = folder.path / REPLIES
    for read in _read_all(given or ([own] if own.exists() else [])):
        if read.id not in known:
            raise DatasetError(f"{read.where}: {folder.path} holds no prompt {read.id!r}")
        if read.reply is None:
            failed[read.id] = read.problem
        elif by_id.setdefault(read.id, read.reply).text != read.reply.text:
            raise DatasetError(f"{read.where}: another reply to prompt {read.id!r} was read before")
    return Replies(by_id, {name: why for name, why in failed.items() if name not in by_id})


def _read_all(paths: Iterable[Path]) -> Iterator[_Read]:
    for path in paths:
        if not path.exists():
            raise DatasetError(f"--replies {path}: there is no such file or folder")
        if path.is_dir():
            yield from _texts(path)
        elif path.name.lower().endswith(SUFFIXES):
            yield from _lines(path)
        else:
            yield _text(path)


def _texts(folder: Path) -> Iterator[_Read]:
    for path in sorted(folder.iterdir()):
        if not path.name.startswith("."):  # what file managers leave
            yield _text(path)


def _text(path: Path) -> _Read:
    if path.suffix != _TEXT:
        kinds = ", ".join((_TEXT, *SUFFIXES))
        raise DatasetError(f"{path}: not a file of replies, expected one of {kinds}")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"{path}: cannot be read as UTF-8 text ({error})") from error
    return _Read(str(path), path.stem, HandedReply(text.rstrip("\n")))


def _lines(path: Path) -> Iterator[_Read]:
    for number, line in enumerate(read_records(path)):
        where = f"{path}: record {number}"
        name = next((line[key] for key in _IDS if key in line), None)
        if not isinstance(name, str):
            raise DatasetError(f"{where}: names no prompt: expected custom_id or id")
        yield _batched(where, name, line) if "response" in line else _plain(where, name, line)


def _plain(where: str, name: str, line: Mapping[str, Any]) -> _Read:
    text = next((line[key] for key in _TEXTS if key in line), None)
    if not isinstance(text, str):
        raise DatasetError(f"{where}: no reply: expected text under {' or '.join(_TEXTS)}")
    return _Read(where, name, HandedReply(encodable(text)))


def _batched(where: str, name: str, line: Mapping[str, Any]) -> _Read:
    """A line of OpenAI's result or error file: a chat completion, or why there is none."""
    response, error = line["response"], line.get("error")
    try:
        if error or response.get("status_code", 200) != 200:
            return _Read(where, name, None, _said(error or response.get("body") or response))
        body = response["body"]
        choice, usage = body["choices"][0], body.get("usage") or {}
        text = encodable(choice["message"].get("content") or "")
        reply = HandedReply(
            text,
            choice.get("finish_reason") or "",
            usage.get("prompt_tokens"),
            usage.get("completion_tokens"),
        )
    except (LookupError, TypeError, AttributeError) as wrong:
        raise DatasetError(f"{where}: its response holds no chat completion") from wrong
    return _Read(where, name, reply)


def _said(error: Any) -> str:
    """The message in an error, however deep."""
    while isinstance(error, Mapping) and isinstance(error.get("error"), Mapping):
        error = error["error"]
    return str(error.get("message", error)) if isinstance(error, Mapping) else str(error)
