"""The keys of a chat's `metadata` that mean something here, and those that seem meant for one.

OpenAI's format lets callers attach data of their own, so other keys are ignored. A misspelt key is
refused: without its `user_id` a message would go to somebody else's memory.
"""

from collections.abc import Iterable

from assistant.errors import InvalidRequest

KEYS = (
    "user_id",
    "session_id",
    "space",
    "timestamp",
    "memory",
    "from",
    "to",
    "as_of",
    "question",
    "where",
    "labels",
    "expires_at",
    "expires_in",
    "memory_debug",
)
_CALLERS_OWN = ("user_ip", "label")
"""Near by spelling only."""
# In shorter keys a wrong letter makes another word: "form", "top".
_SHORTEST_MISSPELT = 6
# From so many letters on two may be wrong.
_LONG = 9
_ID = "id"


def check_keys(given: Iterable[str]) -> None:
    """Raise `InvalidRequest` for a key that is nearly one of `KEYS`."""
    for key in given:
        if key not in KEYS and (meant := _meant(key)):
            raise InvalidRequest(
                f"metadata has no key {key[:60]!r}: did you mean {meant!r}?",
                code="unknown_metadata_key",
                param="metadata",
            )


def _meant(key: str) -> str | None:
    """The known key that this one seems meant for."""
    letters = _letters(key)
    # More letters than this are too far from all of them.
    if key in _CALLERS_OWN or len(letters) > max(map(len, KEYS)) + 2:
        return None
    near = {known: _wrong_letters(letters, _letters(known)) for known in KEYS}
    nearest = min(near, key=lambda known: near[known])
    return nearest if near[nearest] <= _most_wrong(letters, nearest) else None


def _most_wrong(letters: str, known: str) -> int:
    meant = _letters(known)
    if letters + _ID == meant:
        return len(_ID)
    if len(meant) < _SHORTEST_MISSPELT:
        return 0
    return 1 if len(meant) < _LONG else 2


def _letters(key: str) -> str:
    return "".join(filter(str.isalnum, key.lower()))


def _wrong_letters(given: str, meant: str) -> int:
    """How many letters are missing, too many, wrong or in the place of their neighbour."""
    before: list[int] = []
    row = list(range(len(meant) + 1))
    for i, letter in enumerate(given):
        older, before, row = before, row, [i + 1]
        for j, wanted in enumerate(meant):
            fewest = min(before[j + 1] + 1, row[j] + 1, before[j] + (letter != wanted))
            if i and j and letter == meant[j - 1] and given[i - 1] == wanted:
                fewest = min(fewest, older[j - 1] + 1)
            row.append(fewest)
    return row[-1]
