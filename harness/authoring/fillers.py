"""Sessions that are evidence for nothing: made by templates about other attributes, or from a file.

A file may be LongMemEval's (its evidence is left out by `harness.compilation`), or have the shapes
of ShareGPT (`conversations` of `from` and `value`) or UltraChat (`data`, a list of texts, or
`messages`).
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

from harness.authoring.draft import Turns
from harness.authoring.ontology import Attribute, Ontology
from harness.authoring.plan import Item
from harness.authoring.template_sessions import (
    chatting,
    listing,
    numbered,
    telling,
    without_labels,
)
from harness.datasets.files import read_records
from harness.datasets.longmemeval import Instance, date_text, iterate_instances
from harness.errors import DatasetError, UsageError

# One in so many template sessions tells nothing of its user.
_SILENT = 4
_SPEAKERS = {"human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant"}
_SOME_DAY = date_text(datetime(2025, 1, 1, tzinfo=UTC))


def template_fillers(ontology: Ontology, item: Item, count: int) -> list[Turns]:
    """So many sessions, no two alike: about attributes of other topics than the item's, each
    attribute once, and about any topic without telling anything.

    Raises `UsageError` where the templates do not suffice.
    """
    random = item.draws("fillers")
    taken = {attribute.topic for attribute in item.attributes}
    free = [one for one in ontology.attributes if one.topic not in taken]
    random.shuffle(free)
    found: dict[str, Turns] = {}
    for tries in range(20 * count):
        if len(found) == count:
            break
        if tries % _SILENT and free:
            turns = _told(ontology, free.pop(), random)
        else:
            turns = chatting(ontology, random.choice(list(ontology.topics)), random)
        found.setdefault(str(turns), turns)
    if len(found) < count:
        raise UsageError(
            f"--sessions: templates make only {len(found)} fillers for one history; "
            "give a file of conversations with --pool"
        )
    return list(found.values())


def _told(ontology: Ontology, attribute: Attribute, random: Random) -> Turns:
    if attribute.kind == "advice":
        values = tuple(random.sample(attribute.values, 4))
        return without_labels(listing(ontology, attribute, numbered(values), random))
    value = random.choice(attribute.values) if attribute.values else ""
    statement = random.choice(attribute.says).format(v=value)
    return without_labels(telling(ontology, attribute.topic, statement, random))


def pool_instances(path: Path) -> Iterator[Instance]:
    """The sessions of a file as the haystacks of instances; raises `DatasetError` naming the
    record.
    """
    records = read_records(path)
    first = next(records, None)
    if first is None:
        raise DatasetError(f"{path}: holds no conversations")
    records = chain([first], records)
    if "haystack_sessions" in first:
        yield from iterate_instances(records, source=str(path))
        return
    sessions = [_session(record, f"{path}: record {n}") for n, record in enumerate(records)]
    names = [f"pool_{number}" for number in range(len(sessions))]
    held = {
        "question_id": "pool",
        "question_type": "single-session-user",
        "question": "-",
        "answer": "-",
        "question_date": _SOME_DAY,
        "haystack_session_ids": names,
        "haystack_dates": [_SOME_DAY] * len(names),
        "haystack_sessions": sessions,
        "answer_session_ids": [],
    }
    yield from iterate_instances([held], source=str(path))


def _session(record: dict[str, Any], where: str) -> Turns:
    turns = record.get("conversations") or record.get("messages")
    if turns is None and isinstance(record.get("data"), list):
        roles = ("user", "assistant")
        turns = [{"role": roles[n % 2], "content": text} for n, text in enumerate(record["data"])]
    if not isinstance(turns, list):
        raise DatasetError(f"{where}: none of conversations, messages and data is a list")
    said = [_turn(turn, where) for turn in turns]
    return [turn for turn in said if turn is not None]


def _turn(turn: Any, where: str) -> dict[str, Any] | None:
    """A turn by user or assistant; None for a system's."""
    if not isinstance(turn, dict):
        raise DatasetError(f"{where}: a turn is a {type(turn).__name__}, expected an object")
    role = turn.get("from", turn.get("role"))
    text = turn.get("value", turn.get("content"))
    if not isinstance(text, str):
        raise DatasetError(f"{where}: a turn holds no text")
    if role == "system":
        return None
    if not isinstance(role, str) or role not in _SPEAKERS:
        raise DatasetError(f"{where}: unknown speaker {role!r}")
    return {"role": _SPEAKERS[role], "content": text}
