"""A whole memory as Portable AI Memory 1.0: a zip file with `memory-store.json` (what facts say and
what replaced what), a file for each conversation, and a report of what has no place in the format.

What has no place stands beside the first message of each round, in `raw_metadata`, where the format
keeps what only the writer can read. The checksum of our own lines is there, too. So a round trip
here loses nothing, and a file that was edited elsewhere is read as another assistant's.
"""

import hashlib
import io
import json
import re
import unicodedata
import uuid
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby, pairwise
from typing import Any

from assistant.errors import InvalidRequest
from assistant.imports.conversations import mapping, objects
from assistant.imports.pam import CONVERSATION, OURS, STORE
from assistant.imports.recognised import files_of
from memory_store import Fact, FactLink, Record
from memory_store.errors import InvalidRecord
from memory_store.transfer import ending, from_lines, header, to_line

_VERSION = "1.0"
_RAW = "aide_memoire"
_FACTS = uuid.UUID("c3c8e6ba-0c5a-5c5c-8d4f-5f7f7c1a3d11")
REPORT = "loss-report.json"
# The fields of a record that have a place in the format; all others are told of in the report.
_HAS_A_PLACE = {
    *("user_id", "session_id", "session_date", "user_text", "assistant_text"),
    *("session_title", "facts", "tools", "round_index", "turn_ids", "checksum"),
}
_USUAL: tuple[Any, ...] = (None, "", [], 0, "done", True)


def bundle(records: Sequence[Record], owner: str, at: datetime, version: str) -> bytes:
    """The zip file of everything that is kept of an owner."""
    made = io.BytesIO()
    sessions = _by_session(records)
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for place, session in enumerate(sessions):
            archive.writestr(_name(place), _json(_conversation(session)))
        archive.writestr("memory-store.json", _json(_store(records, sessions, owner, at, version)))
        archive.writestr(REPORT, _json(loss_report(records)))
    return made.getvalue()


def loss_report(records: Sequence[Record]) -> dict[str, Any]:
    """How many rounds have something that other programs will not read, by the name of the
    field."""
    lost: Counter[str] = Counter()
    for record in records:
        for name, value in json.loads(to_line(record)).items():
            lost[name] += name not in _HAS_A_PLACE and value not in _USUAL
        lost["facts not said by the user"] += any(not fact.is_users for fact in record.facts)
    kept_in = f"messages[].raw_metadata.{_RAW}"
    return {"kept_in": kept_in, "rounds": len(records), "without_a_place": dict(+lost)}


def records_in(export: bytes, most_bytes: int) -> list[Record] | None:
    """The records of a zip file that `bundle` made, oldest first; None for any other, and for one
    in which something was changed. Raises `InvalidRequest` where it cannot be read."""
    if not export.startswith(b"PK"):
        return None
    lines: list[str] = []
    try:
        for _, content in files_of(export, most_bytes, _is_ours):
            lines += _lines(json.loads(content)) if content else ()
        found = list(from_lines([header(), *lines, ending(len(lines))]))
    except (InvalidRecord, InvalidRequest, ValueError, KeyError, TypeError, RecursionError):
        return None
    return sorted(found, key=lambda record: record.round.place) if found else None


def _by_session(records: Sequence[Record]) -> list[list[Record]]:
    def place(record: Record) -> tuple[str, int]:
        return record.round.session_id, record.round.round_index

    grouped = groupby(sorted(records, key=place), key=lambda record: record.round.session_id)
    return [list(some) for _, some in grouped]


def _name(place: int) -> str:
    return f"conversations/{place + 1:05}.json"


def _conversation(session: Sequence[Record]) -> dict[str, Any]:
    messages = [message for record in session for message in _messages(record)]
    for one, after in pairwise(messages):
        one["children_ids"], after["parent_id"] = [after["id"]], one["id"]
    rounds = [record.round for record in session]
    names = {"user": rounds[0].user_name, "assistant": rounds[0].assistant_name}
    return {
        "schema": CONVERSATION,
        "schema_version": _VERSION,
        "id": rounds[0].session_id,
        "provider": {"name": OURS, "conversation_id": rounds[0].session_id},
        "title": rounds[0].session_title or None,
        "temporal": _times(session),
        "participants": [{"role": role, "name": name} for role, name in names.items()],
        "messages": messages,
    }


def _times(session: Sequence[Record]) -> dict[str, str]:
    said = [record.round.session_date for record in session]
    return {"created_at": _instant(min(said)), "updated_at": _instant(max(said))}


def _messages(record: Record) -> Iterator[dict[str, Any]]:
    """Both sides of a round, or the one there is; the first has our own record beside it."""
    round = record.round
    raw = json.loads(to_line(record))
    for side in ("user_text", "assistant_text"):
        del raw[side]
    beside = {_RAW: raw}
    if round.user_text or not round.assistant_text:
        yield _message(record, "user", round.user_text, beside)
        beside = {}
    if round.assistant_text:
        tools = [{"name": name} for name in round.tools]
        answer = _message(record, "assistant", round.assistant_text, beside)
        yield answer | ({"tool_calls": tools} if tools else {})


