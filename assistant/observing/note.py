"""What is known of the request that is being answered, wherever in the code that is."""

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class RequestNote:
    """One request: the id to quote, and the code of the error it is answered with, if any."""

    id: str
    error_code: str | None = None


_current: ContextVar[RequestNote | None] = ContextVar("request", default=None)


def begin_note(id: str) -> RequestNote:
    """A note that holds in this task, and in those that it starts, until the next one."""
    note = RequestNote(id)
    _current.set(note)
    return note


def current_note() -> RequestNote | None:
    """The note of the request being answered; None in background work."""
    return _current.get()
