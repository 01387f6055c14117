"""What the embedded engine's failures mean, and what to do about them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memory_store.errors import (
    StoreDamaged,
    StoreFull,
    StoreLocked,
    StoreReadOnly,
    StoreUnavailable,
)

# What the operating system says, in the words of the engine or of Python.
_NO_ROOM = ("os error 28)", "Errno 28]", "os error 122)", "Errno 122]")
# What the engine raises where it meets what cannot be; its class cannot be imported.
_PANIC = "PanicException"
_NOT_WRITABLE = ("os error 30)", "Errno 30]", "os error 13)", "Errno 13]")


@contextmanager
def explaining(directory: Path) -> Iterator[None]:
    """Turn whatever the engine raises into what the operator can do about it."""
    try:
        yield
    except StoreUnavailable:
        raise
    except Exception as error:  # the engine raises bare Exception for everything
        raise _explained(str(error), directory) from error
    except BaseException as error:
        if type(error).__name__ != _PANIC:
            raise
        raise StoreDamaged(
            f"the files of the memory in {directory} cannot be read ({error}). Restore a backup "
            "with `assistant restore`"
        ) from error


def _explained(text: str, directory: Path) -> StoreUnavailable:
    if any(sign in text for sign in _NO_ROOM):
        return StoreFull(
            f"the disk of {directory} is full ({text}). Free some space; what was "
            "acknowledged is kept, and `assistant check` says how it stands"
        )
    if any(sign in text for sign in _NOT_WRITABLE):
        return StoreReadOnly(
            f"cannot write to {directory} ({text}). Make it writable for the user that "
            "runs the assistant, or give it another --data-dir; then run `assistant check`"
        )
    if "WouldBlock" in text:
        return StoreLocked(
            f"{directory} is in use by another process: stop that one (or ask it: "
            "`assistant ask`), or give this one its own --data-dir"
        )
    return StoreUnavailable(
        f"the memory in {directory} cannot be used: {text}. Run `assistant check`; if that fails "
        "too, restore a backup with `assistant restore`"
    )