def _message(record: Record, role: str, text: str, beside: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": f"{record.id}:{role}",
        "role": role,
        "content": {"type": "text", "text": text},
        "created_at": _instant(record.round.session_date),
        "parent_id": None,
        "raw_metadata": dict(beside),
    }


def _lines(conversation: Mapping[str, Any]) -> Iterator[str]:
    """Our own lines of a conversation that we wrote. A message without a record beside it answers
    the message before, which has one."""
    record: dict[str, Any] = {}
    for message in objects(conversation["messages"]):
        if beside := mapping(message.get("raw_metadata")).get(_RAW):
            if record:
                yield json.dumps(record)
            record = {**beside, "user_text": "", "assistant_text": ""}
        record[f"{message['role']}_text"] = message["content"]["text"]
    yield json.dumps(record)


def _is_ours(content: bytes) -> bool:
    item = mapping(json.loads(content))
    is_of_us = mapping(item.get("provider")).get("name") == OURS
    return item.get("schema") == CONVERSATION and is_of_us


def _store(
    records: Sequence[Record],
    sessions: Sequence[Sequence[Record]],
    owner: str,
    at: datetime,
    version: str,
) -> dict[str, Any]:
    told = [(record, fact) for record in records for fact in record.facts if fact.is_users]
    # Two facts of a round may say the same.
    memories = list({one["id"]: one for one in (_memory(*each) for each in told)}.values())
    memories.sort(key=lambda one: str(one["id"]))
    ids = {one["id"] for one in memories}
    related = {one["id"]: one for each in told for one in _relations(*each) if one["to"] in ids}
    return {
        "schema": STORE,
        "schema_version": _VERSION,
        "spec_uri": "https://portable-ai-memory.org/spec/v1.0",
        "export_id": str(uuid.uuid4()),
        "exported_by": f"{OURS}/{version}",
        "export_date": _instant(at),
        "owner": {"id": owner},
        "memories": memories,
        "relations": list(related.values()),
        "conversations_index": [
            _indexed(place, session, ids) for place, session in enumerate(sessions)
        ],
        "integrity": {
            "canonicalization": "RFC8785",
            "checksum": _hash(_canonical(memories)),
            "total_memories": len(memories),
        },
    }


def _memory(record: Record, fact: Fact) -> dict[str, Any]:
    said = _instant(record.round.session_date)
    newer = fact.superseded_by
    corrected = record.round.corrected_at
    days = [[day and day.isoformat() for day in (d.first, d.last)] for d in fact.event_dates]
    return {
        "id": _fact_id(record.id, fact.text),
        "type": "fact",
        "content": fact.text,
        "content_hash": _hash(_normalised(fact.text)),
        "status": "superseded" if newer else "active",
        "temporal": {
            "created_at": said,
            "updated_at": _instant(corrected) if corrected else None,
            "superseded_by": _fact_id(newer.round_id, newer.text) if newer else None,
        },
        "provenance": {
            "platform": OURS,
            "conversation_ref": record.round.session_id,
            "message_ref": f"{record.id}:user",
            "extraction_method": "explicit_user_input"
            if fact.source in ("rule", "user")
            else "llm_inference",
        },
        "metadata": {"event_dates": days, "extracted_by": fact.source},
    }


def _relations(record: Record, fact: Fact) -> Iterator[dict[str, Any]]:
    links: dict[str, Sequence[FactLink]] = {
        "supersedes": fact.supersedes,
        "contradicts": fact.contradicts,
    }
    here = _fact_id(record.id, fact.text)
    for kind, others in links.items():
        for other in others:
            there = _fact_id(other.round_id, other.text)
            yield {
                "id": str(uuid.uuid5(_FACTS, f"{kind} {here} {there}")),
                "from": here,
                "to": there,
                "type": kind,
                "created_at": _instant(record.round.session_date),
            }


def _indexed(place: int, session: Sequence[Record], ids: set[Any]) -> dict[str, Any]:
    found = (_fact_id(r.id, fact.text) for r in session for fact in r.facts if fact.is_users)
    return {
        "id": session[0].round.session_id,
        "platform": OURS,
        "title": session[0].round.session_title or None,
        "message_count": sum(1 for record in session for _ in _messages(record)),
        "temporal": _times(session),
        "derived_memories": list(dict.fromkeys(id for id in found if id in ids)),
        "storage": {"type": "file", "ref": _name(place), "format": "json"},
    }


def _fact_id(round_id: str, text: str) -> str:
    return str(uuid.uuid5(_FACTS, f"{round_id} {text}"))


def _normalised(text: str) -> str:
    """A text as the format compares it."""
    return re.sub(" +", " ", unicodedata.normalize("NFC", text.strip().lower()))


def _hash(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _canonical(value: Any) -> str:
    """RFC 8785, for values without numbers and with names in ASCII."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


def _instant(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")
