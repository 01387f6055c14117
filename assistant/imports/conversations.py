"""What the formats of exports have in common: fields, read or refused with the reason in words, and
conversations of messages, which become sessions.

Every format gives conversations. Here the path that the user last saw is taken out of a tree,
messages get their dates, and what is left out is counted by its reason.
"""

import hashlib
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from assistant.characters import is_blank, whole_characters, wrong_with_id
from assistant.chat.turns import Role, Turn
from memory_store import as_title

# As seconds this is in the year 5138, so larger numbers are milliseconds.
_MOST_SECONDS = 10**11
_ZONE = re.compile(r"\s*(?:(?:UTC|GMT)$|(?:UTC|GMT)?(?=[+-]\d))", re.IGNORECASE)
_SHOWN = 60


def mapping(value: Any) -> Mapping[str, Any]:
    """The value as an object; an empty one where it is something else."""
    return value if isinstance(value, Mapping) else {}


def objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """The objects of a list; none where it is no list."""
    if isinstance(value, list):
        yield from (one for one in value if isinstance(one, Mapping))


def text_of(item: Mapping[str, Any], *names: str) -> str:
    """The first of these fields that is text and not blank; empty where none is."""
    for name in names:
        value = item.get(name)
        if isinstance(value, str) and value.strip():
            return whole_characters(value)
    return ""


def parts_text(content: Any, kinds: tuple[str, ...] = ("text",)) -> str:
    """The text of content as clients of language models write it: a text, or a list of parts, of
    which those of these kinds are read."""
    if isinstance(content, str):
        return whole_characters(content)
    found = [
        text_of(mapping(part.get("text")) or part, "text", "value")
        for part in objects(content)
        if part.get("type", "text") in kinds
    ]
    return "\n".join(filter(None, found))


def moment(value: Any) -> datetime | None:
    """The time that a value tells: seconds or milliseconds since 1970, or ISO 8601, in UTC where no
    zone is given. None where nothing is given. Raises `ValueError`."""
    if value is None or value == "":
        return None
    try:
        if isinstance(value, str) and len(value) <= _SHOWN:
            at = datetime.fromisoformat(_with_zone(value.strip()))
            return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
            seconds = value / 1000 if abs(value) > _MOST_SECONDS else value
            return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    raise ValueError(f"the date {str(value)[:_SHOWN]!r} cannot be read")


def _with_zone(text: str) -> str:
    """The text in ISO 8601, also where its zone stands apart from the time or is named UTC."""
    found = _ZONE.search(text)
    if found is None:
        return text
    rest = text[found.end() :]
    # A sign within the date is no zone.
    if not rest:
        return f"{text[: found.start()]}+00:00"
    return f"{text[: found.start()]}{rest}" if ":" in text[: found.start()] else text


def first_moment(item: Mapping[str, Any], *names: str) -> datetime | None:
    """The first of these dates that is given. Raises `ValueError`."""
    return next((at for name in names if (at := moment(item.get(name)))), None)


def digest(*texts: str) -> str:
    """An id, made from texts, for an entry that has none of its own."""
    return hashlib.sha256("\x1f".join(texts).encode()).hexdigest()[:20]


def keys_of(item: Any) -> str:
    """The keys of an item, to recognise it by."""
    if not isinstance(item, Mapping):
        return f"it is no object but {type(item).__name__}"
    return "it has " + (", ".join(sorted(str(key)[:_SHOWN] for key in item)[:8]) or "no fields")


BRANCHES = "messages of abandoned branches (edited or regenerated)"
EMPTY = "conversations without messages"
HIDDEN = "hidden messages"
THOUGHTS = "thoughts and tool calls"
TOOLS = "messages of systems and tools"
WITHOUT_TEXT = "messages without text (pictures, files, or empty)"
_CIRCLE = "its messages go round in a circle"
_LONGEST_ID = 256


@dataclass(frozen=True, slots=True)
class ImportedMessage:
    """One message of an export. `left_out` says why it is not kept; without a role and a reason
    it only joins others in a tree."""

    role: Role | None
    text: str = ""
    at: datetime | None = None
    id: str | None = None
    parent: str | None = None
    left_out: str = ""
    name: str | None = None
    node: str | None = None
    """Its name in the tree, where that is not its id."""

    @property
    def place(self) -> str | None:
        return self.node or self.id

    @property
    def is_kept(self) -> bool:
        """Whether it is something that user or assistant said."""
        return self.role is not None and not self.left_out and not is_blank(self.text)


