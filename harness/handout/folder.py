"""A folder of prompts to be answered elsewhere, each under an opaque id.

`batch.jsonl` holds every request in the shape of OpenAI's batch API; `prompts/ID.txt` is the same
to read, and `index.jsonl` lists them. Whoever answers writes `replies/ID.txt`.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict

from harness.errors import RunMismatch, UsageError
from harness.records.run_dir import LineFile, RunDir
from harness.records.schema import JsonObject

PROMPTS, REPLIES = "prompts", "replies"
_README = "README.txt"
_HOW_TO = """\
Answer the prompts in this folder.

By hand: read prompts/ID.txt and write the reply, and nothing else, into replies/ID.txt. An empty
file is an empty reply; a file that is not there is no reply yet.

By a batch API: batch.jsonl holds the same requests in the shape of OpenAI's batch API. Give the
result file to the import.
"""


class BatchLine(TypedDict):
    """One request of OpenAI's batch API."""

    custom_id: str
    method: str
    url: str
    body: JsonObject


class IndexLine(TypedDict):
    """Where a prompt lies, and where its reply is expected."""

    id: str
    prompt: str
    reply: str
    characters: int
    sha256: str


BATCH = LineFile[BatchLine]("batch.jsonl")
INDEX = LineFile[IndexLine]("index.jsonl")


class PromptFolder:
    """The prompts handed out so far. A prompt is there when its line in `batch.jsonl` is."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._dir = RunDir(path)

    @property
    def ids(self) -> set[str]:
        """Of every prompt that is there."""
        return set(self._lines())

    def require(self) -> None:
        """Raise `UsageError` where no prompts were written."""
        if not self._dir.has(BATCH):
            raise UsageError(f"--prompts {self.path}: no prompts were exported to it")

    def require_only(self, ids: set[str]) -> None:
        """Raise `RunMismatch` if it holds the prompts of other questions, or of another run."""
        if others := self.ids - ids:
            raise RunMismatch(
                f"--prompts {self.path} holds {len(others)} prompts of another run or selection: "
                "choose another folder"
            )

    def create(self) -> None:
        """Make the folder, with a word to whoever answers."""
        if self.path.exists() and not self.path.is_dir():
            raise UsageError(f"--prompts {self.path}: not a folder")
        try:
            (self.path / PROMPTS).mkdir(parents=True, exist_ok=True)
            (self.path / REPLIES).mkdir(exist_ok=True)
            (self.path / _README).write_text(_HOW_TO, encoding="utf-8")
        except OSError as error:
            reason = error.strerror or error
            raise UsageError(f"--prompts {self.path}: cannot be written ({reason})") from error

    def put(self, name: str, body: JsonObject) -> None:
        """Hand out one request: first the text, then the line that says it is whole."""
        RunDir(self.path / PROMPTS).replace(f"{name}.txt", prompt_text(body))
        line = BatchLine(custom_id=name, method="POST", url="/v1/chat/completions", body=body)
        self._dir.append(BATCH, line)

    def settle(self) -> int:
        """Sort by id, so that not even the order tells anything, and write the index; how many
        prompts there are.
        """
        lines = dict(sorted(self._lines().items()))
        self._dir.replace_lines(BATCH, lines.values())
        self._dir.replace_lines(INDEX, (_index(name, line["body"]) for name, line in lines.items()))
        return len(lines)

    def _lines(self) -> dict[str, BatchLine]:
        return {line["custom_id"]: line for line in self._dir.records(BATCH, "custom_id")}


def prompt_text(body: JsonObject) -> str:
    """A request to read: its text alone, or each message under its role where there are several."""
    messages = [(str(m["role"]), message_text(m)) for m in body["messages"]]
    if len(messages) == 1:
        return messages[0][1] + "\n"
    return "\n".join(f"=== {role} ===\n\n{text}\n" for role, text in messages)


def message_text(message: Mapping[str, Any]) -> str:
    """The text of a message, which may come in parts."""
    content = message["content"]
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content or "")


def _index(name: str, body: JsonObject) -> IndexLine:
    text = prompt_text(body)
    return IndexLine(
        id=name,
        prompt=f"{PROMPTS}/{name}.txt",
        reply=f"{REPLIES}/{name}.txt",
        characters=len(text),
        sha256=hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest(),
    )
