"""Labels: the caller's own metadata of a round, small and flat, and filters by them.

A round keeps each label as one term, `topic="work"`. A filter matches whole terms, so that one
index of an engine serves whatever names callers choose.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memory_store.errors import InvalidRecord

LabelValue = str | int | float | bool
Labels = Mapping[str, LabelValue]
"""Values by name. `1` and `1.0` are one value; `1`, `"1"` and `true` are three."""
Terms = tuple[str, ...]
Where = tuple[Terms, ...]
"""A filter: a round needs at least one term of each tuple. An empty filter passes all rounds."""

MOST_LABELS = 16
LONGEST_LABEL = 512
_NAME = re.compile(r"[\w.:-]{1,64}", re.ASCII)
# Above this, a float cannot represent every integer.
_LARGEST = 2**53


def checked_labels(given: Any) -> dict[str, LabelValue]:
    """Check labels that a caller gives. Raises `InvalidRecord`."""
    named = _named(given)
    for name, value in named.items():
        _check(name, value)
    return named


def terms_of(labels: Labels) -> Terms:
    """The terms that a round keeps."""
    return tuple(sorted(_term(name, value) for name, value in labels.items()))


def from_terms(terms: Iterable[str]) -> dict[str, LabelValue]:
    """The labels of terms. Raises `ValueError` or `InvalidRecord` for a text that is no term."""
    parted = (term.partition("=") for term in terms)
    return checked_labels({name: json.loads(value) for name, _, value in parted})


def where(given: Any) -> Where:
    """Make a filter from a wanted value for each name, or a list of values of which one is enough.
    Raises `InvalidRecord`."""
    wanted: list[Terms] = []
    for name, value in _named(given).items():
        values = value if isinstance(value, list) else [value]
        if not 0 < len(values) <= MOST_LABELS:
            raise InvalidRecord(f"the filter {name[:64]!r} needs 1 to {MOST_LABELS} values")
        for one in values:
            _check(name, one)
        wanted.append(tuple(_term(name, one) for one in values))
    return tuple(wanted)


def holds(labels: Labels, wanted: Where) -> bool:
    """Whether a round with these labels passes the filter."""
    terms = set(terms_of(labels))
    return all(not terms.isdisjoint(each) for each in wanted)


def shared(of_rounds: Sequence[Labels]) -> dict[str, LabelValue]:
    """Labels that all these rounds, of which there is at least one, share."""
    first, *others = of_rounds
    return {
        name: value
        for name, value in first.items()
        if all(name in other and _term(name, other[name]) == _term(name, value) for other in others)
    }


def _named(given: Any) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise InvalidRecord("labels must be an object of names and values")
    if len(given) > MOST_LABELS:
        raise InvalidRecord(f"at most {MOST_LABELS} labels")
    return dict(given)


def _check(name: str, value: Any) -> None:
    if not _NAME.fullmatch(name):
        raise InvalidRecord(
            f"a label's name has 1 to 64 letters, digits, '_', '-', '.' or ':', not {name[:80]!r}"
        )
    if not isinstance(value, str | int | float):
        raise InvalidRecord(f"the label {name!r} must be text, a number, true or false")
    if isinstance(value, str):
        if len(value) > LONGEST_LABEL:
            raise InvalidRecord(f"the label {name!r} has more than {LONGEST_LABEL} characters")
    elif not abs(value) <= _LARGEST:  # false for NaN, too
        raise InvalidRecord(f"the number of the label {name!r} is too large")


def _term(name: str, value: LabelValue) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"{name}={json.dumps(value, ensure_ascii=False)}"
