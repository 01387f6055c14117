"""Records as lines of JSON: what a memory holds, without the keys that any assistant can make anew.

The first line says the format and its version, each further line is one record, and the last line
how many there are: what was cut off in between is known. Version 1 had no last line. Lines of equal
records are equal bytes.
"""

import json
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import Any

from memory_store.engines.operator import OperatorEngine
from memory_store.errors import InvalidRecord
from memory_store.points import from_payload, to_plain
from memory_store.transfer.filling import every_point
from memory_store.types import Record

_LARGEST_INDEX = 2**31
FORMAT, VERSION = "aide-memoire/records", 2
_WITHOUT_END = 1
_COUNT = "records"
_UNREADABLE = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    OverflowError,
    RecursionError,
)


def header(version: int = VERSION) -> str:
    """The first line."""
    return _line({"format": FORMAT, "version": version})


def ending(count: int) -> str:
    """The last line after so many records."""
    return _line({_COUNT: count})


def to_line(record: Record) -> str:
    """One record, without a line end."""
    return _line(to_plain(record))


def to_lines(records: Iterable[Record]) -> Iterator[str]:
    """The header, the records and the ending, without line ends."""
    yield header()
    count = 0
    for record in records:
        yield to_line(record)
        count += 1
    yield ending(count)


def from_lines(lines: Iterable[str]) -> Iterator[Record]:
    """The records of a whole stream. Raises `InvalidRecord` with the number of the wrong line, or
    at the end where there is no line at all, or the last one is missing."""
    number, version, is_ended = 0, _WITHOUT_END, False
    for number, line in enumerate(lines, start=1):
        try:
            read = json.loads(line)
            if number == 1:
                version = _version(read)
            elif is_ended:
                raise InvalidRecord("it follows the line that is to be the last")
            elif is_ended := read.keys() == {_COUNT}:
                _check_count(read[_COUNT], number - 2)
            else:
                yield _checked(from_payload(read))
        except (*_UNREADABLE, InvalidRecord) as error:
            why = f"it has no {error}" if isinstance(error, KeyError) else error
            raise InvalidRecord(f"line {number} cannot be read: {why}") from error
    if not number:
        raise InvalidRecord(f"it is empty: even without a round the first line is {header()}")
    if not is_ended and version != _WITHOUT_END:
        raise InvalidRecord(
            f"it is cut off: after {number - 1} records the last line is missing, which would be "
            f"{ending(number - 1)} if these are all"
        )


def _version(read: Mapping[str, Any]) -> int:
    if read["format"] != FORMAT or read["version"] not in (_WITHOUT_END, VERSION):
        known = isinstance(read["version"], int) and read["version"] > VERSION
        newer = ": it is of a newer version of the assistant" if known else ""
        raise InvalidRecord(f"it is {json.dumps(read)[:200]}, not {header()}{newer}")
    return int(read["version"])


def _check_count(told: Any, count: int) -> None:
    if told != count:
        raise InvalidRecord(f"it tells of {told} records, and before it are {count}")


def _checked(record: Record) -> Record:
    """The record, if everything in it is of its kind and can be written to a line again."""
    round = record.round
    texts = [round.user_id, round.session_id, round.user_text, round.assistant_text]
    texts += [name for name in (round.user_name, round.assistant_name) if name is not None]
    texts += [*round.turn_ids, *round.repeats, *record.keyphrases, record.summary]
    texts += [record.extractor, record.failure]
    for fact in record.facts:
        links = (*fact.supersedes, *fact.contradicts, *filter(None, [fact.superseded_by]))
        texts += [fact.text, fact.source, fact.slot or ""]
        texts += [text for link in links for text in (link.round_id, link.text, link.by)]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("something that must be text is not")
    if not 0 <= round.round_index < _LARGEST_INDEX or not 0 <= record.attempts < _LARGEST_INDEX:
        raise ValueError("a number is out of range")
    told = [record.may_supersede, *(fact.in_doubt for fact in record.facts)]
    if not all(isinstance(each, bool) for each in told):
        raise TypeError("may_supersede and in_doubt must be true or false")
    to_line(record).encode()  # raises for halves of surrogate pairs, and for days beyond the last
    return record


async def exported(memory: OperatorEngine) -> AsyncIterator[str]:
    """A whole memory, all users, in the order of the ids."""
    yield header()
    count = 0
    async for point in every_point(memory):
        yield to_line(from_payload(point.payload))
        count += 1
    yield ending(count)


def _line(plain: Mapping[str, Any]) -> str:
    return json.dumps(plain, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
