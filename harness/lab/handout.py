"""A folder of prompts that people, other machines or batches answer, each under an opaque id, and
the replies that came back.

`batch.jsonl` holds every request in the shape of OpenAI's batch API; `prompts/ID.txt` is the same
request to read, and `index.jsonl` lists all prompts. Whoever answers writes `replies/ID.txt`;
replies may also be lines, such as a batch API's result file.

A reply may call tools instead of giving an answer. The assistant's next request with the tools'
results is then another prompt, whose id is that of the first prompt and a number.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from harness.datasets.files import SUFFIXES, read_records
from harness.errors import DatasetError, RunMismatch, UsageError, raising
from harness.judges.openai_chat import ModelReply, completed
from harness.pipeline.prompts import message_text
from harness.records.run_dir import LineFile, RunDir
from harness.records.schema import JsonObject
from harness.text import encodable

PROMPTS, REPLIES, RESULTS = "prompts", "replies", "results"
_README = "README.txt"
_HOW_TO = """\
Answer the prompts in this folder.

By hand: read prompts/ID.txt and write the reply, and nothing else, into replies/ID.txt. An empty
file is an empty reply; a file that is not there is no reply yet. If a prompt ends with tools, the
reply may call some of them, as one JSON object and nothing else:
{"tool_calls": [{"name": "search_memory", "arguments": {"query": "the garden"}}]}
What they find comes as another prompt, ID-2, then ID-3.

By a batch API: batch.jsonl holds the same requests in the shape of OpenAI's batch API. Give the
result file to the import, or have them submitted and collected.
"""


class BatchLine(TypedDict):
    custom_id: str
    method: str
    url: str
    body: JsonObject


class IndexLine(TypedDict):
    """The paths of a prompt and of its reply, and the prompt's length and hash."""

    id: str
    prompt: str
    reply: str
    characters: int
    sha256: str


BATCH = LineFile[BatchLine]("batch.jsonl")
INDEX = LineFile[IndexLine]("index.jsonl")


class PromptFolder:
    """The prompts handed out so far. A prompt counts once its line stands in `batch.jsonl`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._dir = RunDir(path)

    @property
    def ids(self) -> set[str]:
        return set(self._lines())

    @property
    def bodies(self) -> dict[str, JsonObject]:
        """Every request that was handed out."""
        return {name: line["body"] for name, line in self._lines().items()}

    def require(self) -> None:
        """Raise `UsageError` where no prompts were written."""
        if not self._dir.has(BATCH):
            raise UsageError(f"--prompts {self.path}: no prompts were exported to it")

    def require_only(self, ids: set[str]) -> None:
        """Raise `RunMismatch` if the folder holds prompts of other questions or of another run."""
        if others := {name for name in self.ids if first_of(name) not in ids}:
            raise RunMismatch(
                f"--prompts {self.path} holds {len(others)} prompts of another run or selection: "
                "choose another folder"
            )

    def create(self) -> None:
        """Make the folder, with a README for whoever answers."""
        if self.path.exists() and not self.path.is_dir():
            raise UsageError(f"--prompts {self.path}: not a folder")
        with raising(UsageError, f"--prompts {self.path}: cannot be written"):
            (self.path / PROMPTS).mkdir(parents=True, exist_ok=True)
            (self.path / REPLIES).mkdir(exist_ok=True)
            (self.path / _README).write_text(_HOW_TO, encoding="utf-8")

    def put(self, name: str, body: JsonObject) -> None:
        """Hand out one request. Its line in `batch.jsonl` is written last: it marks it as whole."""
        RunDir(self.path / PROMPTS).replace(f"{name}.txt", prompt_text(body))
        line = BatchLine(custom_id=name, method="POST", url="/v1/chat/completions", body=body)
        self._dir.append(BATCH, line)

    def keep_results(self, batch: str, text: str) -> None:
        """Keep the result file of a batch API."""
        results = RunDir(self.path / RESULTS)
        results.create()
        results.replace(f"{batch}.jsonl", text)

    @property
    def replied(self) -> list[Path]:
        """The paths of the folder's own replies: those of people, and the results of batches."""
        own = self.path / REPLIES
        return [*([own] if own.exists() else []), *sorted((self.path / RESULTS).glob("*.jsonl"))]

    def settle(self) -> int:
        """Sort the prompts by id, so that not even their order tells anything, and write the index.
        Returns how many prompts there are.
        """
        lines = dict(sorted(self._lines().items()))
        self._dir.replace_lines(BATCH, lines.values())
        self._dir.replace_lines(INDEX, (_index(name, line["body"]) for name, line in lines.items()))
        return len(lines)

    def _lines(self) -> dict[str, BatchLine]:
        return {line["custom_id"]: line for line in self._dir.records(BATCH, "custom_id")}


