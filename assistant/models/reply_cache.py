"""Replies of language models kept on disk, for repeated replays and experiments.

A reply is named by everything that can change it: model, address, messages, options and the shape
asked for. Only replies that were complete and could be used are kept. The cache does not know whose
memory a reply was made from: when something is forgotten, all replies are deleted, and replies that
are just being made are not kept. A reply that cannot be written is not kept, and only the first
such failure is logged.
"""

import hashlib
import json
import logging
import tempfile
import uuid
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from assistant.models.chat_model import ModelReply

_FORMAT = 1
_log = logging.getLogger(__name__)


class ReplyCache:
    """One file a reply under `folder`; any number of processes may share it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._cleared = folder / "cleared"
        self._failed = False

    def key(self, **what: Any) -> str:
        text = json.dumps({"format": _FORMAT, **what}, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def get(self, key: str) -> ModelReply | None:
        """The reply kept under the key; a file that cannot be read is as good as none."""
        try:
            found: Mapping[str, Any] = json.loads(self._path(key).read_text(encoding="utf-8"))
            return ModelReply(str(found["text"]), finish_reason=str(found["finish_reason"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def generation(self) -> bytes | None:
        """The generation of the cache: a value that changes with every `clear` by any process; None
        before the first."""
        try:
            return self._cleared.read_bytes()
        except OSError:
            return None

    def put(self, key: str, reply: ModelReply, generation: bytes | None) -> None:
        """Keep a reply that was asked for in this generation, unless all were cleared since; a
        reader sees all of it or nothing."""
        if generation != self.generation():
            return
        path, body = self._path(key), {"text": reply.text, "finish_reason": reply.finish_reason}
        try:
            self._write(path, json.dumps(body))
            # A `clear` just now may have run before this file was there to be deleted.
            if generation != self.generation():
                path.unlink(missing_ok=True)
        except OSError as error:
            self._failed_to("be kept", error)

    def _write(self, path: Path, text: str) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(".new", f"{path.name}.", path.parent)
        written = Path(name)
        try:
            with open(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            with suppress(FileNotFoundError):  # cleared meanwhile
                written.replace(path)
        finally:
            written.unlink(missing_ok=True)

    def clear(self) -> None:
        """Delete every reply, also what a process that ended has left half-written."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            # This comes first: a reply that is put later is not kept, and those before are deleted.
            self._cleared.write_bytes(uuid.uuid4().bytes)
        except OSError as error:
            self._failed_to("be seen as cleared", error)
        for path in self._folder.glob("??/*"):
            path.unlink(missing_ok=True)

    def _failed_to(self, what: str, error: OSError) -> None:
        if not self._failed:
            self._failed = True
            _log.warning("reply cache: cannot %s in %s: %s", what, self._folder, error)

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"