@dataclass(frozen=True, slots=True)
class ImportedConversation:
    """What a format reads: messages in order, or a tree of them of which `last` was seen last.

    Conversations of one `session_id` make one session, by date. `began` dates messages before the
    first dated one; `owner` is whose it is, where the export says so.
    """

    session_id: str
    messages: Sequence[ImportedMessage]
    title: str = ""
    began: datetime | None = None
    is_tree: bool = False
    last: str | None = None
    owner: str = ""


class ExportFormat(NamedTuple):
    """A format of exports: its name, whether an entry `fits` it, and how to `read` an entry's
    conversations, which may raise `ValueError`."""

    name: str
    fits: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Mapping[str, Any]], Iterator[ImportedConversation]]


@dataclass(frozen=True, slots=True)
class ImportedSession:
    """One conversation: the turns that were seen, in order, each with its own time and id.

    Recording them again in the same session changes nothing, because turns are known by their ids.
    """

    session_id: str
    turns: tuple[Turn, ...]
    title: str = ""

    def count_rounds(self) -> int:
        led_by_assistant = bool(self.turns) and self.turns[0].role is Role.ASSISTANT
        return sum(turn.role is Role.USER for turn in self.turns) + led_by_assistant


def session_of(conversation: ImportedConversation, left_out: Counter[str]) -> ImportedSession:
    """A conversation as a session; `left_out` counts what is not kept. Raises `ValueError`."""
    if wrong := wrong_with_id(conversation.session_id):
        raise ValueError(f"its id {wrong}")
    missed: Counter[str] = Counter()
    turns = tuple(_turns(conversation, missed))
    if not turns and not missed:
        missed[EMPTY] += 1
    left_out += missed
    title = as_title(whole_characters(conversation.title))
    return ImportedSession(conversation.session_id, turns, title)


def daily(
    source: str,
    day: datetime | None,
    messages: Sequence[ImportedMessage],
    owner: str = "",
    said: str = "Memories",
) -> ImportedConversation:
    """A conversation of messages that belong to none; those of one day make one session."""
    if day is None:
        raise ValueError("it has no date")
    session_id = f"{source.lower().replace(' ', '-')}-{day:%Y-%m-%d}"
    return ImportedConversation(
        session_id, messages, f"{said} from {source}", began=day, owner=owner
    )


def _turns(conversation: ImportedConversation, left_out: Counter[str]) -> Iterator[Turn]:
    at = conversation.began
    for message in _seen(conversation, left_out):
        at = message.at or at
        if not message.is_kept or message.role is None:
            if reason := message.left_out or (message.role and WITHOUT_TEXT):
                left_out[reason] += 1
            continue
        if at is None:
            raise ValueError("it has no date")
        id = message.id[:_LONGEST_ID] if message.id else None
        yield Turn(message.role, message.text, at, name=message.name, caller_id=id)


def _seen(conversation: ImportedConversation, left_out: Counter[str]) -> Sequence[ImportedMessage]:
    """The messages as they were seen last: of a tree, the path that leads to the last one."""
    if not conversation.is_tree:
        return conversation.messages
    nodes = {one.place: one for one in conversation.messages if one.place is not None}
    path: dict[str, ImportedMessage] = {}
    name = conversation.last if conversation.last in nodes else _newest_leaf(nodes)
    while name is not None and name in nodes:
        if name in path:
            raise ValueError(_CIRCLE)
        path[name] = nodes[name]
        name = nodes[name].parent
    abandoned = sum(one.is_kept for place, one in nodes.items() if place not in path)
    if abandoned:
        left_out[BRANCHES] += abandoned
    return list(path.values())[::-1]


def _newest_leaf(nodes: dict[str, ImportedMessage]) -> str | None:
    parents = {one.parent for one in nodes.values()}
    leaves = [name for name in nodes if name not in parents]
    if nodes and not leaves:
        raise ValueError(_CIRCLE)
    # Among leaves said at the same time the last one in the file counts.
    places = {name: place for place, name in enumerate(nodes)}
    said_at = {name: at.timestamp() if (at := nodes[name].at) else 0.0 for name in leaves}
    return max(leaves, key=lambda name: (said_at[name], places[name]), default=None)