def prompt_text(body: JsonObject) -> str:
    """A request as readable text: the text of a single message alone; otherwise each message under
    its role, and the tools that may be called.
    """
    messages = [(str(m["role"]), _with_calls(m)) for m in body["messages"]]
    if body.get("tools") and body.get("tool_choice") != "none":
        functions = (json.dumps(one["function"], ensure_ascii=False) for one in body["tools"])
        messages.append(("tools", "\n".join(functions)))
    if len(messages) == 1:
        return messages[0][1] + "\n"
    return "\n".join(f"=== {role} ===\n\n{text}\n" for role, text in messages)


def _with_calls(message: JsonObject) -> str:
    """The text of a message, with the tools that it calls."""
    called = (one["function"] for one in message.get("tool_calls") or ())
    calls = (f"{one['name']} {one['arguments']}" for one in called)
    return "\n".join(filter(None, [message_text(message), *calls]))


def _index(name: str, body: JsonObject) -> IndexLine:
    text = prompt_text(body)
    return IndexLine(
        id=name,
        prompt=f"{PROMPTS}/{name}.txt",
        reply=f"{REPLIES}/{name}.txt",
        characters=len(text),
        sha256=hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest(),
    )


_TEXT = ".txt"
_IDS, _TEXTS = ("custom_id", "id"), ("reply", "text")


@dataclass(frozen=True, slots=True)
class Replies:
    """Replies by prompt id; `failed` says why a batch could not answer a request."""

    by_id: Mapping[str, ModelReply] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)


class _ReadReply(NamedTuple):
    where: str
    id: str
    reply: ModelReply | None
    problem: str = ""


def read_replies(folder: PromptFolder, given: Sequence[Path] = ()) -> Replies:
    """The replies to a folder's prompts, from the `given` files and folders, else from its own.

    Raises `DatasetError` for a reply to a prompt that was not exported, for two different replies
    to one prompt, and for files that cannot be read.
    """
    folder.require()
    known = folder.ids
    by_id: dict[str, ModelReply] = {}
    failed: dict[str, str] = {}
    for read in _read_all(given or folder.replied):
        if read.id not in known:
            raise DatasetError(f"{read.where}: {folder.path} holds no prompt {read.id!r}")
        if read.reply is None:
            # A request may be refused for one reason, sent again, and refused for another.
            before = failed.get(read.id, "").split("; ")
            failed[read.id] = "; ".join(dict.fromkeys([*filter(None, before), read.problem]))
        elif by_id.setdefault(read.id, read.reply).text != read.reply.text:
            raise DatasetError(f"{read.where}: another reply to prompt {read.id!r} was read before")
    return Replies(by_id, {name: why for name, why in failed.items() if name not in by_id})


def _read_all(paths: Iterable[Path]) -> Iterator[_ReadReply]:
    for path in paths:
        if not path.exists():
            raise DatasetError(f"--replies {path}: there is no such file or folder")
        if path.is_dir():
            yield from _texts(path)
        elif path.name.lower().endswith(SUFFIXES):
            yield from _reply_lines(path)
        else:
            yield _text(path)


def _texts(folder: Path) -> Iterator[_ReadReply]:
    for path in sorted(folder.iterdir()):
        if not path.name.startswith("."):  # File managers leave hidden files.
            yield _text(path)


def _text(path: Path) -> _ReadReply:
    if path.suffix != _TEXT:
        kinds = ", ".join((_TEXT, *SUFFIXES))
        raise DatasetError(f"{path}: not a file of replies, expected one of {kinds}")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"{path}: cannot be read as UTF-8 text ({error})") from error
    return _ReadReply(str(path), path.stem, ModelReply(text.rstrip("\n")))


