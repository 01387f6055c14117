"""Everything the harness raises on purpose, sorted by who must act."""

from collections.abc import Iterator
from contextlib import contextmanager


class HarnessError(Exception):
    """Root of the tree. Its text is a sentence for the person at the terminal."""


class UsageError(HarnessError):
    """The command was asked for something it cannot do; the person who typed it must act."""


class DatasetError(HarnessError):
    """The data file is not what it should be. Names the file, the instance and the field."""


class DownloadFailed(HarnessError):
    """A published file could not be fetched, or has another hash; the text says what to do."""


class NotPublished(DownloadFailed):
    """The server does not have the file."""


class RunMismatch(HarnessError):
    """The run directory belongs to a different run (other data, filters, mode or assistant)."""


class RunInterrupted(HarnessError):
    """The person at the terminal stopped the run; it can be continued."""


class AssistantUnreachable(HarnessError):
    """No connection within the retry budget: the run stops and can be continued."""


class AssistantRefused(HarnessError):
    """The assistant does not accept our credentials: no question can succeed."""


class AssistantError(HarnessError):
    """The assistant answered one request badly; only the question at hand fails."""

    def __init__(self, message: str, *, route: str, status: int | None = None) -> None:
        super().__init__(message)
        self.route = route
        self.status = status


class AssistantTimeout(AssistantError):
    """The assistant accepted a request and did not answer it in time."""


class BadReply(AssistantError):
    """The assistant answered with success, but not with what its contract promises."""


class IngestMismatch(AssistantError):
    """What the assistant says it stored is not what was sent to it."""


class JudgeUnavailable(HarnessError):
    """The judge's model cannot be asked at all: judging stops and can be continued."""


class JudgeCallFailed(HarnessError):
    """The judge's server refused or failed one request; only that verdict is missing."""


class JudgeReplyAwaited(JudgeCallFailed):
    """The judge is asked elsewhere and has not replied yet; only that verdict is missing."""


class BudgetSpent(HarnessError):
    """The run would spend more than it may: it stops and can be continued with a larger budget."""


class TooManyErrors(HarnessError):
    """More questions failed than allowed: going on makes no sense before the cause is found."""


@contextmanager
def continuable(advice: str) -> Iterator[None]:
    """Add to an error that ends a command from outside the advice on how to continue it."""
    try:
        yield
    except (AssistantUnreachable, JudgeUnavailable) as error:
        raise type(error)(f"{error}. {advice}") from error
    except KeyboardInterrupt:
        raise RunInterrupted(f"interrupted. {advice}") from None


@contextmanager
def first_raised() -> Iterator[None]:
    """Raise the first error of an exception group, so that the user is told one problem."""
    try:
        yield
    except ExceptionGroup as group:
        error: Exception = group
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        raise error from group


@contextmanager
def raising(kind: type[HarnessError], problem: str) -> Iterator[None]:
    """Turn an `OSError` into an error of this kind: the problem, then the reason in brackets."""
    try:
        yield
    except OSError as error:
        raise kind(f"{problem} ({error.strerror or error})") from error
