"""Replies of language models kept on disk, for repeated replays and experiments.

A reply is named by everything that can change it: model, address, messages, options and the shape
asked for. Only replies that were complete and could be used are kept. Whose memory a reply was
made from is not known: when something is forgotten, all of them go. Only a cache: what cannot be
written is not kept, and the first failure is said once in the log.
"""

import hashlib
import json
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assistant.models.chat_model import Reply

_FORMAT = 1
_log = logging.getLogger(__name__)


class ReplyCache:
    """One file a reply under `folder`; any number of processes may share it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._failed = False

    def key(self, **what: Any) -> str:
        """The name of the reply to this request."""
        text = json.dumps({"format": _FORMAT, **what}, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def get(self, key: str) -> Reply | None:
        """The reply kept under the key; a file that cannot be read is as good as none."""
        try:
            found: Mapping[str, Any] = json.loads(self._path(key).read_text(encoding="utf-8"))
            return Reply(str(found["text"]), finish_reason=str(found["finish_reason"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, key: str, reply: Reply) -> None:
        """Keep a reply; a reader sees all of it or nothing."""
        body = {"text": reply.text, "finish_reason": reply.finish_reason}
        try:
            self._write(self._path(key), json.dumps(body))
        except OSError as error:
            if not self._failed:
                self._failed = True
                _log.warning("replies cannot be kept in %s: %s", self._folder, error)

    def _write(self, path: Path, text: str) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        written = path.with_name(f"{path.name}.{os.getpid()}.new")
        try:
            written.write_text(text, encoding="utf-8")
            written.replace(path)
        finally:
            written.unlink(missing_ok=True)

    def clear(self) -> None:
        """Delete every reply, also what a process that ended has left half-written."""
        for path in self._folder.glob("??/*"):
            path.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"
