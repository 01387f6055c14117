"""The common shape of what comes from elsewhere: conversations of messages, read as sessions.

Every format gives conversations. Here the path that the user last saw is taken out of a tree,
messages get their dates, and what is left out is counted by its reason.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from assistant.characters import is_blank, whole_characters, wrong_with_id
from assistant.chat.turns import Role, Turn
from memory_store import as_title

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
        """Its name in the tree."""
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


@dataclass(frozen=True, slots=True)
class ImportedSession:
    """One conversation: the turns that were seen, in order, each with its own time and id.

    Recording them again in the same session changes nothing, because turns are known by their ids.
    """

    session_id: str
    turns: tuple[Turn, ...]
    title: str = ""

    def count_rounds(self) -> int:
        """How many rounds its turns make."""
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
    """Messages of no conversation, in a session of their day."""
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
    """The messages that were seen last; of a tree, the path to the last one."""
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
    # Of leaves said at the same time, the one that stands last.
    places = {name: place for place, name in enumerate(nodes)}
    return max(leaves, key=lambda name: (_said_at(nodes[name]), places[name]), default=None)


def _said_at(message: ImportedMessage) -> float:
    return message.at.timestamp() if message.at else 0.0
