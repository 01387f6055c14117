"""Where an answer ends because the caller said so: at a text, or after so many tokens.

A model that answers at once is told itself. One that writes notes first is not: a text to stop at
would end it within its notes, and a limit would leave nothing for the answer. The answer's tokens
are counted as four characters each.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from assistant.models.token_counter import CHARACTERS_PER_TOKEN

LIMITS = ("max_completion_tokens", "max_tokens")
"""The options that limit a reply, the newer name first."""
_STOP = "stop"
# What notes may take beside the answer.
_NOTES_TOKENS = 1000


def for_notes(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options without what would end a reply early."""
    return {name: value for name, value in options.items() if name not in (*LIMITS, _STOP)}


def with_notes_before(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a reply that begins with notes: its limit has room for them."""
    limits = [(name, options[name] + _NOTES_TOKENS) for name in LIMITS if options.get(name)]
    return for_notes(options) | dict(limits[:1])


class AnswerEnd:
    """Feed it the answer piece by piece; it gives back what comes before the end."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self.reason: str | None = None
        """`stop` or `length` once the end was reached."""
        given = options.get(_STOP) or ()
        self._stops: Sequence[str] = [given] if isinstance(given, str) else list(given)
        limit = next((options[name] for name in LIMITS if options.get(name)), None)
        self._left = None if limit is None else limit * CHARACTERS_PER_TOKEN
        self._held = ""

    def feed(self, piece: str) -> str:
        """What of the answer is sure to come before its end; nothing after it."""
        if self.reason:
            return ""
        text = self._held + piece
        found = [place for stop in self._stops if (place := text.find(stop)) >= 0]
        sure = min(found) if found else len(text) - self._begun(text)
        self._held = text[sure:]
        shown = self._within_limit(text[:sure])
        if found and not self.reason:
            self.reason = "stop"
        return shown

    def finish(self) -> str:
        """What was held back, when the reply ends without its being the end."""
        held, self._held = self._held, ""
        return "" if self.reason else self._within_limit(held)

    def _begun(self, text: str) -> int:
        """How many of the last characters may begin a text to stop at."""
        lengths = [
            n for stop in self._stops for n in range(1, len(stop)) if text.endswith(stop[:n])
        ]
        return max(lengths, default=0)

    def _within_limit(self, text: str) -> str:
        if self._left is None:
            return text
        if len(text) > self._left:
            self.reason = "length"
            text = text[: self._left]
        self._left -= len(text)
        return text
