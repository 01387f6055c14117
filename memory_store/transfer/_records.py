"""Records as lines of JSON: a memory without its keys, which any assistant can make anew.

The first line says the format and its version. Each further line is one record with a checksum of
itself, and the last line says how many records there are. So a damaged line or a truncated file is
refused. Version 2 had no checksums; version 1 had no last line either. Equal records give equal
bytes.
"""

import hashlib
import json
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from memory_store._points import from_payload, from_plain, to_plain
from memory_store._types import Fact, FactLink, Record
from memory_store.engines._operator import OperatorEngine
from memory_store.errors import InvalidRecord
from memory_store.transfer._filling import every_point


def owned(records: Sequence[Record], user_id: str) -> list[Record]:
    """The records with this user as their owner, each id once; their links follow."""
    moved = [replace(r, round=replace(r.round, user_id=user_id)) for r in records]
    ids = {old.id: new.id for old, new in zip(records, moved, strict=True)}
    followed = [_record_followed(record, ids) for record in moved]
    return list({record.id: record for record in followed}.values())


def _record_followed(record: Record, ids: Mapping[str, str]) -> Record:
    repeats = tuple(ids.get(id, id) for id in record.round.repeats)
    return replace(
        record,
        round=replace(record.round, repeats=repeats),
        facts=tuple(_followed(fact, ids) for fact in record.facts),
    )


def _followed(fact: Fact, ids: Mapping[str, str]) -> Fact:
    newer = fact.superseded_by
    return replace(
        fact,
        superseded_by=_to(newer, ids) if newer else None,
        supersedes=tuple(_to(older, ids) for older in fact.supersedes),
        contradicts=tuple(_to(other, ids) for other in fact.contradicts),
    )


def _to(link: FactLink, ids: Mapping[str, str]) -> FactLink:
    return replace(link, round_id=ids.get(link.round_id, link.round_id))


_LARGEST_INDEX = 2**31
FORMAT, VERSION = "aide-memoire/records", 3
_WITHOUT_END, _WITHOUT_CHECKSUMS = 1, 2
_COUNT, _CHECKSUM = "records", "checksum"
_UNREADABLE = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    OverflowError,
    RecursionError,
)


def header(version: int = VERSION, more: Mapping[str, Any] | None = None) -> str:
    """The first line; `more` adds fields for readers of the file."""
    return _line({"format": FORMAT, "version": version, **(more or {})})


def ending(count: int) -> str:
    """The last line after `count` records."""
    return _line({_COUNT: count})


def to_line(record: Record) -> str:
    """One record, without a line end."""
    plain = dict(to_plain(record))
    return _line({**plain, _CHECKSUM: _checksum(plain)})


def to_lines(records: Iterable[Record], more: Mapping[str, Any] | None = None) -> Iterator[str]:
    """The header, the records and the ending, without line ends."""
    yield header(more=more)
    count = 0
    for record in records:
        yield to_line(record)
        count += 1
    yield ending(count)


def from_lines(lines: Iterable[str]) -> Iterator[Record]:
    """The records of a whole stream; blank lines are skipped. Raises `InvalidRecord` with the
    number of a wrong line, and at the end if there was no line at all or the last line is missing.
    """
    version, count, is_ended = 0, 0, False
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            read = _object(line)
            if not version:
                version = _version(read)
            elif is_ended:
                raise InvalidRecord("text after the last line")
            elif is_ended := read.keys() == {_COUNT}:
                _check_count(read[_COUNT], count)
            else:
                if version > _WITHOUT_CHECKSUMS:
                    _check_whole(read)
                _check_kinds(read)
                yield _checked(from_plain(read))
                count += 1
        except (*_UNREADABLE, InvalidRecord) as error:
            raise InvalidRecord(f"line {number} cannot be read: {_why(error)}") from error
    if not version:
        raise InvalidRecord(f"the file is empty: the first line must be {header()}")
    if not is_ended and version != _WITHOUT_END:
        raise InvalidRecord(
            f"the file is truncated after {count} records: the closing line is missing, "
            f"which would be {ending(count)} if these are all"
        )


def _object(line: str) -> dict[str, Any]:
    read = json.loads(line)
    if not isinstance(read, dict):
        raise InvalidRecord(f'expected a JSON object ({{"user_id": …}}), not {_kind(read)}')
    return read