def _reply_lines(path: Path) -> Iterator[_ReadReply]:
    for number, line in enumerate(read_records(path)):
        where = f"{path}: record {number}"
        name = next((line[key] for key in _IDS if key in line), None)
        if not isinstance(name, str):
            raise DatasetError(f"{where}: names no prompt: expected custom_id or id")
        yield _batched(where, name, line) if "response" in line else _plain(where, name, line)


def _plain(where: str, name: str, line: Mapping[str, Any]) -> _ReadReply:
    text = next((line[key] for key in _TEXTS if key in line), None)
    if not isinstance(text, str):
        raise DatasetError(f"{where}: no reply: expected text under {' or '.join(_TEXTS)}")
    return _ReadReply(where, name, ModelReply(encodable(text)))


def _batched(where: str, name: str, line: Mapping[str, Any]) -> _ReadReply:
    response, error = line["response"], line.get("error")
    try:
        if error or response.get("status_code", 200) != 200:
            return _ReadReply(where, name, None, _said(error or response.get("body") or response))
        reply = completed(response["body"])
        if calls := response["body"]["choices"][0]["message"].get("tool_calls"):
            reply = replace(reply, text=json.dumps({"content": reply.text, "tool_calls": calls}))
        reply = replace(reply, text=encodable(reply.text))
    except (LookupError, TypeError, AttributeError) as wrong:
        raise DatasetError(f"{where}: its response holds no chat completion") from wrong
    return _ReadReply(where, name, reply)


def _said(error: Any) -> str:
    while isinstance(error, Mapping) and isinstance(error.get("error"), Mapping):
        error = error["error"]
    return str(error.get("message", error)) if isinstance(error, Mapping) else str(error)


@dataclass(frozen=True, slots=True)
class Exchange:
    """The prompts of one question in order, and the replies so far. `calls` are the replies to all
    prompts but the last, which call tools; `answer` is the reply to the last, None without one.
    """

    prompts: Sequence[str]
    calls: Sequence[JsonObject]
    answer: ModelReply | None
    prompt_tokens: int | None
    completion_tokens: int | None

    @property
    def looks(self) -> int:
        """How many tools were called."""
        return sum(len(message["tool_calls"]) for message in self.calls)


def exchange(first: str, replies: Replies) -> Exchange:
    """The exchange that begins with this prompt."""
    prompts, calls = [first], list[JsonObject]()
    while (reply := replies.by_id.get(prompts[-1])) and (
        message := calling(reply.text, prompts[-1])
    ):
        calls.append(message)
        prompts.append(f"{first}-{len(prompts) + 1}")
    read = [replies.by_id[name] for name in prompts if name in replies.by_id]
    return Exchange(
        prompts,
        calls,
        reply,
        prompt_tokens=_sum([one.prompt_tokens for one in read]),
        completion_tokens=_sum([one.completion_tokens for one in read]),
    )


def first_of(name: str) -> str:
    """The id of a question's first prompt; later prompts have the same id and a number."""
    return name.partition("-")[0]


def calling(reply: str, prompt: str) -> JsonObject | None:
    """The model's message if this reply calls tools, in OpenAI's shape or with names and arguments
    alone; None for any other reply.
    """
    try:
        found = json.loads(reply)
        calls = [
            _call(one, f"call_{prompt}_{place}") | {"index": place}
            for place, one in enumerate(found["tool_calls"])
        ]
    except (ValueError, LookupError, TypeError, AttributeError):
        return None
    return {"content": found.get("content") or None, "tool_calls": calls} if calls else None


def _call(given: JsonObject, name: str) -> JsonObject:
    function = given.get("function", given)
    arguments = function.get("arguments", {})
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {
        "id": str(given.get("id") or name),
        "type": "function",
        "function": {"name": str(function["name"]), "arguments": text},
    }


def _sum(counts: Sequence[int | None]) -> int | None:
    """The sum of the counts; None where one of them is not known, or there are none."""
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None
