"""What is said about what is forgotten, or not kept."""

from collections.abc import Sequence
from datetime import UTC

from assistant.answering.packing import shortened
from memory_store import Record

_QUOTES = 3
_LONGEST_QUOTE = 160

OFFERED = "Say “yes, delete” to forget"
NOT_KEPT = (
    "This message is not stored. To delete something that you said before, say “forget that” or "
    "“delete what I said about” something."
)
NOT_KEPT_LINE = "(Your message and this answer are not stored.)"
NOT_KEPT_MODE = "Not stored: memory is not written for this message."
NOTHING_TOLD = (
    "Nothing of this conversation is stored, so there is nothing to delete. To delete something "
    "older, say what it was about: “delete what I said about” something."
)
NOTHING_WAITS = "Nothing is waiting to be deleted, and nothing was deleted."
EVERYTHING = (
    "To delete everything, use “Forget everything” in the web page, or /forget all in `assistant "
    "chat`. To delete a part, say what it is about: “delete what I said about” something."
)


def nothing_about(topic: str) -> str:
    """No round is about the topic."""
    return f"I found nothing stored about “{topic}”, so there is nothing to delete."


def offer(found: Sequence[Record]) -> str:
    """What would be deleted, and how to do it or to leave it."""
    lines = [f"This would delete {_memories(len(found))}, with the answers:"]
    for record in found[:_QUOTES]:
        said_on = record.round.session_date.astimezone(UTC)
        lines.append(
            f"- On {said_on.day} {said_on:%B %Y} you said: “{_quoted(record.round.user_text)}”"
        )
    if more := len(found) - _QUOTES if len(found) > _QUOTES else 0:
        lines.append(f"- and {more} more")
    return "\n".join([*lines, "", say_what(len(found))])


def say_what(count: int) -> str:
    """How to confirm a request, or to leave it."""
    them = "this memory" if count == 1 else f"these {count} memories"
    return f"{OFFERED} {them}; it cannot be undone. Say anything else, and nothing is deleted."


def gone(count: int, answers: int) -> str:
    """What was deleted."""
    if not count:
        return "There was nothing left to delete: it was deleted before."
    also = f", and {_answers(answers)} that repeated it withdrawn" if answers else ""
    return f"Deleted: {_memories(count)}{also}. This cannot be undone."


def _memories(count: int) -> str:
    return "1 memory" if count == 1 else f"{count} memories"


def _answers(count: int) -> str:
    return "1 answer" if count == 1 else f"{count} answers"


def _quoted(text: str) -> str:
    return shortened(" ".join(text.split()), _LONGEST_QUOTE)