_KINDS = {str: "text", bool: "true or false", int: "a number", float: "a number", list: "a list"}
_OF_A_RECORD = {
    "user_id": str,
    "session_id": str,
    "round_index": int,
    "session_date": str,
    "user_text": str,
    "assistant_text": str,
    "turn_ids": list,
    "facts": list,
    "enrichment": str,
}


def _kind(value: Any) -> str:
    """The kind of a JSON value, in words."""
    return "null" if value is None else _KINDS.get(type(value), "an object")


def _check_kinds(read: Mapping[str, Any]) -> None:
    """Raise an error that says which field is missing or of the wrong kind."""
    for name, kind in _OF_A_RECORD.items():
        if type(read[name]) is not kind:
            raise InvalidRecord(f"{name!r} must be {_KINDS[kind]}, not {_kind(read[name])}")
    said_at = read["session_date"]
    try:
        datetime.fromisoformat(said_at)
    except ValueError as error:
        told = f"'session_date' must be a time like 2024-03-01T10:00:00Z, not {said_at[:40]!r}"
        raise InvalidRecord(told) from error


def _why(error: Exception) -> str:
    """The fault of a line, in words."""
    match error:
        case json.JSONDecodeError():
            return f"it is not JSON: {error.msg} at character {error.colno}"
        case KeyError():
            return f"the field {error} is missing"
        case TypeError() | AttributeError():
            return "something in it is of another kind"
        case RecursionError():
            return "it is nested too deeply"
    return str(error)


def _version(read: Mapping[str, Any]) -> int:
    version = read.get("version")
    if read.get("format") != FORMAT or type(version) is not int or version < _WITHOUT_END:
        raise InvalidRecord(
            f"expected {header()}, not {json.dumps(read, ensure_ascii=False)[:200]}"
        )
    if version > VERSION:
        raise InvalidRecord(
            f"the file has version {version} of the format, and this assistant reads versions up "
            f"to {VERSION}: use the newer version of the assistant that wrote it"
        )
    return version


def _check_whole(read: dict[str, Any]) -> None:
    """Take the checksum off a line, and raise `InvalidRecord` unless it fits the rest."""
    if read.pop(_CHECKSUM) != _checksum(read):
        raise InvalidRecord("checksum mismatch: the line was altered")


def _checksum(plain: Mapping[str, Any]) -> str:
    return hashlib.sha256(_line(plain).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _check_count(told: Any, count: int) -> None:
    if told != count:
        raise InvalidRecord(f"the closing line says {told} records, but the file has {count}")


def _checked(record: Record) -> Record:
    """The record, if all its values are of the right kind and it can be written to a line again."""
    round = record.round
    texts = [round.user_id, round.session_id, round.user_text, round.assistant_text]
    texts.append(round.session_title)
    texts += [name for name in (round.user_name, round.assistant_name) if name is not None]
    texts += [*round.turn_ids, *round.repeats, *round.tools, *record.keyphrases, record.summary]
    texts += [record.extractor, record.failure]
    for fact in record.facts:
        texts += [fact.text, fact.source, fact.slot or ""]
    links = [link for fact in record.facts for link in _links(fact)]
    texts += [text for link in links for text in (link.round_id, link.text, link.by)]
    if not all(isinstance(text, str) for text in texts):
        raise InvalidRecord("something that must be text is not")
    if not 0 <= round.round_index < _LARGEST_INDEX or not 0 <= record.attempts < _LARGEST_INDEX:
        raise ValueError("a number is out of range")
    told = [record.may_supersede, *(fact.in_doubt for fact in record.facts)]
    if not all(isinstance(each, bool) for each in told):
        raise InvalidRecord("may_supersede and in_doubt must be true or false")
    if any(link.said_at.tzinfo is None for link in links):
        raise ValueError("said_at needs a time zone")
    for id in (*round.repeats, *(link.round_id for link in links)):
        if str(UUID(id)) != id:
            raise ValueError(f"{id[:80]!r} is no id of a memory")
    to_line(record).encode()  # raises for halves of surrogate pairs, and for days beyond the last
    return record


def _links(fact: Fact) -> Sequence[FactLink]:
    newer = (fact.superseded_by,) if fact.superseded_by else ()
    return (*fact.supersedes, *fact.contradicts, *newer)


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
