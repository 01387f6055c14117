"""Log lines as readable text or as JSON, without what users say and without keys.

What a line may hold is decided here, not where it is written: messages of this project's own
loggers, exceptions by their kind and place. Messages of other libraries and the texts of exceptions
may quote a request; they are left out unless `logs.contents` asks for them. Every line also has the
id of the request that is being answered, wherever in the code it is written.
"""

import json
import logging
import sys
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, TextIO

from assistant.errors import AssistantError
from assistant.settings.groups import LogSettings
from memory_store.errors import StoreUnavailable


@dataclass(slots=True)
class RequestNote:
    """One request: the id to quote, and the code of the error it is answered with, if any."""

    id: str
    error_code: str | None = None


_current: ContextVar[RequestNote | None] = ContextVar("request", default=None)


def begin_note(id: str) -> RequestNote:
    """Begin a note, which holds in this task and in the tasks that it starts, until the next."""
    note = RequestNote(id)
    _current.set(note)
    return note


def current_note() -> RequestNote | None:
    """The note of the request being answered; None in background work."""
    return _current.get()


_OURS = ("assistant", "memory_store")
_LEFT_OUT = "(left out: logs.contents is off)"
_FIELDS = "fields"


def configure_logs(settings: LogSettings, stream: TextIO | None = None) -> None:
    """Send every log line of this process to a stream, by default standard error."""
    handler = logging.StreamHandler(stream or sys.stderr)
    form = _JsonLines if settings.format == "json" else _TextLines
    handler.setFormatter(form(contents=settings.contents))
    logging.basicConfig(level=settings.level.upper(), handlers=[handler], force=True)


def with_fields(**fields: Any) -> Mapping[str, Any]:
    """The `extra` of a log call: values that a JSON line holds under names of their own."""
    return {_FIELDS: fields}


class _Lines(logging.Formatter):
    """Decides what a line may say; the subclasses decide how it looks."""

    def __init__(self, *, contents: bool) -> None:
        super().__init__()
        self._contents = contents

    def _message(self, record: logging.LogRecord) -> str:
        if self._contents:
            return record.getMessage()
        if record.name.partition(".")[0] not in _OURS:
            return f"{record.module}:{record.lineno} {_LEFT_OUT}"
        if not isinstance(record.args, tuple):
            return record.getMessage()
        return str(record.msg) % tuple(map(_speakable, record.args))

    def _failure(self, record: logging.LogRecord) -> str:
        error = record.exc_info[1] if record.exc_info else None
        if error is None:
            return ""
        return super().formatException(record.exc_info) if self._contents else _outline(error)  # type: ignore[arg-type]


class _TextLines(_Lines):
    def format(self, record: logging.LogRecord) -> str:
        """One line, and one more for each step of a failure."""
        note = current_note()
        about = f" [{note.id}]" if note else ""
        fields = "".join(f" {k}={v}" for k, v in getattr(record, _FIELDS, {}).items())
        line = f"{record.levelname} {record.name}{about}: {self._message(record)}{fields}"
        failure = self._failure(record)
        return f"{line}\n{failure}" if failure else line


class _JsonLines(_Lines):
    def format(self, record: logging.LogRecord) -> str:
        """One object on one line."""
        note = current_note()
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self._message(record),
        }
        if note:
            line["request_id"] = note.id
        if failure := self._failure(record):
            line["failure"] = failure
        return json.dumps(line | getattr(record, _FIELDS, {}), ensure_ascii=False)


def _speakable(argument: Any) -> Any:
    """An argument as a line may hold it: an error by its kind and code, but `StoreUnavailable`,
    whose text this project wrote for operators, as it is."""
    if not isinstance(argument, BaseException) or isinstance(argument, StoreUnavailable):
        return argument
    code = f" ({argument.code})" if isinstance(argument, AssistantError) else ""
    return f"{type(argument).__name__}{code}"


def _outline(error: BaseException) -> str:
    """Kinds of errors and the places they passed, without a word of what they say."""
    return "\n".join(
        f"  {type(link).__name__} at {', '.join(_places(link.__traceback__))}"
        for link in _chain(error)
    )


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and those that led to it."""
    link: BaseException | None = error
    while link is not None:
        yield link
        link = link.__cause__ or link.__context__


def _places(traceback: TracebackType | None) -> Iterator[str]:
    while traceback is not None:
        code = traceback.tb_frame.f_code
        yield f"{code.co_filename}:{traceback.tb_lineno} {code.co_qualname}"
        traceback = traceback.tb_next
